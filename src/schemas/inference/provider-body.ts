import type { KeptBody, MemberSpan } from '../kept-body.ts'

/** A change of a caller's body before it is sent to a provider. `json` is one value. */
export type BodyEdit =
  /** Sets the top-level member, whether or not the caller sent it. */
  | { readonly kind: 'set'; readonly name: string; readonly json: string }
  /** Sets the top-level member if the caller sent none, or null. */
  | { readonly kind: 'add'; readonly name: string; readonly json: string }
  | { readonly kind: 'cut'; readonly name: string }
  | { readonly kind: 'set_mark'; readonly mark: MemberSpan; readonly json: string }
  | { readonly kind: 'cut_mark'; readonly mark: MemberSpan }
  /** Adds a first member to the object that is the value of a top-level member. */
  | { readonly kind: 'open'; readonly object: MemberSpan; readonly member: string }
  /** Inserts text before the byte at this offset. */
  | { readonly kind: 'insert'; readonly at: number; readonly text: string }

/** Changes for one endpoint, by top-level member: its value as JSON; null: it is cut. The kept forms contain the places of these members. */
export type FixedEdits = ReadonlyMap<string, string | null>

const NOTHING_FIXED: FixedEdits = new Map()

/** Replaces a nested member by a content that is not in memory, between two texts. */
export interface HoleEdit<H> {
  readonly kind: 'hole'
  readonly mark: MemberSpan
  readonly before: string
  readonly hole: H
  readonly after: string
}

/** Bytes `[start, end)` of the body that are replaced. */
interface Splice<H = never> {
  readonly start: number
  readonly end: number
  readonly put: string
  /** The content after the text; `after` is the text that follows it. */
  readonly hole?: { readonly content: H; readonly after: string }
}

/** Pieces of fewer bytes are joined into one: each piece costs a write, which takes longer than a copy. */
const JOINED_PIECES_BYTES_MAX = 4_096
const NULL_BEGIN = 0x6e
const CLOSE_OBJECT = 0x7d

/** Whether the value of a member is null, for bytes that are valid JSON. */
export function isNull({ bytes }: KeptBody, { start }: MemberSpan): boolean {
  return bytes[start] === NULL_BEGIN
}

/**
 * The body of a provider's request: the caller's bytes with some members set, added or cut. All other bytes
 * stay as they are, in their order: a provider's prompt cache sees the prefix that the caller wrote. Of known
 * members with the same name, only the last one is kept, since it was checked: a parser that uses the first
 * one would read a different request than the one that was checked and priced.
 * @param fixed come before the edits
 * @returns one JSON object; large pieces are slices of the caller's bytes without a copy, and each hole is a
 * separate piece
 */
export function providerBody<H = never>(
  body: KeptBody,
  edits: readonly (BodyEdit | HoleEdit<H>)[],
  fixed: FixedEdits = NOTHING_FIXED,
): readonly (Uint8Array | H)[] {
  const { bytes } = body
  if (bytes.length === 0) throw new Error('the bytes of the body were released')
  const splices: Splice<H>[] = memberSplices(body, fixed, wantedMembers(body, edits))
  if (edits.length > 0) splices.push(...nestedSplices(body, edits))
  splices.sort((a, b) => a.start - b.start)
  const pieces = new Pieces<H>(bytes)
  let at = 0
  for (const { start, end, put, hole } of splices) {
    // It is inside a member that is cut or replaced.
    if (start < at) continue
    pieces.take(at, start)
    pieces.put(put)
    if (hole !== undefined) {
      pieces.leave(hole.content)
      pieces.put(hole.after)
    }
    at = end
  }
  pieces.take(at, bytes.length)
  return pieces.whole()
}

/** If a member has several edits, the last one counts. */
function wantedMembers(body: KeptBody, edits: readonly (BodyEdit | HoleEdit<unknown>)[]): FixedEdits {
  if (edits.length === 0) return NOTHING_FIXED
  const wanted = new Map<string, string | null>()
  for (const edit of edits) {
    if (!('name' in edit)) continue
    const { kind, name } = edit
    if (!body.knows(name)) throw new Error(`the positions of ${name} were not kept`)
    if (kind === 'cut') wanted.set(name, null)
    else if (kind === 'set') wanted.set(name, edit.json)
    else {
      const member = body.last(name)
      if (member === null || isNull(body, member)) wanted.set(name, edit.json)
    }
  }
  return wanted
}

