import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { bytesOf, joined } from '../../../schemas/values/pieces.ts'
import type { ShortJobTypes } from '../../ports/short-jobs.ts'
import { NATIVE_DIALECTS } from './dialects.ts'
import type { NativeAnswer, NativeHead, ReadAnswer } from './protocol.ts'
import { usageBetween } from './shown-usage.ts'

type Job = ShortJobTypes['native_answer']

/**
 * Reads a whole answer by one walk over its bytes on the calling thread, about 3 ms for each MiB. The pieces
 * of the answer are parts of `body`. D14. Failure: upstream_invalid, for what is no answer in the dialect.
 */
export function nativeAnswer(dialect: Dialect, body: Uint8Array, head: NativeHead): Outcome<NativeAnswer> {
  const read = readAs(dialect, body, head)
  if (read === null) return fail('upstream_invalid')
  const { pieces, usage, outputBytes, finishReason, upstreamId, reported } = read
  return ok({
    usage,
    outputBytes,
    finishReason,
    upstreamId,
    reported,
    withUsage: (shown) => usageBetween(pieces, shown),
  })
}

/** The same on a worker thread, which gives the answer in one piece. */
export function joinedAnswer({ dialect, answer, head }: Job['in']): Job['out'] {
  const read = readAs(dialect, answer, head)
  if (read === null) return { ok: false }
  const { pieces, ...figures } = read
  const { before, told, after } = pieces
  return {
    ok: true,
    ...figures,
    answer: joined([...before, ...(told ?? []), ...after]),
    beforeBytes: bytesOf(before),
    toldBytes: told === null ? null : bytesOf(told),
  }
}

/** What a worker thread gave, as `nativeAnswer` gives it. Failure: upstream_invalid. */
export function answerOfJob(out: Job['out']): Outcome<NativeAnswer> {
  if (!out.ok) return fail('upstream_invalid')
  const { answer, beforeBytes, toldBytes, usage, outputBytes, finishReason, upstreamId, reported } = out
  const afterAt = beforeBytes + (toldBytes ?? 0)
  const pieces = {
    before: [answer.subarray(0, beforeBytes)],
    told: toldBytes === null ? null : [answer.subarray(beforeBytes, afterAt)],
    after: [answer.subarray(afterAt)],
  }
  const figures = { usage, outputBytes, finishReason, upstreamId, reported }
  return ok({ ...figures, withUsage: (shown) => usageBetween(pieces, shown) })
}

function readAs(dialect: Dialect, body: Uint8Array, head: NativeHead): ReadAnswer | null {
  return NATIVE_DIALECTS[dialect].answer(Buffer.from(body.buffer, body.byteOffset, body.length), head)
}
