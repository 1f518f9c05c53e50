import type {
  BodyVerdict,
  LateJobName,
  PromptJobName,
  ShortJobName,
  ShortJobTypes,
} from '../server/ports/short-jobs.ts'
import { translateRequest } from '../dialects/translate.ts'
import { foreignParts } from '../dialects/foreign-parts.ts'
import { reframe } from '../dialects/reframe.ts'
import { joinedAnswer } from '../dialects/native-answer.ts'
import { largeEvent } from '../dialects/large-event.ts'
import { compress } from './compress.ts'
import { decodeEmbeddings } from './decode-embeddings.ts'
import { echo } from './echo.ts'
import { embedLexical } from './embed-lexical.ts'
import { encodeEmbeddings } from './encode-embeddings.ts'
import { mergePreset } from './merge-preset.ts'
import { readBody } from './read-body.ts'
import { copySecrets, openSecret, sealSecrets } from './seal-secrets.ts'
import { takeAnswer } from './scan-answer.ts'
import { sliceTexts } from './slice-texts.ts'
import { translatedAnswer } from './translated-answer.ts'
import { refusalsOf } from '../dialects/refusals.ts'

/** A pure, CPU-heavy function of the short-job pool. */
export interface Task<N extends ShortJobName> {
  run(input: ShortJobTypes[N]['in']): ShortJobTypes[N]['out'] | Promise<ShortJobTypes[N]['out']>
  /** Bytes of the answer whose buffers are moved to the calling thread instead of being copied; no buffer twice. */
  moves(out: ShortJobTypes[N]['out']): readonly (Uint8Array | Uint32Array)[]
}

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

/** Runs a task of either kind on this thread. */
export async function answerTask<N extends ShortJobName>(
  name: N,
  input: ShortJobTypes[N]['in'],
): Promise<ShortJobTypes[N]['out']> {
  const task: Task<N> = TASKS[name]
  return task.run(input)
}
