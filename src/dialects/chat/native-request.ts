import { INCLUDE_USAGE } from '../../schemas/inference/chat-members.ts'
import { isNull, providerBody, type BodyEdit } from '../../schemas/inference/provider-body.ts'
import {
  REASONING_DEFAULTS,
  REASONING_MEMBERS,
  STRICT_CUT,
  STRICT_CUT_BY_ROLE,
  STRICT_CUT_INSIDE,
} from '../../schemas/inference/strict-members.ts'
import type { KeptBody, MemberSpan } from '../../schemas/kept-body.ts'
import type { NativeAsked, NativeRequest, NativeTerms } from '../native.ts'
import { isDefault, StrictEdits, type NestedCut } from '../strict-edits.ts'
import type { ReasoningField } from '../../schemas/models/protocols.ts'

/** The bytes of a chat for a provider that speaks chat. */
export function chatRequest<H>(
  { request: { source, isStream }, contents }: NativeAsked<H>,
  { own, isStrict, reasoningField, tokensMember, tokensMax }: NativeTerms,
): NativeRequest<H> {
  const tokens = tokensMax === null ? null : { name: tokensMember, tokens: tokensMax }
  const { edits: others, dropped } = isStrict ? strictEdits(source) : reasoningEdits(source, reasoningField)
  const edits = [...nativeEdits(source, { isStream, tokensMax: tokens }), ...contents, ...others]
  return { body: providerBody(source, edits, own), dropped }
}

export interface AddedTerms {
  /** A provider sends the usage of a stream only on request. */
  readonly isStream: boolean
  /** The most tokens of an answer, by the provider's name for it; null: Sluice adds no maximum. */
  readonly tokensMax: { readonly name: NativeTerms['tokensMember']; readonly tokens: number } | null
}

/** The changes to the caller's body for a provider that speaks chat. */
export function nativeEdits(body: KeptBody, { isStream, tokensMax }: AddedTerms): readonly BodyEdit[] {
  const edits = isStream ? [...usageEdits(body)] : []
  if (tokensMax !== null && !has(body, 'max_tokens') && !has(body, 'max_completion_tokens'))
    edits.push({ kind: 'add', name: tokensMax.name, json: String(tokensMax.tokens) })
  return edits
}

/** Whether the caller sent the member, with a value. */
function has(body: KeptBody, name: string): boolean {
  const member = body.last(name)
  return member !== null && !isNull(body, member)
}

/** Requests the usage and keeps the caller's other stream options. */
function usageEdits(body: KeptBody): readonly BodyEdit[] {
  const options = body.last('stream_options')
  const member = `"${INCLUDE_USAGE}":true`
  if (options === null || isNull(body, options))
    return [{ kind: 'set', name: 'stream_options', json: `{${member}}` }]
  const asked = body.marks.filter(
    ({ name, keyStart }) => name === INCLUDE_USAGE && keyStart > options.start && keyStart < options.end,
  )
  return asked.length === 0
    ? [{ kind: 'open', object: options, member }]
    : asked.map((mark) => ({ kind: 'set_mark', mark, json: 'true' }))
}

/**
 * The changes for a provider that refuses members which it does not know. Members that are in no table of
 * Sluice are still sent: the provider decides.
 */
export function strictEdits(body: KeptBody): StrictEdits {
  const strict = new StrictEdits(body)
  strict.cutTop(STRICT_CUT)
  editReasoning(body, strict)
  strict.cutInside(({ name }) => CUT_INSIDE.get(name) ?? null)
  return strict
}

const CUT_INSIDE: ReadonlyMap<string, NestedCut> = new Map(
  [...STRICT_CUT_INSIDE, ...Object.values(STRICT_CUT_BY_ROLE).flat()].map((named) => [named, { named }]),
)

const GIVEN: ReadonlySet<string> = new Set(['reasoning', 'reasoning_content'])
const DETAILS = 'reasoning_details'
const NO_EDITS = { edits: [], dropped: [] } as const

/**
 * Reasoning that the caller gives back, in the members that the provider takes. Sluice shows it as
 * `reasoning`; providers that reason between tool calls refuse the next step without their own
 * `reasoning_content`.
 */
