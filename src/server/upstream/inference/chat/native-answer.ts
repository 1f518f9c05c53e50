import { fail, ok, type Outcome } from '../../../../schemas/failures.ts'
import type { TokenUsage } from '../../../ports/inference/inference.ts'
import { chatUsageOf } from './chat-usage.ts'
import { ChatWalk } from './chat-walk.ts'
import type { NativeHead } from './top-members.ts'

/** A whole answer of a provider that speaks OpenAI's chat. */
export interface NativeAnswer {
  /** Null: missing, no counts, or no output where there was some. D24. */
  readonly usage: TokenUsage | null
  /** Bytes in UTF-8 of text, reasoning and arguments of tools, of all choices. */
  readonly outputBytes: number
  /** Of the last choice. */
  readonly finishReason: string | null
  /** The provider's own id; null without one. */
  readonly upstreamId: string | null
  /** The answer in pieces, with this JSON as its usage. */
  withUsage(usageJson: string): readonly Uint8Array[]
}

/**
 * Reads an answer by one walk over its bytes on the calling thread, about 3 ms for each MiB. The pieces of
 * the answer are parts of `body`. An answer that the walk does not decide is parsed and written anew. D14.
 * Failures: upstream_invalid (no JSON object, an error, no choices, a choice without a message).
 */
export function nativeAnswer(body: Uint8Array, head: NativeHead): Outcome<NativeAnswer> {
  const walk = new ChatWalk(head, 'answer')
  if (!walk.run(Buffer.from(body.buffer, body.byteOffset, body.length), true)) return fail('upstream_invalid')
  const { choices, output } = walk
  const hasFailed = walk.hasError || choices.some(({ finish }) => finish === 'error')
  if (hasFailed || choices.length === 0) return fail('upstream_invalid')
  return ok({
    usage: walk.usage === null ? null : chatUsageOf(walk.usage, output.isThere),
    outputBytes: output.bytes,
    finishReason: choices.at(-1)?.finish ?? null,
    upstreamId: walk.upstreamId,
    withUsage: (usageJson) => piecesOf(walk, usageJson),
  })
}

function piecesOf(walk: ChatWalk, usageJson: string): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  walk.splice({
    bytes: (from, to) => pieces.push(walk.bytes.subarray(from, to)),
    text: (text) => pieces.push(Buffer.from(text)),
  })
  pieces.push(Buffer.from(`,"usage":${usageJson}}`))
  return pieces
}
