/**
 * What an executor and the program of one of its threads speak over: a port that they have to themselves. On Deno it is the
 * thread's own channel, since each message of a port waits for one more turn of the event loop there, which is a fifth of a
 * round trip; so the program keeps that from its jobs. It owns nothing.
 */
import { type MessagePort, parentPort, type Worker } from "node:worker_threads"

/** The executor's end. */
export type Channel = MessagePort | Worker

/** The program's end. */
export interface ThreadChannel extends Pick<MessagePort, "postMessage"> {
  readonly on: (name: "message" | "messageerror", hear: (heard: unknown) => void) => unknown
}

/**
 * The thread's own channel, for its program alone: a job that posts there from now on posts to nobody, and one that listens
 * hears nothing of what its program listens to.
 */
export const ownChannel = (): ThreadChannel => {
  const own = parentPort!
  const postMessage = own.postMessage.bind(own)
  for (const each of [globalThis, own]) Object.assign(each, { postMessage: () => {} })
  return {
    postMessage,
    on: (name, hear) => {
      own.on(name, hear)
      globalThis.addEventListener(name, (event) => event.stopImmediatePropagation())
    },
  }
}
