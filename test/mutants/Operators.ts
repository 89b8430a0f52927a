/**
 * The small changes that a mutant is made of, found in the syntax tree of one file. Pure: from a path and a text to data.
 *
 * Each changes one expression or leaves out one statement. Left out are types, imports, names, strings and templates
 * (most are messages and tags, which the types pin), the text of `message` getters, arrays and objects as wholes, and
 * calls of `super`. An early return is left out by the test before it that becomes `false`.
 */
import { parseSync } from "oxc-parser"

/** One small change of one file. */
export interface Mutant {
  readonly file: string
  /** The range of the text that is replaced, and what by. */
  readonly start: number
  readonly end: number
  readonly replacement: string
  readonly lineNumber: number
  /** The line it starts on, without the blanks around it. */
  readonly line: string
  /** What is replaced, in one line: with `replacement` and `line` it names the mutant across edits of the file. */
  readonly text: string
  /** Which of those with the same file, line, text and replacement it is; from 1. */
  readonly nth: number
  /** True for a statement, which is replaced by nothing. */
  readonly isStatement: boolean
  /** True where it is evaluated once, as its module loads, and not at each call. */
  readonly isStatic: boolean
}

export interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

export const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

/** The nodes right below one, in the order of its keys, with the key of each. */
export const children = (node: Node): readonly (readonly [string, Node])[] =>
  Object.entries(node).flatMap(([key, value]) =>
    (Array.isArray(value) ? value : [value]).filter(isNode).map((child) => [key, child] as const)
  )

/** The tree of a file; fails where it does not parse. */
export const parse = (path: string, text: string): Node => {
  const { program, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  return program as unknown as Node
}

const operators: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "===": ["!=="],
  "!==": ["==="],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  "%": ["*"],
  "**": ["*"],
  "<<": [">>"],
  ">>": ["<<"],
  ">>>": ["<<"],
  "&": ["|"],
  "|": ["&"],
  "^": ["&"],
  "&&": ["||"],
  "||": ["&&"],
  "+=": ["-="],
  "-=": ["+="],
  "*=": ["/="],
  "/=": ["*="],
  "??=": ["="],
}

/** Names of functions that come in pairs, each of which stands for the other. */
const twins: Readonly<Record<string, string>> = {
  min: "max",
  max: "min",
  floor: "ceil",
  ceil: "floor",
  some: "every",
  every: "some",
}

const functions = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/
/** Subtrees without a value of their own at run time. */
const silent = /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|Import|ExportAll|Template)/

interface Place {
  readonly parent: Node
  readonly key: string
  readonly inFunction: boolean
}

/** A range and what may stand in its place. */
interface Change {
  readonly node: { readonly start: number; readonly end: number }
  readonly to: readonly string[]
  readonly isStatement?: boolean
}

/** All mutants of a file, in the order of its text. */
export const mutants = (file: string, text: string): readonly Mutant[] => {
  const found: Omit<Mutant, "nth">[] = []
  const note = ({ node: { start, end }, to, isStatement = false }: Change, isStatic: boolean): void => {
    const before = text.slice(0, start)
    const from = before.lastIndexOf("\n") + 1
    const until = text.indexOf("\n", start)
    for (const replacement of to) {
      found.push({
        file,
        start,
        end,
        replacement,
        lineNumber: before.split("\n").length,
        line: text.slice(from, until < 0 ? undefined : until).trim(),
        text: text.slice(start, end).replaceAll(/\s+/g, " "),
        isStatement,
        isStatic,
      })
    }
  }
  const walk = (node: Node, place: Place): void => {
    if (silent.test(node.type) || isMessage(node)) return
    for (const change of changes(node, place, text)) note(change, !place.inFunction)
    // What an instance's fields begin with is evaluated at each `new`.
    const inFunction = place.inFunction || functions.test(node.type) ||
      (node.type === "PropertyDefinition" && node["static"] !== true)
    for (const [key, child] of children(node)) {
      if (key === "typeAnnotation" || key === "returnType" || key === "typeParameters") continue
      if (key === "key" && node["computed"] !== true) continue
      walk(child, { parent: node, key, inFunction })
    }
  }
  const program = parse(file, text)
  walk(program, { parent: program, key: "", inFunction: false })
  const seen = new Map<string, number>()
  return found.toSorted((a, b) => a.start - b.start || b.end - a.end).map((mutant) => {
    const id = name({ ...mutant, nth: 1 })
    const nth = (seen.get(id) ?? 0) + 1
    seen.set(id, nth)
    return { ...mutant, nth }
  })
}

