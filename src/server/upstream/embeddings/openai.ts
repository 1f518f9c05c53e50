import { ok, type Outcome } from '../../../schemas/failures.ts'
import { SCANNED_INLINE_BYTES_MAX } from '../../../schemas/models/provider-limits.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import type { EgressAnswer } from '../../ports/egress/egress.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { bulkOf, valueOf, type InputShape } from './input-shape.ts'
import type { ProviderLink } from '../link.ts'
import type { EmbeddingAttempt, EmbeddingProtocol, Reading, UnsentMember } from './protocol.ts'
import { failureOf } from '../provider-failure.ts'
import { parseAnswer } from './read-answer.ts'

const PATH = '/embeddings'
/** Members that only endpoints with the parameter get. */
const OPTIONAL = ['input_type', 'user'] as const

/**
 * Any server with OpenAI's `POST /embeddings`. A response passes through unparsed when it has the form and
 * the encoding that the caller requested. Design §4.
 */
export class OpenAiEmbeddings implements EmbeddingProtocol {
  readonly #endpoint: Endpoint
  readonly #link: ProviderLink
  readonly #jobs: ShortJobs
  readonly #head: string

  constructor(endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs) {
    this.#endpoint = endpoint
    this.#link = link
    this.#jobs = jobs
    const model = `"${this.#wireName('model')}":${JSON.stringify(endpoint.upstreamModel)}`
    this.#head = `{${model},"${this.#wireName('input')}":`
  }

  takes(shape: InputShape): boolean {
    return shape.kind !== 'objects'
  }

  unsent(request: EmbeddingsRequest): readonly UnsentMember[] {
    return OPTIONAL.filter((name) => request[name] !== undefined && !this.#has(name))
  }

  embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    return this.#link
      .post(PATH, this.#bodyOf(attempt.request), attempt)
      .then((outcome) => this.#read(outcome, attempt))
  }

  #read(
    outcome: Outcome<EgressAnswer>,
    attempt: EmbeddingAttempt,
  ): Outcome<Reading> | Promise<Outcome<Reading>> {
    if (!outcome.ok) return outcome
    const answer = outcome.value
    if (!answer.isSuccess) return { ok: false, failure: failureOf(answer, this.#link) }
    return this.#passThrough(answer, attempt) ?? parseAnswer('openai', answer, { attempt, jobs: this.#jobs })
  }

  #bodyOf(request: EmbeddingsRequest): string | readonly Uint8Array[] {
    const tail = `${this.#options(request)}}`
    const bulk = bulkOf(request.input)
    if (bulk !== null) return [Buffer.from(this.#head), bulk, Buffer.from(tail)]
    return this.#head + JSON.stringify(valueOf(request.input)) + tail
  }

  /**
   * The optional members, each after its comma. The encoding `float` is not sent: every server returns floats by
   * default, and some refuse the word.
   */
  #options(request: EmbeddingsRequest): string {
    const { dimensions, encoding_format: encoding, input_type: inputType, user } = request
    let options = ''
    // Without this member the response would have vectors of another size: a server that does not support it must
    // refuse it itself.
    if (dimensions !== undefined) options += this.#member('dimensions', dimensions)
    if (encoding === 'base64' && this.#has('encoding_format'))
      options += this.#member('encoding_format', encoding)
    if (inputType !== undefined && this.#has('input_type')) {
      options += this.#member(
        'input_type',
        own(this.#endpoint.provider.rename, `input_type=${inputType}`) ?? inputType,
      )
    }
    if (user !== undefined && this.#has('user')) options += this.#member('user', user)
    return options
  }

  #member(field: string, value: string | number): string {
    return `,"${this.#wireName(field)}":${JSON.stringify(value)}`
  }

  #passThrough(answer: EgressAnswer, attempt: EmbeddingAttempt): Outcome<Reading> | null {
    const { body } = answer
    if (body.length > SCANNED_INLINE_BYTES_MAX) return null
    const encoding = attempt.request.encoding_format ?? 'float'
    const taken = this.#jobs.here('scan_answer', { answer: body, encoding, count: attempt.shape.count })
    if (taken === null) return null
    const { start, end, promptTokens, totalTokens } = taken
    return ok({ data: [body.subarray(start, end)], promptTokens, totalTokens, release: answer.release })
  }

  #has(parameter: string): boolean {
    const { supportedParameters } = this.#endpoint
    return supportedParameters.length === 0 || supportedParameters.includes(parameter)
  }

  #wireName(field: string): string {
    return own(this.#endpoint.provider.rename, field) ?? field
  }
}

function own(map: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(map, name) ? map[name] : undefined
}
