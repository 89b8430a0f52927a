/**
 * `holdfast/testing`: what a test of a concurrent Effect program needs that a run of it cannot show. No test runner is
 * among its imports; a failure is a value or an error that any runner reports.
 */
export * as Ending from "./Ending.ts"
export * as Explorer from "./Explorer.ts"
export * as ExplorerBounds from "./ExplorerBounds.ts"
export * as ExplorerFailure from "./ExplorerFailure.ts"
export * as ExplorerProgram from "./ExplorerProgram.ts"
export * as FaultSweep from "./FaultSweep.ts"
export * as HandClock from "./HandClock.ts"
export * as Model from "./Model.ts"
export * as Point from "./Point.ts"
export * as Script from "./Script.ts"
export * as ScriptedPorts from "./ScriptedPorts.ts"
export * as Sweep from "./Sweep.ts"
export * as World from "./World.ts"
