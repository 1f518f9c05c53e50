import { fail, ok, type Outcome } from '../../../../schemas/failures.ts'
import type { TokenUsage } from '../../../ports/inference/inference.ts'
import type { ShortJobTypes } from '../../../ports/short-jobs.ts'
import { chatUsageOf } from './chat-usage.ts'
import { ChatWalk } from './chat-walk.ts'
import type { NativeHead } from './top-members.ts'

/** Figures of a whole answer. */
interface AnswerFigures {
  /** Null: missing, no counts, or no output where there was some. D24. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of text, reasoning and arguments of tools, of all choices. */
  readonly outputBytes: number
  /** Of the last choice. */
  readonly finishReason: string | null
  /** The provider's own id; null without one. */
  readonly upstreamId: string | null
}

/** A whole answer of a provider that speaks OpenAI's chat. */
export interface NativeAnswer extends AnswerFigures {
  /** The answer in pieces, with this JSON as its usage. */
  withUsage(usageJson: string): readonly Uint8Array[]
}

type Job = ShortJobTypes['native_answer']

/**
 * Reads an answer by one walk over its bytes on the calling thread, about 3 ms for each MiB. The pieces of
 * the answer are parts of `body`. An answer that the walk does not decide is parsed and written anew. D14.
 * Failures: upstream_invalid (no JSON object, an error, no choices, a choice without a message).
 */
export function nativeAnswer(body: Uint8Array, head: NativeHead): Outcome<NativeAnswer> {
  const read = walkOver(body, head)
  if (read === null) return fail('upstream_invalid')
  const { figures, walk } = read
  return ok({ ...figures, withUsage: (usageJson) => [...piecesOf(walk), usageEnd(usageJson)] })
}

/** The same on a worker thread, which gives the answer in one piece. */
export function joinedAnswer({ answer, head }: Job['in']): Job['out'] {
  const read = walkOver(answer, head)
  if (read === null) return { ok: false }
  return { ok: true, ...read.figures, answer: joined(piecesOf(read.walk)) }
}

/** What `joinedAnswer` gave, as `nativeAnswer` gives it. Failure: upstream_invalid. */
export function answerOfJob(out: Job['out']): Outcome<NativeAnswer> {
  if (!out.ok) return fail('upstream_invalid')
  const { answer, usage, outputBytes, finishReason, upstreamId } = out
  const figures = { usage, outputBytes, finishReason, upstreamId }
  return ok({ ...figures, withUsage: (usageJson) => [answer, usageEnd(usageJson)] })
}

function walkOver(
  body: Uint8Array,
  head: NativeHead,
): { readonly figures: AnswerFigures; readonly walk: ChatWalk } | null {
  const walk = new ChatWalk(head, 'answer')
  if (!walk.run(Buffer.from(body.buffer, body.byteOffset, body.length), true)) return null
  const { choices, output } = walk
  const hasFailed = walk.hasError || choices.some(({ finish }) => finish === 'error')
  if (hasFailed || choices.length === 0) return null
  const figures = {
    usage: walk.usage === null ? null : chatUsageOf(walk.usage, output.isThere),
    outputBytes: output.bytes,
    finishReason: choices.at(-1)?.finish ?? null,
    upstreamId: walk.upstreamId,
  }
  return { figures, walk }
}

/** The answer up to its closing brace. */
function piecesOf(walk: ChatWalk): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  walk.splice({
    bytes: (from, to) => pieces.push(walk.bytes.subarray(from, to)),
    text: (text) => pieces.push(Buffer.from(text)),
  })
  return pieces
}

/** One piece in memory of its own, which moves between threads. */
function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = Buffer.allocUnsafeSlow(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

function usageEnd(usageJson: string): Uint8Array {
  return Buffer.from(`,"usage":${usageJson}}`)
}
