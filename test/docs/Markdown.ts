/** What of a document can be run or looked up: fenced blocks, commands, links, tables. Pure: from a text to plain data. */

/** A fenced block, with its indentation and its fences taken off. `line` is that of its first fence. */
export interface Block {
  readonly path: string
  readonly line: number
  readonly kind: string
  readonly text: string
}

/** Every fenced block of a Markdown text. One that is not closed runs to the end, as it does for every reader. */
export const blocks = (path: string, text: string): readonly Block[] => {
  const found: Block[] = []
  let open:
    | { readonly line: number; readonly kind: string; readonly margin: string; readonly lines: string[] }
    | undefined
  const close = (): void => {
    if (open !== undefined) found.push({ path, line: open.line, kind: open.kind, text: `${open.lines.join("\n")}\n` })
    open = undefined
  }
  for (const [index, line] of text.split("\n").entries()) {
    const fence = /^( *)```+ *(.*?) *$/.exec(line)
    if (open !== undefined && fence !== null && fence[2] === "") close()
    else if (open !== undefined) open.lines.push(line.startsWith(open.margin) ? line.slice(open.margin.length) : line)
    else if (fence !== null) open = { line: index + 1, kind: fence[2]!, margin: fence[1]!, lines: [] }
  }
  close()
  return found
}

/** The blocks of the doc comments of a source; their lines are those of the source. */
export const docBlocks = (path: string, source: string): readonly Block[] => {
  let inside = false
  const lines = source.split("\n").map((line) => {
    const begins = /^\s*\/\*\*/.test(line)
    if (begins) inside = true
    const kept = inside && !begins ? line.replace(/^\s*\* ?/, "").replace(/\*\/.*$/, "") : ""
    if (line.includes("*/")) inside = false
    return kept
  })
  return blocks(path, lines.join("\n"))
}

/** The text without its fenced blocks, line by line as it was. */
const prose = (text: string): string => {
  let inside = false
  return text.split("\n").map((line) => {
    const fence = /^ *```/.test(line)
    if (fence) inside = !inside
    return inside || fence ? "" : line
  }).join("\n")
}

const programs = /^(npm|npx|node|deno|bun|curl|sh|git) /

/** The commands of a text: each part of each line of `sh` blocks, and code spans that begin with a known program. */
export const commands = (text: string): readonly string[] => {
  const lines = blocks("", text).filter(({ kind }) => kind === "sh").flatMap((block) => block.text.trim().split("\n"))
  const spans = [...prose(text).matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!).filter((span) =>
    programs.test(span)
  )
  return [...new Set([...lines.flatMap((line) => line.split(" && ")), ...spans])]
}

/** Where the links of a text lead. */
export const links = (text: string): readonly string[] =>
  [...prose(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!)

/** What a heading is linked by: in lower case, spaces as hyphens, without punctuation. */
export const anchors = (text: string): readonly string[] =>
  [...prose(text).matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!.toLowerCase().replace(/[^\p{Letter}\p{Number} -]/gu, "").replaceAll(" ", "-")
  )

/** The cells of the table below a heading, without its head. */
export const table = (text: string, heading: string): readonly (readonly string[])[] => {
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? ""
  const rows = section.split("\n").filter((line) => line.startsWith("| "))
  return rows.slice(1).map((row) => row.slice(2, -2).split(" | "))
}

/** The code spans of a text. */
export const spans = (text: string): readonly string[] => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1]!)
