import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  LEXICAL_DIMENSIONS_DEFAULT,
  LEXICAL_DIMENSIONS_MAX,
  LEXICAL_TEXT_UNITS_MAX,
} from '../../../schemas/embeddings/embedding-limits.ts'
import { UNREAD } from '../../../schemas/values/unread.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import { LocalCalls } from '../local-calls.ts'
import { bulkOf, valueOf, type InputShape } from './input-shape.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading, UnsentMember } from './protocol.ts'
import { MIB } from '../../../schemas/limits/limits.ts'

/** Numbers that the answer to one call of `sluice/lexical-1` may hold. Decision. */
export const LEXICAL_NUMBERS_MAX = 4 * MIB
/** Bytes of JSON of the input of one call of `sluice/lexical-1`. Decision. */
export const LEXICAL_INPUT_BYTES_MAX = MIB
/** Calls of `sluice/lexical-1` that run at once in one front. Decision. */
export const LEXICAL_CALLS_MAX = 32
/** Calls of `sluice/lexical-1` by one organization that run at once in one front. Decision. */
export const LEXICAL_ORGANIZATION_CALLS_MAX = 16

/**
 * `sluice/lexical-1`: needs no key and no network. The model is lexical, not semantic: texts with common wording get
 * similar vectors, synonyms do not. The pool of short jobs computes the vectors slice by slice, so that jobs of other
 * callers run between the slices. One object serves all endpoints of a front and bounds their calls. Design §10.
 */
export class LexicalEmbeddings implements EmbeddingProtocol {
  readonly #jobs: ShortJobs
  readonly #egress: Pick<Egress, 'hold'>
  readonly #calls = new LocalCalls({ max: LEXICAL_CALLS_MAX, ofOneMax: LEXICAL_ORGANIZATION_CALLS_MAX })

  constructor(jobs: ShortJobs, egress: Pick<Egress, 'hold'>) {
    this.#jobs = jobs
    this.#egress = egress
  }

  takes(shape: InputShape): boolean {
    return shape.kind !== 'numbers' && shape.kind !== 'lists'
  }

  unsent({ user, input_type: type }: EmbeddingsRequest): readonly UnsentMember[] {
    return [
      ...(type === undefined ? [] : (['input_type'] as const)),
      ...(user === undefined ? [] : (['user'] as const)),
    ]
  }

  /** Failures: body_invalid, busy, and those of the pool of short jobs. */
  async embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const { request, shape, caller } = attempt
    const dimensions = request.dimensions ?? LEXICAL_DIMENSIONS_DEFAULT
    if (dimensions > LEXICAL_DIMENSIONS_MAX) return tooMuch('/dimensions', LEXICAL_DIMENSIONS_MAX)
    const countMax = Math.floor(LEXICAL_NUMBERS_MAX / dimensions)
    if (shape.count > countMax)
      return tooMuch('/input', countMax, ' inputs with the requested number of dimensions')
    const bulk = bulkOf(request.input)
    if (bulk !== null && bulk.length > LEXICAL_INPUT_BYTES_MAX)
      return tooMuch('/input', LEXICAL_INPUT_BYTES_MAX, ' bytes')
    const end = this.#calls.begin(caller.organizationId)
    if (end === null) return fail('busy', { retryAfterS: 1 })
    return this.#sliced(attempt, dimensions, bulk).finally(end)
  }

  /** A short job parses and cuts a large input: this thread only passes on the bytes. */
  async #sliced(
    attempt: EmbeddingAttempt,
    dimensions: number,
    bulk: Uint8Array | null,
  ): Promise<Outcome<Reading>> {
    const { request, caller, call } = attempt
    const sliced =
      bulk === null
        ? ok(this.#jobs.here('slice_texts', { input: valueOf(request.input) ?? [], dimensions }))
        : await this.#jobs.run('slice_texts', { input: bulk, dimensions }, { caller, signal: call.signal })
    if (!sliced.ok) return sliced
    if (sliced.value.ok) return this.#inTurn(sliced.value.slices, dimensions, attempt)
    const { longAt } = sliced.value
    if (longAt === null)
      return fail('input_unsupported', { detail: 'The model only accepts parts of type text.' })
    return tooMuch(pathOf(request, longAt), LEXICAL_TEXT_UNITS_MAX, ' UTF-16 units')
  }

  async #inTurn(
    slices: Slices,
    dimensions: number,
    { request, shape, caller, call }: EmbeddingAttempt,
  ): Promise<Outcome<Reading>> {
    const encoding = request.encoding_format ?? 'float'
    const data: Uint8Array[] = []
    // The room is reserved before any work: a caller whose share is used up occupies no thread.
    const room = this.#egress.hold(shape.count * dimensions * NUMBER_BYTES_MIN[encoding], caller)
    if (room === null) return fail('busy', { retryAfterS: 1 })
    let tokens = 0
    let firstIndex = 0
    let madeBytes = 0
    const ended = (outcome: Outcome<never>): Outcome<never> => (room.give(), outcome)
    for (const { texts, count } of slices) {
      // Since then, earlier responses of the same organization may still be unread.
      if (call.hasRoomToRead === false) return ended({ ok: false, failure: UNREAD })
      const outcome = await this.#jobs.run(
        'embed_lexical',
        { texts, firstIndex, dimensions, encoding },
        { caller, signal: call.signal },
      )
      if (!outcome.ok) return ended(outcome)
      madeBytes += outcome.value.data.length
      if (madeBytes > room.bytes && !room.grow(madeBytes - room.bytes))
        return ended(fail('busy', { retryAfterS: 1 }))
      firstIndex += count
      tokens += outcome.value.tokens
      addTo(data, outcome.value.data)
    }
    return ok({ data, promptTokens: tokens, totalTokens: tokens, release: () => room.give() })
  }
}

type Slices = Extract<ShortJobTypes['slice_texts']['out'], { ok: true }>['slices']

/** Fewest bytes of a number in a response: `0,` as a float; five and a third in base64. */
const NUMBER_BYTES_MIN = { float: 2, base64: 5 } as const

const COMMA = Buffer.from(',')

/** Joins lists by removing the bracket between them. */
function addTo(parts: Uint8Array[], list: Uint8Array): void {
  const last = parts.pop()
  if (last === undefined) parts.push(list)
  else parts.push(last.subarray(0, -1), COMMA, list.subarray(1))
}

function pathOf({ input }: EmbeddingsRequest, index: number): string {
  return typeof input === 'string' ? '/input' : `/input/${index}`
}

function tooMuch(path: string, most: number, unit = ''): Outcome<Reading> {
  const issue = { path, message: 'more than this model accepts', expected: `at most ${most}${unit}` }
  return fail('body_invalid', { metadata: { issues: [issue] } })
}
