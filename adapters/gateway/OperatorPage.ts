/** The operator's page: it asks `/snapshot` once a second and writes text alone, never markup, from it. It owns nothing. */
export const page: string = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>holdfast</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem; color-scheme: light dark }
table { border-collapse: collapse; margin: 0 0 1.5rem }
th, td { text-align: left; padding: .15rem 1.25rem .15rem 0; font-variant-numeric: tabular-nums }
th { font-weight: 600; border-bottom: 1px solid }
h2 { font-size: 1rem; margin: 1.5rem 0 .25rem }
#state { opacity: .7 }
</style>
<h1>holdfast</h1>
<p id="state">asking …</p>
<h2>Caps</h2><table id="caps"></table>
<h2>Providers</h2><table id="gates"></table>
<h2>Circuits</h2><table id="changes"></table>
<h2>Classes</h2><table id="classes"></table>
<h2>Holders and waiters</h2><table id="holders"></table>
<h2>Requests</h2><table id="requests"></table>
<script>
const fill = (id, head, rows) => {
  const row = (cells, kind) => {
    const line = document.createElement("tr")
    for (const cell of cells) line.appendChild(document.createElement(kind)).textContent = cell ?? "–"
    return line
  }
  document.getElementById(id).replaceChildren(row(head, "th"), ...rows.map((cells) => row(cells, "td")))
}
const show = (all) => {
  const now = all.admission
  document.getElementById("state").textContent = now.state + " · " + now.running + " units held, " + now.waiting +
    " waiting, " + now.free + " free · " + all.upstream.open + " connections to providers · " +
    new Date().toLocaleTimeString()
  fill("caps", ["limit", "value"], Object.entries(now.limits))
  fill("classes", ["class", "units held", "waiting"],
    Object.entries(now.classes).map(([name, one]) => [name, one.running, one.waiting]))
  fill("gates", ["provider", "circuit", "tries again in ms", "failures in a row", "places held", "of", "refused"],
    all.gates.map((one) => [one.provider, one.circuit, one.circuit === "open" ? one.retryAfterMillis : "–",
      one.consecutiveFailures, one.held, one.concurrency,
      one.refusedOpen + Object.values(one.saturated).reduce((sum, count) => sum + count, 0)]))
  fill("changes", ["time", "provider", "circuit"], all.changes.slice(-20).reverse().map((one) =>
    [new Date(one.atMillis).toLocaleTimeString(), one.provider, one.event]))
  fill("holders", ["tenant", "provider", "state", "class", "cost", "for ms"],
    all.holders.map((one) => [one.tenant, one.provider, one.state, one.priority, one.cost, one.ageMillis]))
  fill("requests", ["tenant", "provider", "outcome", "requests"],
    all.requests.map((one) => [one.tenant, one.provider, one.outcome, one.requests]))
}
const ask = async () => {
  try {
    show(await (await fetch("/snapshot")).json())
  } catch {
    document.getElementById("state").textContent = "the gateway does not answer"
  }
  setTimeout(ask, 1000)
}
ask()
</script>
</html>
`
