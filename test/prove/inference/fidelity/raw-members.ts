/**
 * The members of an object, and the elements of a list, as they are written: an oracle for bytes, which shares
 * nothing with the reader of the product. Texts here have a character for each byte (latin1). What it reads is
 * valid JSON.
 */
export interface RawMember {
  /** As a parser reads it. */
  readonly name: string
  /** With its quotes. */
  readonly key: string
  readonly value: string
}

export function membersOf(object: string): readonly RawMember[] {
  const members: RawMember[] = []
  let at = pastSpace(object, 1 + pastSpace(object, 0))
  while (object[at] !== '}') {
    const keyEnd = endOfText(object, at)
    const from = pastSpace(object, 1 + pastSpace(object, keyEnd))
    const end = endOfValue(object, from)
    const key = object.slice(at, keyEnd)
    members.push({ key, name: textOf(key), value: object.slice(from, end) })
    at = pastSpace(object, end)
    if (object[at] === ',') at = pastSpace(object, at + 1)
  }
  return members
}

export function elementsOf(list: string): readonly string[] {
  const elements: string[] = []
  let at = pastSpace(list, 1 + pastSpace(list, 0))
  while (list[at] !== ']') {
    const end = endOfValue(list, at)
    elements.push(list.slice(at, end))
    at = pastSpace(list, end)
    if (list[at] === ',') at = pastSpace(list, at + 1)
  }
  return elements
}

/** What a text says, of its bytes with their quotes. */
export function textOf(raw: string): string {
  return JSON.parse(Buffer.from(raw, 'latin1').toString()) as string
}

/** Bytes of a text with a character for each. */
export function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

const SPACE = ' \t\n\r'
const ENDS = `${SPACE},]}`

function pastSpace(json: string, from: number): number {
  let at = from
  while (at < json.length && SPACE.includes(json.charAt(at))) at++
  return at
}

/** @param from the opening quote. @returns the place after the closing one */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0
    while (json[at - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return at + 1
  }
  throw new Error(`a text at ${from} has no end`)
}

function endOfValue(json: string, from: number): number {
  const first = json.charAt(from)
  if (first === '"') return endOfText(json, from)
  if (first !== '{' && first !== '[') {
    let at = from
    while (at < json.length && !ENDS.includes(json.charAt(at))) at++
    return at
  }
  let depth = 0
  for (let at = from; at < json.length; at++) {
    const one = json.charAt(at)
    if (one === '"') at = endOfText(json, at) - 1
    else if (one === '{' || one === '[') depth++
    else if ((one === '}' || one === ']') && --depth === 0) return at + 1
  }
  throw new Error(`a value at ${from} has no end`)
}
