import { chatUsageOf } from './usage.ts'
import { ChatWalk } from './stream.ts'
import type { NativeHead, ReadAnswer } from '../parts.ts'
import { NOTHING_REPORTED, reportedWith } from '../usage.ts'

/** Null: not a JSON object, an error, no choices, or a choice without a message. */
export function readChatAnswer(body: Buffer, head: NativeHead): ReadAnswer | null {
  const walk = new ChatWalk(head, 'answer')
  if (!walk.run(body, true)) return null
  const { choices, output } = walk
  const hasFailed = walk.hasError || choices.some(({ finish }) => finish === 'error')
  if (hasFailed || choices.length === 0) return null
  return {
    usage: walk.usage === null ? null : chatUsageOf(walk.usage, output.isThere),
    outputBytes: output.bytes,
    ...(output.thinksIn && { thinksIn: output.thinksIn }),
    finishReason: choices.at(-1)?.finish ?? null,
    upstreamId: walk.upstreamId,
    reported: reportedWith(NOTHING_REPORTED, { service_tier: walk.serviceTier }),
    pieces: { before: [...walk.unclosed, USAGE], usageMembers: null, after: [END] },
  }
}

const USAGE = Buffer.from(',"usage":')
const END = Buffer.from('}')
