import type { EmbeddingProtocolName } from '../../../schemas/models/protocols.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import { ProviderLink, type LinkDeps } from '../link.ts'
import { headerOf, type CredentialHeader } from '../credential.ts'
import { OpenAiEmbeddings } from './openai.ts'
import type { EmbeddingProtocol, EmbeddingAttempt, Reading, UnsentMember } from './protocol.ts'
import { BulkBytes } from '../../../schemas/bodies.ts'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { EmbeddingsRequest } from '../../ports/embeddings/embeddings.ts'
import { valueOf, type InputShape } from './input-shape.ts'
import { failureOf } from '../provider-failure.ts'
import { parseAnswer } from './read-answer.ts'
import { googleTask } from '../../../schemas/embeddings/input-types.ts'

export interface RemoteDeps extends Omit<LinkDeps, 'credentialHeader'> {
  /** Null: the header of the protocol. */
  readonly keyHeader?: CredentialHeader | null
  readonly jobs: ShortJobs
}

/** Opens a remote endpoint in its provider's protocol; null when the protocol has no embeddings or is local. */
export function openRemote(
  endpoint: Endpoint,
  { jobs, keyHeader = null, ...deps }: RemoteDeps,
): EmbeddingProtocol | null {
  const { provider } = endpoint
  if (!isRemote(provider.protocol)) return null
  const credentialHeader = keyHeader ?? headerOf(provider.protocol)
  const link = new ProviderLink(provider, { ...deps, credentialHeader })
  return REMOTE[provider.protocol](endpoint, link, jobs)
}

/** True when the protocol has embeddings over the network. */
export function isRemote(protocol: string): protocol is RemoteName {
  return Object.hasOwn(REMOTE, protocol)
}

type RemoteName = Exclude<EmbeddingProtocolName, 'local'>

type Open = (endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs) => EmbeddingProtocol

const REMOTE: Readonly<Record<RemoteName, Open>> = {
  openai: (...deps) => new OpenAiEmbeddings(...deps),
  cohere: cohereEmbeddings,
  google: googleEmbeddings,
}

/**
 * Cohere's `POST /v2/embed`: texts, or texts and images in `inputs`; vectors come back by type under
 * `embeddings`, tokens under `meta.billed_units`. Sluice always requests floats and encodes base64 itself.
 */
function cohereEmbeddings(endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs): EmbeddingProtocol {
  return new RewrittenEmbeddings(endpoint, { protocol: 'cohere', path: '/embed' }, { link, jobs })
}

/** Gemini's `models/{model}:batchEmbedContents`: one request for each input, with text and inline media as parts. */
function googleEmbeddings(endpoint: Endpoint, link: ProviderLink, jobs: ShortJobs): EmbeddingProtocol {
  const path = `/models/${encodeURIComponent(endpoint.upstreamModel)}:batchEmbedContents`
  return new RewrittenEmbeddings(endpoint, { protocol: 'google', path }, { link, jobs })
}

interface Wire {
  readonly protocol: 'cohere' | 'google'
  readonly path: string
}

interface Deps {
  readonly link: ProviderLink
  readonly jobs: ShortJobs
}

type Encoded = Outcome<ShortJobTypes['encode_embeddings']['out']>

/** A wire protocol whose bodies differ from Sluice's in both directions: both bodies are rewritten, large ones in a short job. */
class RewrittenEmbeddings implements EmbeddingProtocol {
  readonly #endpoint: Endpoint
  readonly #link: ProviderLink
  readonly #jobs: ShortJobs
  readonly #wire: Wire

  constructor(endpoint: Endpoint, wire: Wire, { link, jobs }: Deps) {
    this.#endpoint = endpoint
    this.#wire = wire
    this.#link = link
    this.#jobs = jobs
  }

  takes(shape: InputShape): boolean {
    return shape.kind !== 'numbers' && shape.kind !== 'lists'
  }

  unsent({ user, input_type: type }: EmbeddingsRequest): readonly UnsentMember[] {
    const isHintLost =
      type !== undefined && this.#wire.protocol === 'google' && googleTask(type) === undefined
    return [
      ...(isHintLost ? (['input_type'] as const) : []),
      ...(user === undefined ? [] : (['user'] as const)),
    ]
  }

  async embed(attempt: EmbeddingAttempt): Promise<Outcome<Reading>> {
    const encoding = this.#encode(attempt)
    const encoded = encoding instanceof Promise ? await encoding : encoding
    if (!encoded.ok) return encoded
    const { signal } = attempt.call
    // A running job is not cancelled, so the caller may have disconnected meanwhile.
    if (encoding instanceof Promise && signal.aborted) return { ok: false, failure: endedBy(signal) }
    if (!encoded.value.ok) return fail('input_unsupported', { detail: encoded.value.detail })
    const outcome = await this.#link.post(this.#wire.path, encoded.value.body, attempt)
    if (!outcome.ok) return outcome
    const answer = outcome.value
    if (answer.isSuccess && attempt.request.input instanceof BulkBytes) KEPT.delete(attempt.request.input)
    if (!answer.isSuccess) return { ok: false, failure: failureOf(answer, this.#link) }
    return parseAnswer(this.#wire.protocol, answer, { attempt, jobs: this.#jobs })
  }

  #encode({ request, caller, call }: EmbeddingAttempt): Promise<Encoded> | Encoded {
    const options = {
      protocol: this.#wire.protocol,
      upstreamModel: this.#endpoint.upstreamModel,
      dimensions: request.dimensions ?? null,
      inputType: request.input_type ?? null,
    }
    const { input } = request
    if (!(input instanceof BulkBytes)) {
      return ok(this.#jobs.here('encode_embeddings', { ...options, input: valueOf(input) ?? '' }))
    }
    const form = `${options.protocol} ${options.upstreamModel}`
    const known = KEPT.get(input)
    if (known?.form === form) return known.encoded
    return this.#encodeBulk(input, form, () =>
      this.#jobs.run('encode_embeddings', { ...options, input: input.json }, { caller, signal: call.signal }),
    )
  }

  /**
   * Encodes a large input and keeps the result: handing megabytes to a thread is expensive, and the next
   * endpoint may need the same body.
   */
  async #encodeBulk(input: BulkBytes, form: string, encode: () => Promise<Encoded>): Promise<Encoded> {
    const encoded = await encode()
    if (encoded.ok) KEPT.set(input, { form, encoded })
    return encoded
  }
}

/** The last encoded body of a large input, for as long as its call needs it. */
const KEPT = new WeakMap<BulkBytes, { readonly form: string; readonly encoded: Encoded }>()
