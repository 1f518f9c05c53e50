import { gzipSync } from 'node:zlib'
import type {
  BodyVerdict,
  LateJobName,
  PromptJobName,
  ShortJobName,
  ShortJobTypes,
} from '../server/ports/short-jobs.ts'
import { translateRequest, wholeParts } from '../dialects/translate.ts'
import { foreignParts } from '../dialects/foreign-parts.ts'
import { reframe } from '../dialects/reframe.ts'
import { aroundUsage, joinedAnswer, WHOLE_TEXTS } from '../dialects/native-answer.ts'
import { largeEvent } from '../dialects/large-event.ts'
import { refusalsOf } from '../dialects/refusals.ts'
import { joined } from '../schemas/values/json-bytes.ts'
import { shownTier } from '../schemas/models/price-conditions.ts'
import type { EmbeddingInput } from '../schemas/embeddings/embeddings.ts'
import {
  LEXICAL_SLICE_NUMBERS,
  LEXICAL_SLICE_UNITS,
  LEXICAL_TEXT_UNITS_MAX,
} from '../schemas/embeddings/embedding-limits.ts'
import { keptFormOf } from '../schemas/bodies.ts'
import { fail } from '../schemas/failures.ts'
import {
  ECHO_TOKENS_MAX,
  INFERENCE_BODY_BYTES_MAX,
  INFERENCE_DEPTH_MAX,
} from '../schemas/inference/inference-limits.ts'
import { isNull } from '../schemas/inference/provider-body.ts'
import { mergedBody, valueOf, type SavedPreset } from '../dialects/presets/text-preset.ts'
import { PRESET_FORMS, textPresetOf } from '../dialects/presets/used-preset.ts'
import type { TextInput } from '../schemas/inference/text-request.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'
import { textJson } from '../dialects/form-fit.ts'
import { isReadByEcho, saysNothingToEcho } from '../dialects/echo-members.ts'
import { MORE, Others, OTHERS_MAX } from '../dialects/prompt/others.ts'
import { decodeEmbeddings } from './decode-embeddings.ts'
import { embedLexical } from './embed-lexical.ts'
import { encodeEmbeddings } from './encode-embeddings.ts'
import { readBody } from './read-body.ts'
import { copySecrets, openSecret, sealSecrets } from './seal-secrets.ts'
import { takeAnswer } from './scan-answer.ts'
import { scanBody } from './body-scan.ts'

const REASONING = ['I', ' only', ' echo.'] as const
/** Fragments in which a tool call's arguments come. */
const FRAGMENTS = 3

/** Bytes of a value that may be a default, with white space. Decision. */
const DEFAULT_BYTES_MAX = 64
/** Members that are looked at for such values, four for each name of the answer. */
const SEARCHED_MAX = 4 * OTHERS_MAX

/**
 * Level 1 takes a third of the default level's time, and makes a list of JSON about 15 % larger. Decision.
 */
const GZIP_LEVEL = 1

