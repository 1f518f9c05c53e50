import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import {
  LEXICAL_ORGANIZATION_CALLS_MAX,
  LEXICAL_CALLS_MAX,
  LEXICAL_DIMENSIONS_DEFAULT,
  LEXICAL_DIMENSIONS_MAX,
  LEXICAL_INPUT_BYTES_MAX,
  LEXICAL_NUMBERS_MAX,
  LEXICAL_TEXT_UNITS_MAX,
} from '../../schemas/limits.ts'
import type { Egress } from '../ports/egress.ts'
import type { EmbeddingsRequest } from '../ports/embeddings.ts'
import type { ShortJobs, ShortJobTypes } from '../ports/short-jobs.ts'
import { bulkOf, valueOf, type InputShape } from './input-shape.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading } from './protocol.ts'

/**
 * `sluice/lexical-1`: needs no key and no network. It is lexical, not semantic: texts that share wording come out
 * close, synonyms do not. Computed in the short-job pool, slice by slice, so that others get their turn. One object
 * serves all endpoints of a front, whose calls it bounds. Design §10.
 */
export class LexicalEmbeddings implements EmbeddingProtocol {
  readonly #jobs: ShortJobs
  readonly #egress: Pick<Egress, 'hold'>
  #calls = 0
  readonly #callsBy = new Map<string, number>()

  constructor(jobs: ShortJobs, egress: Pick<Egress, 'hold'>) {
    this.#jobs = jobs
    this.#egress = egress
  }

  takes(shape: InputShape): boolean {
    return shape.kind !== 'numbers' && shape.kind !== 'lists'
  }

  /** Failures: body_invalid, busy, and what the pool of short jobs fails with. */
  async embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const { request, shape, caller } = attempt
    const dimensions = request.dimensions ?? LEXICAL_DIMENSIONS_DEFAULT
    if (dimensions > LEXICAL_DIMENSIONS_MAX) return tooMuch('/dimensions', LEXICAL_DIMENSIONS_MAX)
    const countMax = Math.floor(LEXICAL_NUMBERS_MAX / dimensions)
    if (shape.count > countMax) return tooMuch('/input', countMax, ' inputs of so many dimensions')
    const bulk = bulkOf(request.input)
    if (bulk !== null && bulk.length > LEXICAL_INPUT_BYTES_MAX) return tooMuch('/input', LEXICAL_INPUT_BYTES_MAX, ' bytes')
    const { organizationId } = caller
    const others = this.#callsBy.get(organizationId) ?? 0
    if (this.#calls >= LEXICAL_CALLS_MAX || others >= LEXICAL_ORGANIZATION_CALLS_MAX) return fail('busy', { retryAfterS: 1 })
    this.#calls++
    this.#callsBy.set(organizationId, others + 1)
    try {
      return await this.#sliced(attempt, dimensions, bulk)
    } finally {
      this.#calls--
      this.#leave(organizationId)
    }
  }

  #leave(organizationId: string): void {
    const left = (this.#callsBy.get(organizationId) ?? 1) - 1
    if (left > 0) this.#callsBy.set(organizationId, left)
    else this.#callsBy.delete(organizationId)
  }

  /** A large input is parsed and cut in a job: this thread only hands its bytes over. */
  async #sliced(attempt: EmbeddingAttempt, dimensions: number, bulk: Uint8Array | null): Promise<Outcome<Reading>> {
    const { request, caller, call } = attempt
    const sliced = bulk === null
      ? ok(this.#jobs.here('slice_texts', { input: valueOf(request.input) ?? [], dimensions }))
      : await this.#jobs.run('slice_texts', { input: bulk, dimensions }, { caller, signal: call.signal })
    if (!sliced.ok) return sliced
    if (sliced.value.ok) return this.#inTurn(sliced.value.slices, dimensions, attempt)
    const { longAt } = sliced.value
    if (longAt === null) return fail('input_unsupported', { detail: 'It takes parts of type text only.' })
    return tooMuch(pathOf(request, longAt), LEXICAL_TEXT_UNITS_MAX, ' UTF-16 units')
  }

  async #inTurn(
    slices: Slices,
    dimensions: number,
    { request, caller, call: { signal } }: EmbeddingAttempt,
  ): Promise<Outcome<Reading>> {
    const encoding = request.encoding_format ?? 'float'
    const data: Uint8Array[] = []
    const held: (() => void)[] = []
    const release = (): void => held.splice(0).forEach((give) => give())
    let tokens = 0
    let firstIndex = 0
    for (const { texts, count } of slices) {
      const outcome = await this.#jobs.run('embed_lexical', { texts, firstIndex, dimensions, encoding }, { caller, signal })
      const give = outcome.ok ? this.#egress.hold(outcome.value.data.length) : null
      if (!outcome.ok || give === null) {
        release()
        return outcome.ok ? fail('busy', { retryAfterS: 1 }) : outcome
      }
      held.push(give)
      firstIndex += count
      tokens += outcome.value.tokens
      addTo(data, outcome.value.data)
    }
    return ok({ data, promptTokens: tokens, totalTokens: tokens, release })
  }
}

type Slices = Extract<ShortJobTypes['slice_texts']['out'], { ok: true }>['slices']

const COMMA = Buffer.from(',')

/** Joins lists by taking the bracket between them away. */
function addTo(parts: Uint8Array[], list: Uint8Array): void {
  const last = parts.pop()
  if (last === undefined) parts.push(list)
  else parts.push(last.subarray(0, -1), COMMA, list.subarray(1))
}

function pathOf({ input }: EmbeddingsRequest, index: number): string {
  return typeof input === 'string' ? '/input' : `/input/${index}`
}

function tooMuch(path: string, most: number, unit = ''): Outcome<Reading> {
  const issue = { path, message: 'more than this model takes', expected: `at most ${most}${unit}` }
  return fail('body_invalid', { metadata: { issues: [issue] } })
}
