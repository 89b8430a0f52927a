/**
 * All mutants of a file in one text: each place asks a switch which of its mutants is on, so that a file is compiled and
 * loaded once, however many mutants it has. R. Untch, A. Offutt and M. Harrold, "Mutation Analysis Using Mutant Schemata",
 * ISSTA 1993. Pure.
 */
import type { Mutant } from "./Operators.ts"
import * as Operators from "./Operators.ts"

/** A mutant with its number, which is what the switch knows it by. */
export interface Numbered extends Mutant {
  readonly id: number
}

/** The name of the switch among the globals, and that which a file has for it. */
export const global = "__holdfastMutants"
const local = "__mutant"

/** The text of a file with a switch at each of its mutants. */
export const weave = (file: string, text: string, mutants: readonly Numbered[]): string => {
  const at = new Map<string, Numbered[]>()
  for (const mutant of mutants) {
    const key = `${mutant.start}-${mutant.end}`
    at.set(key, [...at.get(key) ?? [], mutant])
  }
  const render = (node: Operators.Node): string => {
    let out = ""
    let from = node.start
    const below = Operators.children(node).map(([, child]) => child).toSorted((a, b) =>
      a.start - b.start || b.end - a.end
    )
    for (const child of below) {
      // A shorthand property has one piece of text twice, as its name and as its value.
      if (child.start < from) continue
      out += text.slice(from, child.start) + render(child)
      from = child.end
    }
    out += text.slice(from, node.end)
    return switched(node, out)
  }
  const switched = (node: Operators.Node, out: string): string => {
    const here = at.get(`${node.start}-${node.end}`) ?? []
    // A statement and the expression that it is may have one range.
    const isStatement = node.type === "ExpressionStatement"
    const own = here.filter((mutant) => mutant.isStatement === isStatement && !woven.has(mutant.id))
    for (const { id } of own) woven.add(id)
    if (isStatement && own.length > 0) return `{ if (!${local}(${own[0]!.id})) { ${out} } }`
    // Without semicolons a line that now begins with a parenthesis would go on with the one before.
    if (isStatement) return out.startsWith("(") ? `{ ${out} }` : out
    if (own.length === 0) return out
    return `(${own.map(({ id, replacement }) => `${local}(${id}) ? (${replacement}) : `).join("")}${out})`
  }
  const woven = new Set<number>()
  const program = Operators.parse(file, text)
  const all = text.slice(0, program.start) + render(program) + text.slice(program.end)
  const lost = mutants.find(({ id }) => !woven.has(id))
  if (lost !== undefined) throw new Error(`no place for ${Operators.name(lost)}`)
  return `const ${local} = globalThis.${global}.isOn; ${all}`
}