/** A pure, CPU-heavy function of the short-job pool. */
export interface Task<N extends ShortJobName> {
  run(input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out'] | Promise<ShortJobTypes[N]['out']>
  /**
   * Bytes of the answer whose buffers are moved to the calling thread instead of being copied; no buffer
   * twice.
   */
  moves(out: ShortJobTypes[N]['out']): readonly (Uint8Array | Uint32Array)[]
}

/** A task that has its answer when it returns. */
interface PromptTask<N extends PromptJobName> extends Task<N> {
  run(input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out']
}

/**
 * The registry that threads load: one line for each task, which is a file of its own that exports its
 * function. Declare a new task in `ports/short-jobs.ts` and name it here.
 */
const PROMPT_TASKS: { readonly [N in PromptJobName]: PromptTask<N> } = {
  read_body: {
    run: readBody,
    moves: movedOfBody,
  },
  merge_preset: { run: mergePreset, moves: movedOfBody },
  slice_texts: {
    run: sliceTexts,
    moves: (sliced) =>
      sliced.ok ? sliced.slices.flatMap(({ texts }) => (texts instanceof Uint8Array ? [texts] : [])) : [],
  },
  embed_lexical: { run: embedLexical, moves: ({ data }) => [data] },
  encode_embeddings: { run: encodeEmbeddings, moves: (encoded) => (encoded.ok ? [encoded.body] : []) },
  scan_answer: { run: takeAnswer, moves: () => [] },
  decode_embeddings: { run: decodeEmbeddings, moves: (decoded) => (decoded.ok ? [decoded.data] : []) },
  echo: { run: echo, moves: () => [] },
  native_answer: { run: joinedAnswer, moves: movedOfAnswer },
  translate: { run: translateRequest, moves: (written) => (written.ok ? [written.body] : []) },
  refused_fields: { run: refusalsOf, moves: () => [] },
  foreign_parts: { run: ({ dialect, body, bare }) => foreignParts(dialect, body, bare), moves: () => [] },
  large_event: { run: largeEvent, moves: () => [] },
  translated_answer: { run: translatedAnswer, moves: movedOfAnswer },
  reframe: { run: reframe, moves: (made) => (made.ok ? [made.bytes] : []) },
  compress: { run: compress, moves: (packed) => [packed] },
  seal_secrets: {
    run: sealSecrets,
    moves: (all) => all.map(({ sealed }) => sealed),
  },
  open_secret: {
    run: openSecret,
    moves: (value) => (value === null ? [] : [value]),
  },
  copy_secrets: {
    run: copySecrets,
    moves: (copies) => (copies ?? []).map(({ sealed }) => sealed),
  },
}

function movedOfBody(verdict: BodyVerdict): readonly (Uint8Array | Uint32Array)[] {
  if (!verdict.ok) return []
  const { bulk, source } = verdict
  if (source !== undefined) return [source.bytes, source.places.members, source.places.marks]
  return bulk === null ? [] : [bulk.json]
}

function movedOfAnswer(read: ShortJobTypes['native_answer']['out']): readonly Uint8Array[] {
  return read.ok ? [read.answer] : []
}

/** Loaded with their first job: threads and loops that never render need no encoder. */
const LATE_TASKS: { readonly [N in LateJobName]: Task<N> } = {
  render_clip: {
    run: async (input) => (await import('./clip/render.ts')).renderClip(input),
    moves: (rendered) => (rendered.ok ? [rendered.mp4] : []),
  },
}

export const TASKS: { readonly [N in ShortJobName]: Task<N> } = { ...PROMPT_TASKS, ...LATE_TASKS }

/** Runs a task on this thread. */
export function runTask<N extends PromptJobName>(
  name: N,
  input: ShortJobTypes[N]['in'],
): ShortJobTypes[N]['out'] {
  const task: PromptTask<N> = PROMPT_TASKS[name]
  return task.run(input)
}

/** Runs a task of either kind on this thread. */
export async function answerTask<N extends ShortJobName>(
  name: N,
  input: ShortJobTypes[N]['in'],
): Promise<ShortJobTypes[N]['out']> {
  const task: Task<N> = TASKS[name]
  return task.run(input)
}

/** Returns a buffer of its own, which can be moved: the buffer of zlib may be larger. */
function compress({ bytes }: { readonly bytes: Uint8Array }): Uint8Array {
  return new Uint8Array(gzipSync(bytes, { level: GZIP_LEVEL }))
}

type Job = ShortJobTypes['translated_answer']

/** Reads a whole answer of a protocol, and writes it in the caller's dialect, but for its usage. D5, D14. */
export function translatedAnswer({ dialect, head, isEncryptedAsked, ...read }: Job['in']): Job['out'] {
  const whole = wholeParts(read)
  if (!whole.ok) return whole
  const { parts, ...figures } = whole.value
  const text = WHOLE_TEXTS[dialect](head, isEncryptedAsked ? { isEncryptedAsked } : {})
  text.begin(head)
  for (const part of parts) text.add(part)
  const { before, after } = aroundUsage(text, shownTier(whole.value.reported))
  const pieces = [Buffer.from(before), Buffer.from(after)] as const
  const [{ length: beforeBytes }] = pieces
  return { ok: true, ...figures, answer: joined(pieces), beforeBytes, toldBytes: null }
}

type Slicing = ShortJobTypes['slice_texts']

/** Cuts the texts of a call into slices that `embed_lexical` takes one by one; bytes become bytes again. */
function sliceTexts({ input, dimensions }: Slicing['in']): Slicing['out'] {
  const isBytes = input instanceof Uint8Array
  const value = isBytes ? (JSON.parse(new TextDecoder().decode(input)) as EmbeddingInput) : input
  const texts: readonly (string | null)[] = typeof value === 'string' ? [value] : value.map(textOf)
  if (!isText(texts)) return { ok: false, longAt: null }
  const longAt = texts.findIndex((text) => text.length > LEXICAL_TEXT_UNITS_MAX)
  if (longAt !== -1) return { ok: false, longAt }
  const slices: { texts: readonly string[] | Uint8Array; count: number }[] = []
  for (let from = 0; from < texts.length;) {
    const slice = texts.slice(from, endOfSlice(texts, from, dimensions))
    from += slice.length
    slices.push({
      texts: isBytes ? new TextEncoder().encode(JSON.stringify(slice)) : slice,
      count: slice.length,
    })
  }
  return { ok: true, slices }
}

/** The parts of one input are one text; null for an input with other parts, or without text. */
function textOf(input: EmbeddingInput[number]): string | null {
  if (typeof input === 'string') return input
  if (typeof input === 'number' || !('content' in input)) return null
  const texts = input.content.map((part) => (part.type === 'text' ? part.text : null))
  return isText(texts) ? texts.join('\n') : null
}

function isText(texts: readonly (string | null)[]): texts is readonly string[] {
  return !texts.includes(null)
}

/** As many texts as one job may hold the thread with, at least one. */
function endOfSlice(texts: readonly string[], from: number, dimensions: number): number {
  const endMax = from + Math.max(1, Math.floor(LEXICAL_SLICE_NUMBERS / dimensions))
  let end = from
  let units = 0
  do units += texts[end++]?.length ?? 0
  while (end < Math.min(endMax, texts.length) && units + (texts[end]?.length ?? 0) <= LEXICAL_SLICE_UNITS)
  return end
}

/**
 * The body of a call with what it lacks of a preset, read as if it had come so: the digest, the places and
 * every check are those of the merged body, whatever the preset has in it. D10.
 */
export function mergePreset({
  body: name,
  bytes,
  preset,
  model,
}: ShortJobTypes['merge_preset']['in']): BodyVerdict {
  const read = readBody({ body: name, bytes })
  if (!read.ok) return read
  if (read.source === undefined) throw new Error('the request body was not kept')
  const { names } = keptFormOf(name)
  const body = new KeptBody(bytes, read.source.places, { names, released: () => undefined })
  const form = PRESET_FORMS[name === 'count_tokens' ? 'messages' : name]
  const { size } = digestOf(read)
  const own = ownMembers(body, form.conflicts?.names ?? [])
  const request = { model, tokensMax: size.tokensMax, hasTools: size.tools > 0, own }
  const used = textPresetOf(form, { ...preset, config: configOf(preset) }, request)
  const whole = mergedBody(form, body, { preset: used, model })
  if (whole.length > INFERENCE_BODY_BYTES_MAX)
    return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX } })
  const merged = readBody({ body: name, bytes: whole })
  if (!merged.ok || used.dropped.length === 0) return merged
  const dropped = [...new Set([...digestOf(merged).dropped, ...used.dropped])]
  return { ...merged, value: { ...merged.value, dropped } }
}

