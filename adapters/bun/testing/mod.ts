/** `holdfast/bun/testing`: what the operating system and Bun know of what a test has left open. */
export * as Ending from "../../shared/testing/Ending.ts"
export * as Leaks from "./Leaks.ts"