/** @param wanted override the fixed ones */
function memberSplices(body: KeptBody, fixed: FixedEdits, wanted: FixedEdits): Splice[] {
  const splices: Splice[] = []
  const cuts: MemberSpan[] = []
  const seen = new Set<string>()
  for (const member of body.members.toReversed()) {
    const { name, start, end } = member
    const own = wanted.get(name)
    const json = own === undefined ? fixed.get(name) : own
    if (seen.has(name) || json === null) cuts.push(member)
    else if (json !== undefined) splices.push({ start, end, put: json })
    seen.add(name)
  }
  let put = ''
  let left = body.count - cuts.length
  for (const edits of [fixed, wanted])
    for (const [name, json] of edits) {
      if (json === null || seen.has(name) || (edits === fixed && wanted.has(name))) continue
      put += `${left++ > 0 ? ',' : ''}${JSON.stringify(name)}:${json}`
    }
  if (cuts.length > 0) splices.push(...cutSplices(cuts.toReversed()))
  if (put !== '') splices.push({ start: body.close, end: body.close, put })
  return splices
}

function nestedSplices<H>(
  { bytes }: KeptBody,
  edits: readonly (BodyEdit | HoleEdit<H>)[],
): readonly Splice<H>[] {
  const splices: Splice<H>[] = []
  const cuts: MemberSpan[] = []
  for (const edit of edits) {
    if (edit.kind === 'cut_mark') cuts.push(edit.mark)
    else if (edit.kind === 'set_mark')
      splices.push({ start: edit.mark.start, end: edit.mark.end, put: edit.json })
    else if (edit.kind === 'hole') {
      const { mark, before, hole, after } = edit
      splices.push({ start: mark.keyStart, end: mark.end, put: before, hole: { content: hole, after } })
    } else if (edit.kind === 'insert') splices.push({ start: edit.at, end: edit.at, put: edit.text })
    else if (edit.kind === 'open') {
      const { inner } = edit.object
      const put = bytes[inner] === CLOSE_OBJECT ? edit.member : `${edit.member},`
      splices.push({ start: inner, end: inner, put })
    }
  }
  return [...splices, ...cutSplices(cuts.sort((a, b) => a.keyStart - b.keyStart))]
}

/** A run of adjacent members of an object that are cut at once. */
interface Run {
  readonly start: number
  readonly end: number
  /** The comma before the first of them; 0: no comma. */
  readonly comma: number
}

/**
 * A member is cut with the comma after it, and the last member of an object with the comma before it.
 * @param cuts in the order of the body
 */
function cutSplices(cuts: readonly MemberSpan[]): readonly Splice[] {
  const runs: Run[] = []
  for (const { keyStart, end, next, comma } of cuts) {
    const before = runs.at(-1)
    // It is inside a part that is already cut, and would split the run.
    if (before !== undefined && keyStart < before.end) continue
    const isNext = before?.end === keyStart
    if (isNext) runs.pop()
    const first = isNext ? before : { start: keyStart, comma }
    if (next > 0) runs.push({ start: first.start, end: next, comma: first.comma })
    else runs.push({ start: first.comma > 0 ? first.comma : first.start, end, comma: 0 })
  }
  return runs.map(({ start, end }) => ({ start, end, put: '' }))
}

/** A text, or bytes `[start, end)` of the body. */
type Piece = string | { readonly start: number; readonly end: number }

/** Slices of the body and texts; small ones are joined into one piece. */
class Pieces<H> {
  readonly #bytes: Buffer
  readonly #whole: (Uint8Array | H)[] = []
  #small: Piece[] = []
  #smallBytes = 0

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength)
  }

  put(text: string): void {
    if (text === '') return
    this.#small.push(text)
    this.#smallBytes += Buffer.byteLength(text)
  }

  take(start: number, end: number): void {
    if (start === end) return
    if (end - start < JOINED_PIECES_BYTES_MAX) {
      this.#small.push({ start, end })
      this.#smallBytes += end - start
      return
    }
    this.#flush()
    this.#whole.push(this.#bytes.subarray(start, end))
  }

  leave(hole: H): void {
    this.#flush()
    this.#whole.push(hole)
  }

  whole(): readonly (Uint8Array | H)[] {
    this.#flush()
    return this.#whole
  }

  #flush(): void {
    if (this.#smallBytes === 0) return
    const joined = Buffer.allocUnsafeSlow(this.#smallBytes)
    let at = 0
    for (const piece of this.#small) {
      if (typeof piece === 'string') at += joined.write(piece, at)
      else at += this.#bytes.copy(joined, at, piece.start, piece.end)
    }
    this.#whole.push(joined)
    this.#small = []
    this.#smallBytes = 0
  }
}