/** The body is in the form of a call, whose digest this is. */
function digestOf({ value }: { readonly value: Record<string, unknown> }): TextInput {
  return value as unknown as TextInput
}

function ownMembers(body: KeptBody, names: readonly string[]): Members {
  const own = names.flatMap((name) => {
    const member = body.knows(name) ? body.last(name) : null
    return member === null || isNull(body, member) ? [] : [[name, valueOf(body, member)] as const]
  })
  return Object.fromEntries(own)
}

function configOf({ config }: SavedPreset): Members {
  return membersOf(JSON.parse(config))
}

type Echo = ShortJobTypes['echo']

/** The answer of `sluice/echo-1`: the last text, JSON with it, or a call of the chosen tool with it. D35. */
export function echo(input: Echo['in']): Echo['out'] {
  const { unread } = input
  return { ...repeated(input), dropped: unread === null ? [] : droppedOf(unread) }
}

function droppedOf({ dialect, body }: NonNullable<Echo['in']['unread']>): readonly string[] {
  const scan = scanBody(body, { names: [], othersMax: SEARCHED_MAX, depthMax: INFERENCE_DEPTH_MAX })
  if (!scan.ok || scan.known === null) throw new Error('a checked body is not an object')
  const others = new Others(dialect)
  for (const { name, start, end } of scan.others) {
    if (isReadByEcho(dialect, name)) continue
    const isShort = end - start <= DEFAULT_BYTES_MAX
    const json = isShort ? Buffer.from(body.subarray(start, end)).toString() : null
    if (json === null || !saysNothingToEcho(dialect, name, JSON.parse(json))) others.drop(name, [name])
  }
  const names = others.members.map(({ name }) => name)
  return scan.others.length < SEARCHED_MAX || names.includes(MORE) ? names : [...names, MORE]
}

