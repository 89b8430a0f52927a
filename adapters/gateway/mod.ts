/** The gateway as a library: start one with a configuration, or mount its handler. */
export * as Config from "./Config.ts"
export * as Gateway from "./Gateway.ts"
export * as Handler from "./Handler.ts"
export * as Platform from "./Platform.ts"
export * as Tenants from "./Tenants.ts"
export * as Upstream from "./Upstream.ts"
export * as Worker from "./Worker.ts"
