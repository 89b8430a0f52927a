import { defineConfig } from "vitest/config"

const onNode = !("Deno" in globalThis || "Bun" in globalThis)

/**
 * One suite for Node, Deno and Bun. The name of a file says where it does not run:
 *
 * - `X.node.test.ts`: on Node only, since it starts tools or processes whose runtime is its own business, or counts what no
 *   runtime changes for too long to do it three times;
 * - `X.slow.test.ts`: not in `npm run test:quick`;
 * - `X.slow.node.test.ts`: both.
 */
export default defineConfig({
  resolve: { conditions: ["holdfast-source"] },
  ssr: { resolve: { conditions: ["holdfast-source"], externalConditions: ["holdfast-source"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["**/node_modules/**", ...(onNode ? [] : ["**/*.node.test.ts"])],
    pool: "forks", // threads end with ERR_NOT_IMPLEMENTED on Deno
    testTimeout: 60_000,
  },
})
