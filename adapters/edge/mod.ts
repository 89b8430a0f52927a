/** holdfast at the edge (workerd): what the platform supplies. */
export * as Exchange from "./Exchange.ts"
export * as FixedLength from "./FixedLength.ts"
export * as EdgePlatform from "./Platform.ts"
export * as Sockets from "./Sockets.ts"
