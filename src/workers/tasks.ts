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
import { joinedAnswer, aroundUsage, WHOLE_TEXTS } from '../dialects/native-answer.ts'
import { largeEvent } from '../dialects/large-event.ts'
import { decodeEmbeddings } from './decode-embeddings.ts'
import { echo } from './echo.ts'
import { embedLexical, sliceTexts } from './embed-lexical.ts'
import { encodeEmbeddings } from './encode-embeddings.ts'
import { readBody } from './read-body.ts'
import { copySecrets, openSecret, sealSecrets } from './seal-secrets.ts'
import { takeAnswer } from './scan-answer.ts'
import { refusalsOf } from '../dialects/refusals.ts'
import { joined } from '../schemas/values/json-bytes.ts'
import { shownTier } from '../schemas/models/price-conditions.ts'
import { keptFormOf } from '../schemas/bodies.ts'
import { fail } from '../schemas/failures.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../schemas/inference/inference-limits.ts'
import { isNull } from '../schemas/inference/provider-body.ts'
import { mergedBody, valueOf, type SavedPreset } from '../dialects/presets/text-preset.ts'
import { PRESET_FORMS, textPresetOf } from '../dialects/presets/used-preset.ts'
import type { TextInput } from '../schemas/inference/text-request.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'

/** Level 1 takes a third of the default level's time, and makes a list of JSON about 15 % larger. Decision. */
const GZIP_LEVEL = 1

/** Compresses into a separate buffer, which can be moved: the buffer of zlib may be larger than the result. */
function compress({ bytes }: { readonly bytes: Uint8Array }): Uint8Array {
  return new Uint8Array(gzipSync(bytes, { level: GZIP_LEVEL }))
}

/** A pure, CPU-heavy function of the short-job pool. */
export interface Task<N extends ShortJobName> {
  run(input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out'] | Promise<ShortJobTypes[N]['out']>
  /** Bytes of the answer whose buffers are moved to the calling thread instead of being copied; no buffer twice. */
  moves(out: ShortJobTypes[N]['out']): readonly (Uint8Array | Uint32Array)[]
}

interface PromptTask<N extends PromptJobName> extends Task<N> {
  run(input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out']
}

/** The registry that threads load. Declare a new task in `ports/short-jobs.ts` and name it here. */
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

/** Tasks that are loaded with their first job: threads and loops that never render need no encoder. */
const LATE_TASKS: { readonly [N in LateJobName]: Task<N> } = {
  render_clip: {
    run: async (input) => (await import('./render-clip.ts')).renderClip(input),
    moves: (mp4) => [mp4],
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

/** Runs any task on this thread. */
export async function answerTask<N extends ShortJobName>(
  name: N,
  input: ShortJobTypes[N]['in'],
): Promise<ShortJobTypes[N]['out']> {
  const task: Task<N> = TASKS[name]
  return task.run(input)
}

type Job = ShortJobTypes['translated_answer']

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
  return { ok: true, ...figures, answer: joined(pieces), beforeBytes, usageBytes: null }
}

/**
 * Merges the missing members from a preset into a body. The result is read as if the caller had sent it: the digest,
 * the places and every check are those of the merged body.
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

/** The digest of a body that is in the form of a call. */
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
