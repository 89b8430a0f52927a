/** `holdfast/deno/testing`: what the operating system and Deno know of what a test has left open. */
export * as Ending from "../../shared/testing/Ending.ts"
export * as Leaks from "./Leaks.ts"
