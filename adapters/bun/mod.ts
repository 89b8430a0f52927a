/** holdfast on Bun: what the platform supplies. */
export * as BlockingExecutor from "./BlockingExecutor.ts"
export * as Exchange from "./Exchange.ts"
export * as IdleTimer from "./IdleTimer.ts"
export * as Latin1 from "./Latin1.ts"
export * as BunPlatform from "./Platform.ts"
export * as Serve from "./Serve.ts"
export * as Signals from "./Signals.ts"
export * as Sockets from "./Sockets.ts"