/** A mutant as a line of text, which stays the same while its own line does. */
export const name = (mutant: Pick<Mutant, "file" | "line" | "text" | "replacement" | "nth">): string => {
  const { file, line, text, replacement, nth } = mutant
  return `${file}: ${line} · ${text} -> ${replacement === "" ? "nothing" : replacement.replaceAll(/\s+/g, " ")}${
    nth > 1 ? ` (${nth})` : ""
  }`
}

const isMessage = (node: Node): boolean =>
  node.type === "MethodDefinition" && node["kind"] === "get" && (node["key"] as Node)["name"] === "message"

/** True where the value only decides between two ways on. */
const isTest = ({ parent, key }: Place): boolean =>
  key === "test" && /^(If|While|DoWhile|For|Conditional)/.test(parent.type)

const isText = (node: unknown): boolean =>
  isNode(node) && (node.type === "TemplateLiteral" || typeof node["value"] === "string")

const changes = (node: Node, place: Place, text: string): readonly Change[] => {
  const own = changesOf(node, place, text)
  if (!isTest(place)) return own
  const isLoop = !/^(If|Conditional)/.test(place.parent.type)
  // The opposite of a test is caught where `true` and `false` are; only a bound that moves by one is finer.
  const finer = own.flatMap(({ to, ...change }) => {
    const left = node.type === "BinaryExpression"
      ? to.filter((by) => by.includes("=") && /[<>]/.test(by)).slice(0, 1)
      : to
    return /^(Unary|Literal)/.test(node.type) ? [] : [{ ...change, to: left }]
  })
  return [...finer, { node, to: isLoop ? ["false"] : ["true", "false"] }]
}

const changesOf = (node: Node, { parent }: Place, text: string): readonly Change[] => {
  const of = (value: unknown): string => isNode(value) ? text.slice(value.start, value.end) : ""
  const operator = String(node["operator"] ?? "")
  const [left, right] = [of(node["left"]), of(node["right"])]
  switch (node.type) {
    case "BinaryExpression":
      if (isText(node["left"]) || isText(node["right"])) {
        return swapped(node, operator === "+" ? "" : operator, left, right)
      }
      return swapped(node, operator, left, right)
    case "AssignmentExpression":
      return swapped(node, operator, left, right)
    case "LogicalExpression":
      if (operator === "??") return [{ node, to: [left, right] }]
      return swapped(node, operator, left, right)
    case "UnaryExpression":
      return operator === "!" || operator === "-" ? [{ node, to: [of(node["argument"])] }] : []
    case "UpdateExpression": {
      const other = operator === "++" ? "--" : "++"
      return [{ node, to: [node["prefix"] === true ? other + of(node["argument"]) : of(node["argument"]) + other] }]
    }
    case "Literal":
      return literal(node)
    case "MemberExpression":
    case "CallExpression":
      return node.type === "CallExpression" ? twin(node, text) : []
    case "ExpressionStatement":
      return isSuper(node) || parent.type === "Program" ? [] : [{ node, to: [""], isStatement: true }]
    case "ArrowFunctionExpression": {
      const body = node["body"]
      return isNode(body) && body.type === "CallExpression" ? [{ node: body, to: ["undefined"] }] : []
    }
    default:
      return []
  }
}

const swapped = (node: Node, operator: string, left: string, right: string): readonly Change[] => {
  const others = operators[operator]
  return others === undefined ? [] : [{ node, to: others.map((other) => `${left} ${other} ${right}`) }]
}

const literal = (node: Node): readonly Change[] => {
  const value = node["value"]
  if (typeof value === "boolean") return [{ node, to: [String(!value)] }]
  if (typeof value === "bigint") return [{ node, to: [`${value + 1n}n`] }]
  if (typeof value !== "number") return []
  return [{ node, to: [value === 1 ? "0" : String(value + 1)] }]
}

const twin = (node: Node, text: string): readonly Change[] => {
  const callee = node["callee"]
  if (!isNode(callee) || callee.type !== "MemberExpression" || callee["computed"] === true) return []
  const property = callee["property"] as Node
  const other = twins[String(property["name"])]
  return other === undefined ? [] : [{
    node,
    to: [text.slice(node.start, property.start) + other + text.slice(property.end, node.end)],
  }]
}

const isSuper = (statement: Node): boolean => {
  const call = statement["expression"]
  return isNode(call) && call.type === "CallExpression" && (call["callee"] as Node).type === "Super"
}
