/** The facts about one source file that the architecture rules look at. Pure: from a path and a text to plain data. */
import { posix } from "node:path"
import { parseSync } from "oxc-parser"

/** A thing found in a file, with the line it is on. */
export interface Found {
  readonly name: string
  readonly line: number
}

/** A function, its nearest name, and its code lines: those left when comments and blanks are taken out. */
export interface Body extends Found {
  readonly lines: number
}

export interface Source {
  readonly path: string
  readonly lines: number
  /** What the file imports, re-exports or names in an import type; relative ones resolved to a path from the top. */
  readonly imports: readonly Found[]
  readonly reexports: readonly Found[]
  /** Identifiers that stand for a value or a type by themselves: no property, no key, no import or export name. */
  readonly identifiers: readonly Found[]
  /** `async`, `await` and `try`. */
  readonly effects: readonly Found[]
  readonly functions: readonly Body[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && typeof (value as Node).type === "string"

const nameOf = (value: unknown): string | undefined =>
  isNode(value) && value.type === "Identifier" ? String(value["name"]) : undefined

/** Keys under which an identifier names something of its parent's and refers to nothing. */
const labels: Readonly<Record<string, readonly string[]>> = {
  MemberExpression: ["property"],
  Property: ["key"],
  MethodDefinition: ["key"],
  PropertyDefinition: ["key"],
  AccessorProperty: ["key"],
  TSPropertySignature: ["key"],
  TSMethodSignature: ["key"],
  TSQualifiedName: ["right"],
  ImportSpecifier: ["imported", "local"],
  ImportNamespaceSpecifier: ["local"],
  ImportDefaultSpecifier: ["local"],
  ExportSpecifier: ["local", "exported"],
  ExportAllDeclaration: ["exported"],
  TSImportType: ["qualifier"],
}

const isLabel = (parent: Node, key: string): boolean =>
  (labels[parent.type]?.includes(key) ?? false) && parent["computed"] !== true

/** Reads one file; fails where it does not parse. */
export const read = (path: string, text: string): Source => {
  const { program, comments, errors } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`)
  let code = text
  for (const { start, end } of comments) {
    code = code.slice(0, start) + code.slice(start, end).replaceAll(/[^\n]/g, " ") + code.slice(end)
  }
  const linesIn = (start: number, end: number): number =>
    code.slice(start, end).split("\n").filter((l) => l.trim()).length
  const found = (name: string, node: Node): Found => ({ name, line: text.slice(0, node.start).split("\n").length })
  const resolve = (to: string): string => to.startsWith(".") ? posix.join(posix.dirname(path), to) : to

  const imports: Found[] = []
  const reexports: Found[] = []
  const identifiers: Found[] = []
  const effects: Found[] = []
  const functions: Body[] = []

  const look = (node: Node, owner: string): void => {
    const source = node["source"]
    if (isNode(source) && typeof source["value"] === "string") {
      const target = found(resolve(source["value"]), node)
      imports.push(target)
      if (node.type.startsWith("Export")) reexports.push(target)
    }
    if (node["async"] === true) effects.push(found("async", node))
    if (node.type === "AwaitExpression" || node["await"] === true) effects.push(found("await", node))
    if (node.type === "TryStatement") effects.push(found("try", node))
    if (/^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type)) {
      functions.push({ ...found(owner, node), lines: linesIn(node.start, node.end) })
    }
  }

  const walk = (node: Node, owner: string): void => {
    const own = nameOf(node["id"]) ?? nameOf(node["key"]) ?? owner
    look(node, own)
    for (const [key, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (!isNode(child)) continue
        const name = nameOf(child)
        if (name !== undefined && !isLabel(node, key)) identifiers.push(found(name, child))
        walk(child, own)
      }
    }
  }

  walk(program as unknown as Node, "")
  return { path, lines: linesIn(0, text.length), imports, reexports, identifiers, effects, functions }
}
