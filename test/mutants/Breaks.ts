/**
 * Small deliberate breaks of the code, each with what it would do to a user and the test that must notice it. They are kept
 * as edits: a text that a file has exactly once, and what stands there instead.
 */

/** One break. `test` is the title of one test of `testFile`, without the suites around it. */
export interface Break {
  readonly file: string
  readonly find: string
  readonly replace: string
  /** What it would mean. */
  readonly why: string
  readonly testFile: string
  readonly test: string
}

const inFile = (
  file: string,
  testFile: string,
  ...rows: readonly (readonly [find: string, replace: string, why: string, test: string])[]
): readonly Break[] => rows.map(([find, replace, why, test]) => ({ file, testFile, find, replace, why, test }))

export const breaks: readonly Break[] = [
  // --- the kernel
  ...inFile(
    "core/kernel/Ledger.ts",
    "test/kernel/Ledger.test.ts",
    [
      "if (account.cap.limit - account.used < units) return account",
      "if (account.cap.limit - account.used <= units) return account",
      "a cap is one unit smaller than it says",
      "K-1 K-2 AD-1 AD-2 AD-3 AD-17: charges all accounts of a lease or none, and its sums are those of the live leases",
    ],
    [
      "total.add(arrival, -units)",
      "total.add(arrival, units)",
      "what is given back is charged once more",
      "K-1 K-2 AD-1 AD-2 AD-3 AD-17: charges all accounts of a lease or none, and its sums are those of the live leases",
    ],
    [
      "for (let k = 1; k <= arrival; k++) {",
      "for (let k = 1; k < arrival; k++) {",
      "a class uses what is reserved for the one above it",
      "AD-17: an unused reserve is lent to no lower class, and higher ones use it",
    ],
  ),
  ...inFile(
    "core/kernel/LeaseState.ts",
    "test/kernel/LeaseState.test.ts",
    [
      `  /* Released    */ misuse,
  misuse,
  misuse,
  misuse,`,
      `  /* Released    */ misuse,
  misuse,
  misuse,
  Released,`,
      "a lease is given back twice",
      "AD-4 K-3: no path of at most seven events charges an ask twice or gives its units back twice",
    ],
  ),
  ...inFile("core/kernel/Delivery.ts", "test/kernel/Delivery.test.ts", [
    "this.#items = this.#items.slice(this.#from)",
    "this.#items = this.#items.slice(this.#from + 1)",
    "of a long burst one waiter is never told",
    "K-5: hands every answer over once, first in, first out, over any bursts and any batches",
  ]),
  ...inFile("core/kernel/Epoch.ts", "test/kernel/Epoch.test.ts", [
    "if (epoch.retired || epoch.current !== expected || expected",
    "if (epoch.retired || expected",
    "whoever knows an old version replaces the current one",
    "K-9: gives numbers that never repeat and never fall, to those alone who knew the current one",
  ]),
  ...inFile("core/kernel/DeadlineOrder.ts", "test/kernel/DeadlineOrder.test.ts", [
    "if (item === undefined || item.dueNanos > now) return undefined",
    "if (item === undefined || item.dueNanos >= now) return undefined",
    "a wait ends a tick after its deadline",
    "AD-20 AD-21: gives out whoever is due first, at its instant and not before, over any additions and removals",
  ], [
    `    this.#up(last)
    this.#down(last)`,
    "    this.#down(last)",
    "the order of deadlines is lost when one leaves from the middle",
    "AD-20: keeps its order where one is taken from the middle, and the last that fills its place is due early",
  ]),
  ...inFile("core/kernel/FitQueue.ts", "test/kernel/FitQueue.test.ts", [
    "ticket = Math.min(ticket, this.#ticketAt(node ^ 1))",
    "ticket = this.#ticketAt(node)",
    "one that fits waits behind one that does not",
    "AD-13 AD-14: answers like a search through all: the lowest ticket of those that need no more than is there",
  ]),
  ...inFile("core/kernel/Keys.ts", "test/kernel/Keys.test.ts", [
    "if (oldest.uses > 0) this.#resting.remove(oldest)\n      else this.#forget(oldest)",
    "this.#forget(oldest)",
    "the record of a tenant that holds something is dropped, and it gets its cap twice",
    "AD-32: those in use are never dropped, and leave less room for idle ones",
  ], [
    "while (this.#records > idleKept) {",
    "while (this.#records < 0) {",
    "each tenant that ever came is kept for ever",
    "AD-32: a hundred thousand tenants one after another leave 1,024 records, the newest",
  ]),
  ...inFile("core/kernel/Pace.ts", "test/kernel/Pace.test.ts", [
    "this.#lastNanos = waiting ? now : NaN",
    "this.#lastNanos = now",
    "an idle hour makes every estimate too long",
    "AD-25: is the moving mean of the gaps that begin and end with somebody in the line, unknown before 32 of them",
  ]),
  ...inFile("core/kernel/Rotation.ts", "test/kernel/Rotation.test.ts", [
    "owner.credit = Math.min(0, owner.credit)",
    "owner.credit = 0",
    "a tenant leaves the line to get rid of what it owes",
    "AD-12: a tenant that leaves its ring keeps what it owes and loses what it had left",
  ], [
    "turn.credit += this.quantum * turn.tenant.weight / this.leastWeight",
    "turn.credit += this.quantum",
    "weights mean nothing",
    "AD-9: serves units per weight that differ by no more than C (1 + 1/w1 + 1/w2) over any interval",
  ]),
  ...inFile("core/kernel/Parking.ts", "test/model/fairnessBypass.node.test.ts", [
    "if (bypassed + group.need <= this.maxBypass && (!borrows",
    "if ((!borrows",
    "small asks pass a large one for ever",
    "AD-14: past one that is short of its provider go exactly maxBypass units of that provider",
  ]),
  ...inFile("core/kernel/Parking.ts", "test/core/admissionLine.test.ts", [
    "group.ticket = ++this.#tickets",
    "group.ticket = --this.#tickets",
    "of two that are parked the later one is woken first",
    "AD-13 AD-6: is woken by its account, in the order of parking, until that is short again",
  ]),
  ...inFile("core/kernel/Holds.ts", "test/model/line.test.ts", [
    "if (guarded && accounts.indexOf(account) < end) hold(group, account, true)\n    else open(account)",
    "open(account)",
    "one that is short of two accounts in turn waits without end",
    "AD-14: an ask that is short of two accounts in turn is granted in bounded time",
  ]),
  ...inFile("core/kernel/Places.ts", "test/model/fairnessClasses.node.test.ts", [
    "group.dueNanos = head.sinceNanos + (head.dueNanos - head.sinceNanos) / 2",
    "group.dueNanos = head.dueNanos",
    "normal work starves under a flood of control",
    "AD-16: under a steady flood of control each normal ask is served, when half of its time is over",
  ]),
  ...inFile("core/kernel/Line.ts", "test/core/admissionLine.test.ts", [
    "if (this.waiting > 0 || Ledger.reserve(",
    "if (Ledger.reserve(",
    "a newcomer overtakes those who wait",
    "AD-7: a newcomer does not take what a large ask in front of it is short of, nor does tryEnter",
  ], [
    "if (this.waiting + coming > maxQueued) return",
    "if (this.waiting > maxQueued) return",
    "the line is longer than it may be",
    "AD-19 K-7: of 0 is no line: nobody ever waits",
  ]),
  ...inFile("core/kernel/Line.ts", "test/core/admissionPermits.test.ts", [
    "if (state === LeaseState.Granted) this.#refund(ask, now)\n    else ",
    "if (state !== LeaseState.Granted) ",
    "a permit is lost with a grantee that is interrupted before it runs",
    "AD-5 AD-34 K-6: that was granted to a fiber which is interrupted before it runs goes to the next",
  ]),
  ...inFile("core/kernel/Circuit.ts", "test/kernel/Circuit.test.ts", [
    "return this.rules.applyStale || this.isCurrent(pass)",
    "return true",
    "a call from before the outage closes the circuit",
    "PG-18 PG-34: outcomes of an older generation change nothing, in any state",
  ], [
    "elapsed(this.probedNanos, now) < this.#leaseNanos",
    "true",
    "a probe that hangs keeps the circuit shut for ever",
    "PG-6 PG-54: half-open lets nobody else by, until the very nanosecond at which its probe is lost",
  ], [
    "const elapsed = (from: number, to: number): number => Math.max(0, to - from)",
    "const elapsed = (from: number, to: number): number => to - from",
    "a clock that steps back makes the opening longer",
    "PG-20 PG-36: opens no door early, and nobody is told of more than the whole opening",
  ]),
  ...inFile("core/kernel/Gate.ts", "test/kernel/Gate.test.ts", [
    "this.circuit.release(entry.pass)\n        return undefined",
    "return undefined",
    "a probe that judges nobody leaves the circuit half-open",
    "PG-14 PG-7: is no probe where a place is missing: the mark is still there for the next",
  ], [
    "if (!entry.held) return false\n    entry.held = false",
    "entry.held = false",
    "a place is given back twice",
    "PG-1 PG-2 PG-3 PG-15: charges each of its places once and gives each back once",
  ]),

  // --- what stands on it
  ...inFile("core/Admission.ts", "test/core/admissionPermits.test.ts", [
    "if (!turnstile.giveBack(own.ask)) return Effect.fail(new Lease.LeaseSpent())",
    "turnstile.giveBack(own.ask)",
    "nobody sees that a permit is released twice",
    "AD-4 K-3: that was released is spent; releasing it again moves nothing, nor does its scope",
  ], [
    "      Lease.forget(own.scope)\n      return Effect.void\n    }),\n  snapshot",
    "      return Effect.void\n    }),\n  snapshot",
    "a scope that lives long keeps every permit that was released in it",
    "AD-4: that was released leaves nothing in a scope that lives on",
  ], [
    'if (scope.state._tag === "Closed") return Effect.void',
    "",
    "units that are withheld into a closed scope never come back",
    "AD-4 AD-28: entered or withheld into a scope that has closed leaves nothing taken",
  ]),
  ...inFile("core/Turnstile.ts", "test/core/admissionTime.test.ts", [
    "this.#alarm.set(Math.min(this.#line.nextDue, this.#drains.nextDue))",
    "this.#alarm.set(Math.max(this.#line.nextDue, this.#drains.nextDue))",
    "waits do not end in time",
    "AD-24: is one for all who wait, and is gone when the line is empty",
  ]),
  ...inFile("core/Turnstile.ts", "test/core/admissionLine.test.ts", [
    "ticket.dueNanos = Math.min(due, patience)",
    "ticket.dueNanos = patience",
    "the deadline of the caller is not kept while it waits",
    "AD-20 AD-23: that is over says how long it was, by which bound, and what was short",
  ]),
  ...inFile("core/Turnstile.ts", "test/core/admissionDrain.test.ts", [
    'if (this.#state !== "open") return\n    this.#state = "draining"',
    'if (this.#state !== "open") return',
    "whoever comes during a drain is let in",
    "AD-29: refuses whoever comes while it goes on, and serves those who wait",
  ]),
  ...inFile("core/Drains.ts", "test/core/admissionDrain.test.ts", [
    "clean: held === 0,",
    "clean: true,",
    "a shutdown that leaves work behind says that it was clean",
    "AD-29 AD-30: at its deadline answers those who wait, and names who holds what",
  ]),
  ...inFile("core/Lease.ts", "test/core/lease.test.ts", [
    "    leave()\n    return noScope()",
    "    return noScope()",
    "a place that is asked for without a scope is lost",
    "PG-12 PG-15: asked for without a scope, against the types, is a defect that keeps nothing",
  ]),
  ...inFile("core/Lease.ts", "test/core/providerGate.test.ts", [
    'if (scope.state._tag === "Closed") leave()\n',
    'if (scope.state._tag === "Closed") return Effect.succeed(answer(scope))\n',
    "a place that is taken in a scope that is closed is kept for ever",
    "PG-12 PG-15: meant for a scope that is closed gives its place back at once",
  ]),
  ...inFile("core/Lease.ts", "test/core/admissionPermits.test.ts", [
    'exit._tag === "Failure" || scope.state._tag === "Closed"',
    'exit._tag === "Failure"',
    "a permit that is entered into a closed scope is lost",
    "AD-4 AD-28: entered or withheld into a scope that has closed leaves nothing taken",
  ]),
  ...inFile("core/Transition.ts", "test/core/transition.test.ts", [
    "if (this.#running || this.#delivery.size === 0",
    "if (this.#delivery.size === 0",
    "answers are told inside the telling of another, without bound and out of order",
    "AD-34: bounds a turn though each answer adds another",
  ], [
    "for (let left = this.#batch; left > 0; left--) {",
    "for (let left = Infinity; left > 0; left--) {",
    "a burst of answers starves every socket and timer",
    "AD-34 K-16: tells one batch at once and the rest batch by batch, in order",
  ]),
  ...inFile("core/Alarm.ts", "test/core/alarm.test.ts", [
    "if (nowNanos(this.#clock) >= due) return this.#ring()",
    "return this.#ring()",
    "a runtime that wakes a millisecond early ends waits before their time",
    "AD-24: does not ring where the runtime woke it early, and sleeps on",
  ]),
  ...inFile("core/Deadline.ts", "test/core/deadline.test.ts", [
    "return isEarlier ? that : self",
    "return isEarlier ? self : that",
    "a deadline inside another makes it later",
    "K-8: is never later than either, on whatever clocks",
  ], [
    "self.clock === clock ? instant(self) : now + remainingNanos(self)",
    "self.atNanos",
    "an instant of one clock is read on another",
    "is the same instant as told by what is left",
  ]),
  ...inFile("core/Outcome.ts", "test/core/outcome.test.ts", [
    'if (Cause.hasDies(cause)) return "Died"',
    "",
    "a defect counts as a failure of the provider",
    "a failure and a defect",
  ]),
  ...inFile("core/Backoff.ts", "test/core/backoff.test.ts", [
    "Number(whole % BigInt(Math.max(quarter, 1))), maxMillis))",
    "Number(whole % BigInt(Math.max(quarter, 1))), Infinity))",
    "a caller waits for longer than it was told to at most",
    "PG-37 PG-38: lies between its base and a quarter more, and never above the cap",
  ]),
  ...inFile("core/Limits.ts", "test/core/admissionInput.test.ts", [
    "if (point >= 0xd800 && point < 0xe000) return false",
    "",
    "two tenants whose keys are written alike are told apart here and nowhere else",
    "AD-38: has a tenant and a provider of 1 to 256 bytes without control characters, or is refused",
  ]),
  ...inFile("core/GateCalls.ts", "test/core/providerGateRun.test.ts", [
    "call.timedOut = true",
    "",
    "work that ran out of time is told as interrupted, and judged twice",
    "PG-22 PG-45: interrupts work that takes longer, and the failure is counted",
  ], [
    "dueNanos: number\n  dueIndex: number = absent",
    "dueNanos: number\n  dueIndex: number = 0",
    "a call that ends at once is taken out of an order that it is not in",
    "PG-24: work that fails is run once",
  ]),
  ...inFile("core/GateVerdict.ts", "test/core/circuitBreaker.test.ts", [
    'if (judge === undefined) return Exit.succeed("failure")',
    'if (judge === undefined) return Exit.succeed("neutral")',
    "failures of the work open no circuit",
    "PG-5 PG-8 PG-10 PG-30: opens by failures in a row, and closes by one probe",
  ]),
  ...inFile("core/ProviderGate.ts", "test/core/providerGate.test.ts", [
    "return own.#owner === owner ? { entry: own.#entry, scope: own.#scope } : undefined",
    "return { entry: own.#entry, scope: own.#scope }",
    "one gate settles the permits of another",
    "PG-17: of another gate, or none at all, is misuse and neither gate changes",
  ]),
  ...inFile("core/CircuitBreaker.ts", "test/core/circuitBreaker.test.ts", [
    "    if (pass === undefined) return false\n    held.pass = undefined",
    "    if (pass === undefined) return false",
    "a pass is settled as often as one likes",
    "PG-15 PG-16 PG-17: a pass is settled once, and by the breaker that gave it",
  ]),
  ...inFile("core/Wicket.ts", "test/core/gateLine.test.ts", [
    "(this.line?.isWaiting === true ? queued : undefined)",
    "undefined",
    "the gate's own callers overtake those in its line",
    "PG-46 PG-7: while somebody waits the gate itself lets nobody by",
  ]),
  ...inFile("core/GateLine.ts", "test/core/gateLine.test.ts", [
    "const shut = this.#wicket.peek(now)\n        if (shut === undefined) {",
    "const shut = this.#wicket.peek(now)\n        if (true) {",
    "who was granted before the circuit opened is let by after it",
    "PG-46: between a grant and its hearing gives the place back, and says so to the caller",
  ]),
  ...inFile("core/ProviderGates.ts", "test/core/providerGates.test.ts", [
    "    const known = this.#used(key)\n    if (known !== undefined) return Effect.succeed(known)\n    if (this.gates.size",
    "    if (this.gates.size",
    "two that ask at once get two gates for one provider, and twice its places",
    "PG-48: two that ask at once for a new key get one gate",
  ], [
    "if (!wicket.isSpare) continue",
    "",
    "the gate of a provider that is down gives way, and its outage is forgotten",
    "PG-48: one more than the ceiling is refused while all are open or in use",
  ]),

  // --- the codecs
  ...inFile("core/http/Http1Framing.ts", "test/http/response.test.ts", [
    'if (codings > 0) return "two-framings"',
    "",
    "two readers of one response take its end in two places: a smuggled response",
    "a length and a coding: two-framings head 66",
  ], [
    'if (lengths > 1 || !isLength(length)) return "content-length"',
    'if (!isLength(length)) return "content-length"',
    "of two lengths the last one counts, for another reader the first",
    "two lengths: content-length head 57",
  ], [
    '!options.includes("close") && (version',
    "(version",
    "a connection is used again that its peer is closing",
    "in HTTP/1.1 unless somebody says close, in HTTP/1.0 where the peer says keep-alive",
  ]),
  ...inFile("core/http/Http1Chunks.ts", "test/http/response.test.ts", [
    'if (this.#line !== "\\r\\n") return this.#fault("chunk-end")',
    "",
    "what follows a chunk is taken for the next one wherever it ends",
    "a chunk that is longer than its size: chunk-end body 8",
  ]),
  ...inFile("core/http/HttpRules.ts", "test/http/request.test.ts", [
    "if (target.outside.test(path)) return",
    "if (false) return",
    "a path writes header lines, or a request of its own",
    "a line end in the path: path",
  ]),
  ...inFile("core/http/HttpGiven.ts", "test/http/readOnce.test.ts", [
    "for (let i = 0; i < length; i++) {",
    "for (let i = 0; i < list.length; i++) {",
    "a list of fields that grows while it is read is read on, for ever if it grows as fast",
    "reads each field once, and the list of them",
  ], [
    "const length = count.get!.call(given)",
    "const { length } = given as Uint8Array",
    "a body is as long as it says of itself, and what is announced is not what goes out",
    "takes bytes for what they are, and not for what they say of themselves",
  ]),
  ...inFile("core/http/Http1Fields.ts", "test/http/request.test.ts", [
    'return "left out"',
    "return undefined",
    "a caller's field says that a body is framed in another way than it is",
    "a coding: transfer-encoding",
  ]),
  ...inFile("core/http/HpackDecoder.ts", "test/http/hpack.test.ts", [
    "if (length > this.#to - from) {",
    "if (false) {",
    "a field reads on into what is behind its block",
    "that ends in a value: hpack-cut",
  ]),
  ...inFile("core/http/Http2Window.ts", "test/http/http2Flow.test.ts", [
    "return this.#left >= 0",
    "return true",
    "a peer sends without limit, and all of it is kept",
    "one that is not read takes no more than its window, nor all together more than the connection's",
  ]),
  ...inFile("core/http/Http2Uploads.ts", "test/http/http2Flow.test.ts", [
    "Math.max(0, Math.min(most, left - stream.kept))",
    "Math.min(most, left - stream.kept)",
    "settings that shrink a window make what is kept negative, and a held body makes the codec turn for ever",
    "a window that settings make smaller than what was kept for its upload gives nothing of others' away",
  ]),
  ...inFile("core/http/Http2Connection.ts", "test/http/http2Flow.test.ts", [
    'if (how === "cut") this.#unsay(exchange)',
    "",
    "an exchange that was cancelled is told of all the same",
    "nothing is told of what its owner has gone on with since",
  ]),
  ...inFile("core/http/Http2Quota.ts", "test/http/http2Limits.test.ts", [
    "return ++this.#answers > this.#max || this.isOver()",
    "return this.isOver()",
    "a peer that takes no answers makes them pile up",
    "a flood of answers that nobody takes, though bodies pay for the frames",
  ]),
  ...inFile("core/http/Http1Connection.ts", "test/http/alike.test.ts", [
    "if (course !== undefined) return course.isOut",
    "if (course !== undefined) return course.isSent",
    "an upload counts as sent though nobody took its end",
    "what was given is sent when it was taken: an upload's end",
  ], [
    "if (output[i]!.length === 0) return this.#lose()",
    "if (false) return this.#lose()",
    "what is written next is read as the bytes of a body that were transferred",
    "bytes that are transferred before they were taken never come out as others: part of an upload",
  ]),
  ...inFile("core/http/Http1Connection.ts", "test/http/connection.test.ts", [
    'else if (course?.closes === true) this.#tell(events, "announced")',
    'else if (course?.closes === true) this.#retire(events, "announced")',
    "an upload is cut by an early answer of a peer that may want the rest of it",
    "goes on behind its response, where the peer did not say that it closes, and is whole",
  ]),
  ...inFile("core/http/Http2Uploads.ts", "test/http/alike.test.ts", [
    "this.#untaken.set(stream.id, stream)",
    "",
    "a body counts as sent though nobody took its end",
    "what was given is sent when it was taken: an upload's end",
  ]),
  ...inFile("core/http/HttpGiven.ts", "test/http/alike.test.ts", [
    ": on.detached || on.resizable",
    ": false",
    "a body that was transferred is sent as one of nothing, and whole",
    "bytes that were transferred are no body, and no part of one",
  ]),

  // --- the testing kit
  ...inFile("core/testing/Sweep.ts", "test/testing/sweep.test.ts", [
    "if (sleeping > 0) return this.#failed(`sleepers are left: ${sleeping}`)",
    "",
    "a timer that leaks is not found",
    "a fiber that is left, a sleeper that is left, and what is named as left",
  ]),
  ...inFile("core/testing/Reading.ts", "test/testing/sweep.test.ts", [
    "if (before.text !== after.text || !Equal.equals(before.exit, after.exit)) {",
    "if (!Equal.equals(before.exit, after.exit)) {",
    "a pool that changes in place may lose what it likes",
    "what changes in place, though it is the same object",
  ]),
  ...inFile("core/testing/Model.ts", "test/testing/model.test.ts", [
    "if (fibers > 0) return this.#wrong(`fibers are left: ${fibers}`, Exit.void)",
    "",
    "a life that leaves a fiber behind is right",
    "that leaves a fiber or a sleeper, cannot be prepared, or never comes to rest is found",
  ]),
  ...inFile("core/testing/FaultSweep.ts", "test/testing/script.test.ts", [
    "for (let call = 1; call <= right.labels.size; call++) {",
    "for (let call = 2; call <= right.labels.size; call++) {",
    "the first call of a port never fails",
    "of an executor: a job that has begun is joined, and never presumed dead",
  ]),

  // --- the sockets
  ...inFile("core/SocketConnection.ts", "test/core/sockets.test.ts", [
    "if (this.#isClosedHere) return this.#wire.destroy()",
    "if (this.#isClosedHere) return",
    "a dial that was left and answers late stays open for ever",
    "of a dial that cannot be cancelled is abandoned, counted, and closed once that is over",
  ], [
    'if (this.#state === "gone") {',
    'if (this.#state !== "open") {',
    "a close is over while the system still has the handle",
    "is waited for, however the dial ends, until the system has let go of it",
  ], [
    "if (this.#bytes >= this.#maxReadBytes || this.#pieces.length >= maxPieces) this.#flow(false)",
    "if (this.#pieces.length >= maxPieces) this.#flow(false)",
    "a fast peer fills the memory of a slow reader",
    "keeps so many bytes for whoever reads later, and then makes the peer wait until all are read",
  ], [
    "this.#bytes >= this.#maxReadBytes || this.#pieces.length >= maxPieces",
    "this.#bytes >= this.#maxReadBytes",
    "a peer that sends a byte at a time has hundreds of times as much kept",
    "keeps no more than 1,024 pieces, however small they are",
  ], [
    `if (this.#fault !== undefined) return
        this.#isEnded = true`,
    "this.#isEnded = true",
    "what was cut off looks whole to whoever reads later",
    "that failed has not ended, though its runtime tells of the close as an end",
  ], [
    `this.#takeWriter()?.(Effect.void)
        drain(this.#enders, Effect.void)`,
    "drain(this.#enders, Effect.void)",
    "a write behind which the socket is ended waits until it is closed, and fails",
    "that has been ended lets a write that waits go with its end, since no room is told of any more",
  ], [
    "(!this.#hasRoom && pieces.length > 0)",
    "false",
    "writes that are given up one after another pile up without limit",
    "takes no more behind a write that was interrupted until there is room, for which an empty one waits",
  ], [
    "for (const scope of this.#scopes) Lease.forget(scope)",
    "",
    "a pool that dials in its own scope grows with every connection it ever had",
    "that is gone leaves nothing in a scope that lives longer",
  ]),
  ...inFile("core/SocketConnection.ts", "test/conformance/sockets.test.ts", [
    'this.#leave("reset", resume)',
    'this.#leave("destroy", resume)',
    "a peer takes what was aborted for whole",
    "an abort is a reset to the peer",
  ]),
  ...inFile("core/HappyEyeballs.ts", "test/core/sockets.test.ts", [
    "Effect.andThen(Fiber.interrupt(fiber), Scope.close(scope, Exit.void))",
    "Effect.void",
    "an attempt that has not answered stays open beside the one that has",
    "two of which answer at one time are one connection",
  ]),
  ...inFile("core/Sockets.ts", "test/core/sockets.test.ts", [
    "(exit) => Exit.isSuccess(exit) || scope === undefined ? undefined : Scope.close(scope, exit)",
    "() => undefined",
    "a dial that was interrupted leaves its connection to a scope that may live for days",
    "that is there when its dial is interrupted is closed, though the caller's scope stays open",
  ], [
    "const isWrong = pieces.findIndex(isNoPiece) >= 0",
    "const isWrong = false",
    "half of a write goes out before the runtime throws at the rest",
    "is given nothing of a write that is not all bytes",
  ]),
  ...inFile("adapters/shared/SocketWire.ts", "test/adapters/sockets.test.ts", [
    "rejectUnauthorized: true,",
    "",
    "a variable of the environment switches the check of certificates off",
    "is refused whatever the environment says",
  ], [
    "this.#raw.pause()",
    "",
    "a dial over TLS waits for ever where its fiber has its turn after the peer's end",
    "hears of what came before it, of a peer that ends",
  ]),
  ...inFile("adapters/shared/SocketCredentials.ts", "test/adapters/sockets.test.ts", [
    "secureOptions: constants.SSL_OP_NO_RENEGOTIATION,",
    "",
    "a peer may show another certificate once the first has been looked at",
    "is a fault, since its certificate might be another one then",
  ]),
  ...inFile("adapters/shared/SocketCodes.ts", "test/adapters/sockets.test.ts", [
    "ENOTDIR: Fault.NameNotFound",
    "ENOTDIR: Fault.PeerRefused",
    "a path that is not there looks like a peer that is down",
    "is the same fault wherever it is told of",
  ]),
  ...inFile("adapters/shared/SocketCredentials.ts", "test/conformance/sockets.test.ts", [
    "for (const each of authorities ?? []) certificatesIn(each)",
    "",
    "an authority that cannot be read is left out without a word, and takes Deno down",
    "TLS: authorities one of which cannot be read are refused before anything is dialled",
  ]),
  ...inFile("adapters/node/Sockets.ts", "test/conformance/sockets.test.ts", [
    "{ resetAndClosing: true }",
    "{ resetAndClosing: false }",
    "over TLS a peer takes what was aborted for whole",
    "an abort is a reset to the peer, over TLS",
  ]),

  ...inFile("core/SocketConnection.ts", "test/core/socketConnection.test.ts", [
    "if (this.#pieces.length > 0) return this.#taking",
    "if (this.#pieces.length > 0) return Effect.succeed(this.#take())",
    "whoever is interrupted between two steps of a read has lost what that took",
    "loses no piece to whoever is interrupted as it reads, at whichever step",
  ]),
  ...inFile("core/Lookups.ts", "test/core/sockets.test.ts", [
    "if (this.#begun.size === maxLookups) return",
    "",
    "dials that are interrupted leave lookups without bound",
    "waits for its turn behind four others, and is never begun where nobody waits for it any more",
  ], [
    "this.#begun.get(host) ?? ",
    "",
    "each dial of a name that does not answer leaves one lookup more",
    "that nobody waits for any more is counted until the runtime answers, and serves who dials meanwhile",
  ]),
  ...inFile("core/HappyEyeballs.ts", "test/core/sockets.test.ts", [
    " && length - this.#failed < maxAttempts",
    "",
    "a name with many addresses that do not answer opens a socket for each of them",
    "beyond eight are tried once one of those under way has failed, however many there are",
  ]),
  ...inFile("core/Crew.ts", "test/core/blockingExecutor.test.ts", [
    '|| (typeof input === "object" && input !== null)',
    "",
    "a job runs on what its caller has made of the input since it was sent",
    "before a job has reached it, is not replaced for what the caller may have changed since",
  ], [
    "running.tell(Exit.fail(fault), this.#context)",
    "",
    "whoever ends a job that then cannot be sent waits for ever",
    "though its job has not begun, since what it is sent ends it and then cannot be sent, keeps nobody",
  ]),
  ...inFile("adapters/shared/SocketWire.ts", "test/conformance/sockets.test.ts", [
    "this.#point.path !== undefined || this.#isEnding",
    "this.#point.path !== undefined",
    "an abort right behind an end never comes back, and its handle stays open",
    "an abort behind an end that is on its way comes through, and nothing is left",
  ]),
  // --- the gateway
  ...inFile("adapters/gateway/Judgement.ts", "test/adapters/gatewayParts.test.ts", [
    'status < 500 || ofRequest.has(status) ? "neutral" : "failure"',
    '"failure"',
    "one tenant's bad requests open everybody's circuit",
    "a head says by its status alone",
  ], [
    "return cuts.has(error.code) && (isExcused(evidence)",
    "return (isExcused(evidence)",
    "a provider that is not there is excused by a slow client",
    "no connection while the client owes its upload: failure",
  ], [
    "return now - from >= Duration.toMillis(timeout) * 1e6 / 2",
    "return true",
    "calls that spent their time in the line open the circuit",
    "the deadline after less than half of it: neutral",
  ]),
  ...inFile("adapters/gateway/Answers.ts", "test/adapters/gatewayParts.test.ts", [
    'return error.scope === "tenant" ? 429 : 503',
    "return 503",
    "a tenant is not told that it is its own share that is full",
    "say the status, when to come back, and the facts",
  ]),
]
