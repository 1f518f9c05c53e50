import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { ShortJobMore, ShortJobs } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { movable } from '../movable.ts'
import { answerOfJob, nativeAnswer } from './native-answer.ts'
import type { NativeAnswer, NativeHead, WholeRead } from './protocol.ts'

/**
 * Reads a whole answer: on the loop up to INLINE_JSON_BYTES_MAX, above it in a short job, to which the bytes
 * are moved. The work goes on when the caller has left, since the answer is charged. D14. Failures: those of
 * `nativeAnswer`, and those of the pool of short jobs.
 */
export async function readAnswer(
  {
    dialect,
    body,
    head,
  }: { readonly dialect: Dialect; readonly body: Uint8Array; readonly head: NativeHead },
  {
    jobs,
    loop,
    ...more
  }: Pick<ShortJobMore, 'caller' | 'endsAt'> & { readonly jobs: ShortJobs; readonly loop: LoopBudget },
): Promise<WholeRead<NativeAnswer>> {
  if (body.length <= INLINE_JSON_BYTES_MAX)
    return loop.booked(more.caller.organizationId, () => nativeAnswer(dialect, body, head))
  const job = { dialect, answer: body, head }
  const done = await jobs.run('native_answer', job, { ...more, transfer: movable(body) })
  return done.ok ? answerOfJob(done.value) : done
}
