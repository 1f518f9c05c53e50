import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { owned } from '../../../schemas/values/lent-bytes.ts'
import type { ShortJobMore, ShortJobs } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { movable } from '../movable.ts'
import { answerOfJob, nativeAnswer } from '../../../dialects/native-answer.ts'
import type { NativeAnswer, NativeHead, WholeRead } from '../../../dialects/parts.ts'

/** An answer that is to be read. */
interface Unread {
  readonly dialect: Dialect
  readonly body: Uint8Array
  readonly head: NativeHead
}

interface Reading extends Pick<ShortJobMore, 'caller' | 'endsAt'> {
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
}

/**
 * Reads a whole answer: on the loop up to INLINE_JSON_BYTES_MAX, above it in a short job, to which the bytes
 * are moved. The work goes on when the caller has left, since the answer is charged. D14. Failures: those of
 * `nativeAnswer`, and those of the pool of short jobs.
 */
export function readAnswer(
  unread: Unread,
  reading: Reading,
): WholeRead<NativeAnswer> | Promise<WholeRead<NativeAnswer>> {
  const { dialect, body, head } = unread
  return body.length > INLINE_JSON_BYTES_MAX
    ? readInJob(unread, reading)
    : reading.loop.booked(reading.caller.organizationId, () => nativeAnswer(dialect, body, head))
}

async function readInJob(
  { dialect, body, head }: Unread,
  { jobs, caller, endsAt }: Reading,
): Promise<WholeRead<NativeAnswer>> {
  const answer = owned(body)
  const more = { caller, transfer: movable(answer), ...(endsAt !== undefined && { endsAt }) }
  const done = await jobs.run('native_answer', { dialect, answer, head }, more)
  return done.ok ? answerOfJob(done.value) : done
}
