import { globSync, readFileSync } from "node:fs"
import { defineConfig, mergeConfig } from "vitest/config"

const root = import.meta.dirname
const onNode = !("Deno" in globalThis || "Bun" in globalThis)

/**
 * One suite for Node, Deno and Bun. The name of a file says where it does not run:
 *
 * - `X.node.test.ts`: on Node only, since it starts tools or processes whose runtime is its own business, or counts what no
 *   runtime changes for too long to do it three times;
 * - `X.slow.test.ts`: not in `npm run test:quick`;
 * - `X.slow.node.test.ts`: both.
 */
export const suite = defineConfig({
  root,
  resolve: { conditions: ["holdfast-source"] },
  ssr: { resolve: { conditions: ["holdfast-source"], externalConditions: ["holdfast-source"] } },
  test: {
    exclude: ["**/node_modules/**", ...(onNode ? [] : ["**/*.node.test.ts"])],
    pool: "forks", // threads end with ERR_NOT_IMPLEMENTED on Deno
    testTimeout: 120_000, // none takes a tenth of it, unless the machine is busy
    hookTimeout: 120_000,
  },
})

/** What there is one of in a process, or what uses it: modules of the platform, timers, globals, the collector. */
const ofTheProcess =
  /\bnode:(?!buffer|fs|url|util)|\b(globalThis|performance|process|prototype|set(Immediate|Interval|Timeout)|spyOn)\b|\/(Garbage|Opossum|PeerTime|Steps|Wire)\.ts"/

const slow = "test/**/*.slow.*test.ts"

/** The files whose tests touch only what they make. */
const pure = globSync("test/{core,hazard,http,kernel,model,testing,types}/*.test.ts", { cwd: root, exclude: [slow] })
  .filter((file) => !ofTheProcess.test(readFileSync(`${root}/${file}`, "utf8")))

/**
 * A file that is slow or touches its process has one to itself. The others, most of them, take turns in one a core: a
 * process needs longer to start and to load what they test than they do.
 */
export default mergeConfig(suite, {
  test: {
    projects: [
      { extends: true, test: { name: "slow", include: [slow] } },
      { extends: true, test: { name: "alone", include: ["test/**/*.test.ts"], exclude: [slow, ...pure] } },
      { extends: true, test: { name: "together", include: pure, isolate: false } },
    ],
  },
})
