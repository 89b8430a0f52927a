/** Which lines a `git diff --unified=0` touches, by file as it is now. Pure. */

/** By file, the numbers of the lines that were added or changed. */
export type Changes = ReadonlyMap<string, ReadonlySet<number>>

export const parse = (diff: string): Changes => {
  const changes = new Map<string, Set<number>>()
  let lines = new Set<number>()
  for (const line of diff.split("\n")) {
    const file = /^\+\+\+ b\/(.+)$/.exec(line)?.[1]
    if (file !== undefined) changes.set(file, lines = new Set())
    const [, first, count = "1"] = /^@@ -\S+ \+(\d+)(?:,(\d+))? @@/.exec(line) ?? []
    for (let i = 0; first !== undefined && i < Number(count); i++) lines.add(Number(first) + i)
  }
  return changes
}

export const has = (changes: Changes, file: string, line: number): boolean => changes.get(file)?.has(line) === true
