/**
 * The operator's listener: `/` a live page, `/snapshot` JSON, `/metrics` Prometheus text. It owns nothing and changes
 * nothing.
 *
 * Who holds and who waits is shown by name here, so it listens on a loopback address unless it is told otherwise, and
 * answers only to names that such an address has: a page of another site cannot read it through a name of its own.
 */
import * as Effect from "effect/Effect"
import type { Handler, Info } from "./Handler.ts"
import * as Metrics from "./Metrics.ts"
import { page } from "./OperatorPage.ts"
import { type Parts, take } from "./Overview.ts"

/** Never rejects. `/metrics?labels=tenant` adds tenants; the configuration can make that the rule. */
export const make = (parts: Parts): Handler => (request, info) =>
  Effect.runPromise(Effect.catchCause(answer(parts, request, info), () => Effect.succeed(text(500, "failed\n"))))

const answer = (parts: Parts, request: Request, info: Info): Effect.Effect<Response> => {
  if (request.method !== "GET" && request.method !== "HEAD") return Effect.succeed(text(405, "GET and HEAD alone\n"))
  const host = info.fields.find(([name]) => name.toLowerCase() === "host")?.[1] ?? ""
  if (!isOurs(host, parts.config.operator.host)) return Effect.succeed(text(421, "not a name of this listener\n"))
  const [path, query = ""] = info.target.split("?", 2)
  const labelled = parts.config.operator.tenantLabels || new URLSearchParams(query).get("labels") === "tenant"
  switch (path) {
    case "/":
      return Effect.succeed(text(200, page, "text/html; charset=utf-8"))
    case "/snapshot":
      return Effect.map(take(parts), (all) => text(200, `${JSON.stringify(all)}\n`, "application/json"))
    case "/metrics":
      return Effect.map(take(parts), (all) => text(200, Metrics.render(all, labelled), Metrics.contentType))
    default:
      return Effect.succeed(text(404, "there are /, /snapshot and /metrics\n"))
  }
}

const isOurs = (host: string, configured: string): boolean => {
  const name = host.replace(/:\d+$/, "").toLowerCase()
  return name === "localhost" || name === configured.toLowerCase() || /^\d+(\.\d+){3}$/.test(name) ||
    name.startsWith("[")
}

const text = (status: number, body: string, type = "text/plain; charset=utf-8"): Response =>
  new Response(body, {
    status,
    headers: {
      "content-type": type,
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'",
    },
  })