function repeated({
  last,
  isLastCut,
  stops,
  tokensMax,
  isReasoning,
  isCall,
  isJson,
  choices,
}: Echo['in']): Omit<Echo['out'], 'dropped'> {
  const reasoning: readonly string[] = isReasoning ? REASONING : []
  const most = Math.min(tokensMax ?? Infinity, Math.floor(ECHO_TOKENS_MAX / choices))
  if (reasoning.length >= most) return { reasoning: reasoning.slice(0, most), pieces: [], finish: 'length' }
  const room = most - reasoning.length
  if (isCall) return { reasoning, ...called(last, room) }
  const whole = isJson ? textJson(last) : last
  const text = untilStop(whole, stops)
  const words = wordsOf(text, room + 1)
  // JSON is whole, with whatever text.
  const isCut = words.length > room || (isLastCut && !isJson && text.length === whole.length)
  return { reasoning, pieces: words.slice(0, room), finish: isCut ? 'length' : 'stop' }
}

function called(last: string, room: number): Pick<ShortJobTypes['echo']['out'], 'pieces' | 'finish'> {
  const text = textJson(last)
  const pieces = Array.from({ length: FRAGMENTS }, (_, nth) =>
    text.slice(cutAt(text, nth), cutAt(text, nth + 1)),
  )
  return room < FRAGMENTS
    ? { pieces: pieces.slice(0, room), finish: 'length' }
    : { pieces, finish: 'tool_calls' }
}

/** Where the fragment begins: never within a pair of surrogates, which clients could not join. */
function cutAt(text: string, nth: number): number {
  const at = Math.ceil((text.length * nth) / FRAGMENTS)
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at
}

function untilStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}

/**
 * Tokens of the model: a word with the space before it; the last one keeps the space behind it. In one pass,
 * whatever the text: an expression tries each place of a long space again. D35.
 */
function wordsOf(text: string, most: number): string[] {
  const words: string[] = []
  let from = 0
  let isInWord = false
  for (let at = 0; at < text.length && words.length < most; at++) {
    const isSpace = /\s/.test(text.charAt(at))
    if (isInWord && isSpace) {
      words.push(text.slice(from, at))
      from = at
    }
    isInWord = !isSpace
  }
  if (words.length === most) return words
  if (isInWord) words.push(text.slice(from))
  else if (words.length > 0) words.push(`${words.pop() ?? ''}${text.slice(from)}`)
  return words
}
