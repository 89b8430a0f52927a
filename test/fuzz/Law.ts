/** A law as a check: it holds, or the execution ends with what it says. */
export class Broken extends Error {}

export const must = (holds: boolean, law: string): void => {
  if (!holds) throw new Broken(law)
}

export const same = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  JSON.stringify(a) === JSON.stringify(b)
