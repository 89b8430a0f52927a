/** What holds the permits until a group has queued its waiters, and what counts them through. Owns no timer. */
import { setImmediate } from "node:timers"

export interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

export const gate = (): Gate => {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** `reached` completes when `one` was called `goal` times. */
export interface Countdown {
  readonly one: () => void
  readonly reached: Promise<void>
}

export const countdown = (goal: number): Countdown => {
  let left = goal
  const { opened, open } = gate()
  if (goal === 0) open()
  return {
    one: () => {
      if (--left === 0) open()
    },
    reached: opened,
  }
}

/** One turn of the event loop. */
export const turn = (): Promise<void> =>
  new Promise<void>((resolve) => {
    setImmediate(resolve)
  })

/** Lets everything that was put off come to rest. */
export const settled = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await turn()
}
