import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { LEXICAL_DIMENSIONS_DEFAULT, LEXICAL_DIMENSIONS_MAX } from '../../schemas/limits.ts'
import type { EmbeddingsRequest } from '../ports/embeddings.ts'
import type { ShortJobs } from '../ports/short-jobs.ts'
import { bulkOf, valueOf, type InputShape } from './input-shape.ts'
import { NOTHING_HELD, type EmbeddingAttempt, type EmbeddingProtocol, type Reading } from './protocol.ts'

/**
 * `sluice/lexical-1`: needs no key and no network. It is lexical, not semantic: texts that share wording come out
 * close, synonyms do not. Computed in the short-job pool. Design §10.
 */
export class LexicalEmbeddings implements EmbeddingProtocol {
  readonly #jobs: ShortJobs

  constructor(jobs: ShortJobs) {
    this.#jobs = jobs
  }

  takes(shape: InputShape): boolean {
    return shape.kind === 'string' || shape.kind === 'strings'
  }

  async embed({ request, call }: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const dimensions = request.dimensions ?? LEXICAL_DIMENSIONS_DEFAULT
    if (dimensions > LEXICAL_DIMENSIONS_MAX) return tooManyDimensions()
    const encoding = request.encoding_format ?? 'float'
    const outcome = await this.#jobs.run(
      'embed_lexical',
      { texts: textsOf(request), dimensions, encoding },
      { signal: call.signal },
    )
    if (!outcome.ok) return outcome
    const { data, tokens } = outcome.value
    return ok({ data: [data], promptTokens: tokens, totalTokens: tokens, release: NOTHING_HELD })
  }
}

/** `takes` has let only texts through. */
function textsOf({ input }: EmbeddingsRequest): Uint8Array | string | readonly string[] {
  const value = valueOf(input)
  if (typeof value === 'string') return value
  return (
    bulkOf(input) ??
    (Array.isArray(value) ? value.filter((text): text is string => typeof text === 'string') : '')
  )
}

function tooManyDimensions(): Outcome<Reading> {
  const expected = `at most ${LEXICAL_DIMENSIONS_MAX}`
  return fail('body_invalid', {
    metadata: { issues: [{ path: '/dimensions', message: 'more than this model has', expected }] },
  })
}
