import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { owned } from '../../../schemas/values/lent-bytes.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import { movable } from '../movable.ts'
import type { EmbeddingAttempt, Reading } from './protocol.ts'

type Decoding = ShortJobTypes['decode_embeddings']

/**
 * Parses a response, checks all of it and rewrites its vectors; a short job does so for a large response. The work
 * continues after the caller has disconnected, since the response is charged; after the deadline it no longer counts
 * for the call. Failures: upstream_invalid, and those of the pool of short jobs.
 */
export async function parseAnswer(
  protocol: Decoding['in']['protocol'],
  answer: EgressAnswer,
  { attempt, jobs }: { readonly attempt: EmbeddingAttempt; readonly jobs: ShortJobs },
): Promise<Outcome<Reading>> {
  const body = owned(answer.body)
  const { caller, deadlineAt: endsAt } = attempt
  const input: Decoding['in'] = {
    protocol,
    answer: body,
    encoding: attempt.request.encoding_format ?? 'float',
    count: attempt.shape.count,
  }
  const outcome =
    body.length <= INLINE_JSON_BYTES_MAX
      ? ok(jobs.here('decode_embeddings', input))
      : await jobs.run('decode_embeddings', input, { caller, transfer: movable(body), endsAt })
  if (!outcome.ok) {
    answer.release()
    return outcome
  }
  const decoded = outcome.value
  if (!decoded.ok) {
    answer.release()
    return fail('upstream_invalid', decoded.isMiscounted ? { cause: MISCOUNTED } : {})
  }
  const { data, promptTokens, totalTokens } = decoded
  return ok({ data: [data], promptTokens, totalTokens, release: answer.release })
}

/** The cause of `upstream_invalid` when only the number of vectors was wrong: some inputs make a healthy provider lose a vector. */
export const MISCOUNTED = new Error('an unexpected number of vectors')
