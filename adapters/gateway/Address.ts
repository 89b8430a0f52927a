/** IP addresses as the two ends of a connection write them, brought to one form so that they can be compared. Owns nothing. */

const octet = /^(0|[1-9]\d{0,2})$/

const four = (text: string): ReadonlyArray<number> | undefined => {
  const parts = text.split(".")
  // A zero in front is octal to some readers and decimal to others.
  return parts.length === 4 && parts.every((part) => octet.test(part) && Number(part) <= 255)
    ? parts.map(Number)
    : undefined
}

/** The 16-bit groups that one side of a `::` spells out; its end may be an IPv4 address. */
const groups = (text: string, last: boolean): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const parts = text.split(":")
  const tail = last ? four(parts.at(-1)!) : undefined
  const hex = tail === undefined ? parts : parts.slice(0, -1)
  if (!hex.every((part) => /^[0-9A-Fa-f]{1,4}$/.test(part))) return undefined
  const [a = 0, b = 0, c = 0, d = 0] = tail ?? []
  return [...hex.map((part) => parseInt(part, 16)), ...(tail === undefined ? [] : [a * 256 + b, c * 256 + d])]
}

const six = (text: string): ReadonlyArray<number> | undefined => {
  const sides = text.split("::")
  const [left, right] = [groups(sides[0]!, sides.length === 1), groups(sides[1] ?? "", true)]
  if (sides.length > 2 || left === undefined || right === undefined) return undefined
  const spelled = left.length + right.length
  if (sides.length === 1 ? spelled !== 8 : spelled > 7) return undefined
  return [...left, ...Array<number>(8 - spelled).fill(0), ...right]
}

/**
 * The one form of an address: dotted for IPv4, also inside IPv6 (`::ffff:…`, RFC 4291, 2.5.5.2), else eight groups.
 *
 * Undefined for anything that is no address alone: a name, a range, a zone.
 */
export const canonical = (text: string): string | undefined => {
  const dotted = four(text)
  if (dotted !== undefined) return dotted.join(".")
  const all = six(text)
  if (all === undefined) return undefined
  const mapped = all.slice(0, 6).join() === "0,0,0,0,0,65535"
  if (!mapped) return all.map((group) => group.toString(16)).join(":")
  return all.slice(6).flatMap((group) => [group >> 8, group & 255]).join(".")
}