export function reasoningEdits(
  body: KeptBody,
  field: ReasoningField = 'both',
): { readonly edits: readonly BodyEdit[]; readonly dropped: readonly string[] } {
  const marks = body.marks.filter(({ name }) => GIVEN.has(name) || (field === 'none' && name === DETAILS))
  if (marks.length === 0) return NO_EDITS
  if (field === 'none')
    return { edits: marks.map((mark) => ({ kind: 'cut_mark', mark })), dropped: ['reasoning'] }
  const edits: BodyEdit[] = []
  let isLost = false
  for (const [nth, mark] of marks.entries()) {
    const isPaired = [marks[nth - 1], marks[nth + 1]].some(
      (other) => other !== undefined && other.name !== mark.name && areInOne(body, mark, other),
    )
    if (mark.name === 'reasoning_content') {
      if (field !== 'reasoning') continue
      edits.push({ kind: 'cut_mark', mark })
      isLost ||= !isPaired && !isDefault(body, mark, EMPTY)
    } else if (isPaired && field === 'reasoning_content') edits.push({ kind: 'cut_mark', mark })
    else if (!isPaired && field === 'reasoning_content' && isPlainKey(body, mark))
      edits.push({ kind: 'insert', at: mark.keyStart + KEY.length - 1, text: '_content' })
    else if (!isPaired && field !== 'reasoning' && !isDefault(body, mark, EMPTY)) {
      const json = Buffer.from(body.bytes.subarray(mark.start, mark.end)).toString()
      edits.push({ kind: 'insert', at: mark.end, text: `,"reasoning_content":${json}` })
    }
  }
  return { edits, dropped: isLost ? ['reasoning_content'] : [] }
}

const EMPTY = ['""']
const KEY = Buffer.from('"reasoning"')

/** The name is written without an escape. */
function isPlainKey({ bytes }: KeptBody, { keyStart }: MemberSpan): boolean {
  return KEY.equals(bytes.subarray(keyStart, keyStart + KEY.length))
}

const [QUOTE, ESCAPE] = [0x22, 0x5c]
const OPENING: ReadonlySet<number | undefined> = new Set([0x7b, 0x5b])
const CLOSING: ReadonlySet<number | undefined> = new Set([0x7d, 0x5d])

/** Whether two marks are members of one object: no bracket closes between them that did not open there. */
function areInOne({ bytes }: KeptBody, one: MemberSpan, other: MemberSpan): boolean {
  const [first, second] = one.end <= other.keyStart ? [one, other] : [other, one]
  let depth = 0
  let isText = false
  for (let at = first.end; at < second.keyStart; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) isText = !isText
    else if (isText && byte === ESCAPE) at++
    else if (!isText && OPENING.has(byte)) depth++
    else if (!isText && CLOSING.has(byte) && --depth < 0) return false
  }
  return true
}

/** Passes on the effort of `reasoning` and reports its other members as dropped. */
function editReasoning(body: KeptBody, strict: StrictEdits): void {
  const member = body.last('reasoning')
  if (member === null) return
  strict.edits.push({ kind: 'cut', name: 'reasoning' })
  if (isNull(body, member)) return
  const reasoning = smallValue(body, member)
  if (reasoning === null) {
    strict.drop('reasoning')
    return
  }
  const { effort, ...others } = reasoning as Readonly<Record<string, unknown>>
  for (const [name, value] of Object.entries(others)) {
    const isImplied = name === 'enabled' && value === true && typeof effort === 'string'
    const isUsual = value === null || REASONING_DEFAULTS.get(name)?.includes(JSON.stringify(value)) === true
    if (!isImplied && !isUsual)
      strict.drop(REASONING_MEMBERS.includes(name) ? `reasoning.${name}` : 'reasoning')
  }
  if (typeof effort !== 'string') return
  const own = body.last('reasoning_effort')
  const json = JSON.stringify(effort)
  if (own !== null && !isDefault(body, own, [json])) strict.drop('reasoning_effort')
  strict.edits.push({ kind: 'set', name: 'reasoning_effort', json })
}

/** The most bytes of a value that is parsed here; every default value is shorter. */
const SMALL_BYTES_MAX = 4_096

/** The value of a short object; null: longer than SMALL_BYTES_MAX. */
function smallValue({ bytes }: KeptBody, { start, end }: MemberSpan): object | null {
  if (end - start > SMALL_BYTES_MAX) return null
  const value: unknown = JSON.parse(Buffer.from(bytes.subarray(start, end)).toString())
  return typeof value === 'object' ? value : null
}
