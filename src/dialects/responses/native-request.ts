import { providerBody, type BodyEdit } from '../../schemas/inference/provider-body.ts'
import { REASONING_ID } from './digest.ts'
import {
  REASONING_MEMBERS,
  REFERENCE_MEMBERS,
  RESPONSES_REASONING_CUT,
  RESPONSES_STRICT_CUT_BY_TYPE,
} from '../../schemas/inference/responses-members.ts'
import { RESPONSES_STRICT_CUT, STRICT_CUT_INSIDE } from '../../schemas/inference/strict-members.ts'
import type { KeptBody, MemberSpan } from '../../schemas/kept-body.ts'
import { COMMA, endOfSpace, isSpace } from '../../schemas/values/json-bytes.ts'
import { foreignEdits } from '../foreign-parts.ts'
import type { NativeAsked, NativeRequest, NativeTerms } from '../native.ts'
import { isDefault, StrictEdits, type NestedCut } from '../strict-edits.ts'

/** Members to cut from items, their parts and tools. */
const CUT_INSIDE: ReadonlyMap<string, NestedCut> = new Map(
  [...STRICT_CUT_INSIDE, ...Object.values(RESPONSES_STRICT_CUT_BY_TYPE).flat()].map((named) => [
    named,
    { named },
  ]),
)
/** Members to cut from `reasoning`; its other members are passed on. */
const CUT_REASONING: ReadonlyMap<string, NestedCut> = new Map(
  Object.entries(RESPONSES_REASONING_CUT).map(([name, { defaults }]) => [
    name,
    { named: `reasoning.${name}`, defaults },
  ]),
)

/**
 * The bytes of a call for a provider that speaks responses. With the operator's key nothing is stored, since
 * one account serves many workspaces.
 */
export function responsesRequest<H>(
  { request: { source }, foreign, contents }: NativeAsked<H>,
  { own, isStrict, tokensMax, isOwn }: NativeTerms,
): NativeRequest<H> {
  const edits = [...foreignEdits(source, foreign)]
  const dropped: string[] = []
  if (tokensMax !== null) edits.push({ kind: 'add', name: 'max_output_tokens', json: String(tokensMax) })
  if (!isOwn) {
    edits.push({ kind: 'set', name: 'store', json: 'false' })
    const references = referenceEdits(source)
    edits.push(...references.edits)
    dropped.push(...references.dropped)
  }
  if (isStrict) {
    const strict = strictEdits(source)
    edits.push(...strict.edits)
    dropped.push(...strict.dropped)
  }
  return { body: providerBody(source, [...edits, ...contents], own), dropped }
}

/** Cuts the members that OpenAI refuses. Members that are in no table of Sluice are still sent. */
function strictEdits(body: KeptBody): StrictEdits {
  const strict = new StrictEdits(body)
  strict.cutTop(RESPONSES_STRICT_CUT)
  const reasoning = body.last('reasoning')
  strict.cutInside(
    (mark) =>
      CUT_INSIDE.get(mark.name) ??
      (isWithin(mark, reasoning) ? (CUT_REASONING.get(mark.name) ?? null) : null),
  )
  return strict
}

function isWithin({ keyStart }: MemberSpan, whole: MemberSpan | null): boolean {
  return whole !== null && keyStart > whole.start && keyStart < whole.end
}

/** The empty text, as JSON. */
const NO_TEXT: readonly string[] = ['""']

/** Whether a reasoning item lacks its encrypted part; every reasoning item has a summary. */
export function hasBareReasoning(body: KeptBody): boolean {
  let bare = 0
  for (const mark of body.marks) {
    if (mark.name === REASONING_MEMBERS.text) bare++
    else if (mark.name === REASONING_MEMBERS.encrypted && !isDefault(body, mark, NO_TEXT)) bare--
  }
  return bare > 0
}

/** Cuts items that refer to reasoning which the provider has not stored, and ids of pictures whose content is in the request. */
function referenceEdits(body: KeptBody): { readonly edits: readonly BodyEdit[]; readonly dropped: string[] } {
  const edits: BodyEdit[] = []
  const dropped = new Set<string>()
  // Consecutive marks within one item.
  let run: MemberSpan[] = []
  const end = (): void => {
    const [first] = run
    const last = run.at(-1)
    if (first === undefined || last === undefined) return
    // If the marks cover the whole item, it is a reference.
    if (first.comma === 0 && last.next === 0) {
      // Of duplicate members, the last one counts.
      const id = run.findLast(({ name }) => name === 'id')
      if (id === undefined || !isReasoningId(body, id)) return
      edits.push({ kind: 'cut_mark', mark: itemAround(body, first, last) })
      dropped.add('item_reference')
    } else {
      edits.push(...run.map((mark) => ({ kind: 'cut_mark', mark }) as const))
      dropped.add('image_generation_call.id')
    }
  }
  for (const mark of body.marks) {
    if (!REFERENCE_MEMBERS.includes(mark.name)) continue
    if (run.at(-1)?.next !== mark.keyStart) {
      end()
      run = []
    }
    run.push(mark)
  }
  end()
  return { edits, dropped: [...dropped] }
}

function isReasoningId({ bytes }: KeptBody, { start, end }: MemberSpan): boolean {
  const id: unknown = JSON.parse(Buffer.from(bytes.subarray(start, end)).toString())
  return typeof id === 'string' && id.startsWith(REASONING_ID)
}

/** The list item with these first and last members, in the form that is used to cut members of an object. */
function itemAround({ bytes }: KeptBody, first: MemberSpan, last: MemberSpan): MemberSpan {
  const start = spaceBefore(bytes, first.keyStart) - 1
  const end = endOfSpace(bytes, last.end) + 1
  const after = endOfSpace(bytes, end)
  const before = spaceBefore(bytes, start) - 1
  return {
    name: 'item_reference',
    keyStart: start,
    start,
    end,
    next: bytes[after] === COMMA ? endOfSpace(bytes, after + 1) : 0,
    comma: bytes[before] === COMMA ? before : 0,
    inner: 0,
  }
}

/** @returns the offset where the white space before `at` begins */
function spaceBefore(bytes: Uint8Array, at: number): number {
  let start = at
  while (isSpace(bytes[start - 1])) start--
  return start
}
