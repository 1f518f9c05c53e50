import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { VIDEO_CLIP_BYTES_MAX } from '../../../schemas/videos/video-limits.ts'
import {
  VIDEO_CREDENTIAL_RETRY_MS,
  VIDEO_UNSENT_RETRY_MS,
} from '../../../schemas/videos/video-provider-limits.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { Endpoint, ModelCatalogue, Provider, ProviderVideo } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type {
  LookedUp,
  Polled,
  Submitted,
  VideoCallTimes,
  VideoOrder,
  VideoProvider,
  VideoProviders,
  VideoSource,
} from '../../ports/videos/video-providers.ts'
import { headerOf, type Credential } from '../credential.ts'
import { keyHeaderOf, operatorAccess, plainHeaders, type ExtraHeaders } from '../provider-headers.ts'
import { ClipReader, readerOf } from './clip-download.ts'
import { googleVeo } from './google-veo.ts'
import { Images } from './images.ts'
import { LocalClip } from './local-clip.ts'
import { openAiVideos } from './openai-videos.ts'
import { GoneWatch, unavailable } from './poll-verdict.ts'
import type { VideoProtocol, WayDeps } from './protocol.ts'
import { jobError } from './job-errors.ts'
import { VideoLink } from './video-link.ts'
import { isProviderKey, providerKeyHost } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'

export interface VideoProvidersOptions extends KeyDeps {
  readonly catalogue: { readonly models: readonly Pick<ModelCatalogue['models'][number], 'endpoints'>[] }
  readonly egress: Egress
  /** Renders the clips of `local`. */
  readonly jobs: Pick<ShortJobs, 'run'>
}

const REMOTE: ReadonlyMap<string, VideoProtocol> = new Map([
  ['openai', openAiVideos],
  ['google', googleVeo],
])

/** The providers of the catalogue that make videos. Design §10. */
export function createVideoProviders({
  catalogue,
  egress,
  jobs,
  ...keyMeans
}: VideoProvidersOptions): VideoProviders {
  const keys = new VideoKeys(keyMeans)
  const images = new Images(egress)
  const endpoints = new Map<string, Endpoint>()
  for (const model of catalogue.models)
    for (const endpoint of model.endpoints) if (endpoint.video !== null) endpoints.set(endpoint.tag, endpoint)
  const bySlug = new Map<string, VideoProvider>()
  for (const { provider } of endpoints.values()) {
    const { slug, video, protocol } = provider
    const spoken = REMOTE.get(protocol)
    if (video === null || bySlug.has(slug)) continue
    const gone = new GoneWatch(keyMeans.now)
    if (protocol === 'local') bySlug.set(slug, new LocalClip({ slug, video, jobs, images }))
    else if (spoken !== undefined)
      bySlug.set(
        slug,
        new RemoteVideos(provider, video, { protocol: spoken, egress, images, gone, keys, endpoints }),
      )
  }
  return {
    of: ({ endpoint, provider }) =>
      endpoints.get(endpoint)?.provider.slug === provider ? (bySlug.get(provider) ?? null) : null,
    all: [...bySlug.values()],
  }
}

interface RemoteDeps extends Pick<WayDeps, 'egress' | 'images' | 'gone'> {
  readonly protocol: VideoProtocol
  readonly keys: VideoKeys
  readonly endpoints: ReadonlyMap<string, Endpoint>
}

/** A remote provider: finds the key of each order and speaks the provider's protocol with it. */
class RemoteVideos implements VideoProvider {
  readonly slug: string
  readonly video: ProviderVideo
  readonly #provider: Provider
  readonly #deps: RemoteDeps

  constructor(provider: Provider, video: ProviderVideo, deps: RemoteDeps) {
    this.slug = provider.slug
    this.video = video
    this.#provider = provider
    this.#deps = deps
  }

  async submit(order: VideoOrder, times: VideoCallTimes): Promise<Submitted> {
    const way = await this.#wayOf(order)
    return way.ok ? this.#deps.protocol.submit(order, way.value, times) : this.#keyless(order, way.failure)
  }

  async poll(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<Polled> {
    const way = await this.#wayOf(order)
    if (!way.ok) return unavailable(this.#keyWords(way.failure), VIDEO_CREDENTIAL_RETRY_MS)
    return this.#deps.protocol.poll(order, upstreamId, way.value, times)
  }

  async lookup(order: VideoOrder, sinceMs: number, times: VideoCallTimes): Promise<LookedUp> {
    const way = await this.#wayOf(order)
    if (!way.ok)
      return { kind: 'unavailable', error: jobError('provider_unavailable', this.#keyWords(way.failure)) }
    return this.#deps.protocol.lookup(order, sinceMs, way.value, times)
  }

  async download(
    order: VideoOrder,
    upstreamId: string,
    source: VideoSource,
    times: VideoCallTimes,
  ): Promise<Outcome<ByteReader>> {
    if (source.kind === 'inline')
      return ok(new ClipReader(readerOf(Buffer.from(source.base64, 'base64')), times, VIDEO_CLIP_BYTES_MAX))
    const way = await this.#wayOf(order)
    if (!way.ok) return fail('upstream_failed', { detail: this.#keyWords(way.failure), cause: way.failure })
    return this.#deps.protocol.download(order, { upstreamId, source }, way.value, times)
  }

  async cancel(order: VideoOrder, upstreamId: string, times: VideoCallTimes): Promise<void> {
    const way = await this.#wayOf(order)
    if (way.ok) await this.#deps.protocol.cancel(order, upstreamId, way.value, times)
  }

  async #wayOf(order: VideoOrder): Promise<Outcome<WayDeps>> {
    const key = await this.#deps.keys.of(order, this.#provider)
    if (!key.ok) return key
    const { egress, images, gone, endpoints } = this.#deps
    const { text, isOwn, extra } = key.value
    const link = new VideoLink(this.#provider, {
      egress,
      key: text,
      isOwnKey: isOwn,
      credentialHeader: (isOwn ? keyHeaderOf(this.#provider) : null) ?? headerOf(this.#provider.protocol),
      extra,
    })
    return ok({
      link,
      egress,
      images,
      gone,
      video: this.video,
      endpoint: endpoints.get(order.target.endpoint) ?? null,
    })
  }

  /**
   * The outcome without a key. Only the workspace can replace its key, and the job is bound to that key;
   * other failures may be temporary.
   */
  #keyless({ target }: VideoOrder, failure: Failure): Submitted {
    const words = this.#keyWords(failure)
    const isGone = failure.name === 'credential_unavailable'
    if (isGone && target.ownSecret !== null)
      return { kind: 'refused', error: jobError('provider_key_refused', words) }
    const retryInMs = isGone ? VIDEO_CREDENTIAL_RETRY_MS : VIDEO_UNSENT_RETRY_MS
    return { kind: 'unsent', retryInMs, error: jobError('provider_unavailable', words) }
  }

  #keyWords({ name }: Failure): string {
    return name === 'credential_unavailable'
      ? `There is no key for ${this.#provider.name}.`
      : `The key for ${this.#provider.name} cannot be read at the moment.`
  }
}

/**
 * Milliseconds that a workspace's released provider key is used before its next release, which is audited
 * again: a revoked key is not used for longer. Decision.
 */
export const VIDEO_OWN_KEY_MS = 30_000
/** Workspaces' provider keys that one runner holds at once. Decision. */
export const VIDEO_OWN_KEYS_MAX = 1_000

/** Operation under which the audit log shows the release of a key. */
const OPERATION = 'video.create'

interface KeyDeps {
  /** The operator's keys by the name of their setting. */
  readonly credentials: ReadonlyMap<string, Credential>
  readonly releases: SecretReleases
  /** Milliseconds of any clock. */
  readonly now: () => number
}

/** The key and headers for the calls of an order. */
interface OrderKey {
  /** Null: the provider needs none. */
  readonly text: string | null
  readonly isOwn: boolean
  readonly extra: ExtraHeaders
}

interface Kept {
  readonly secret: Secret
  readonly untilMs: number
}

/** Keys of orders: the operator's, or the workspace's own, which is released only for the provider's host. */
export class VideoKeys {
  readonly #deps: KeyDeps
  /** Released keys by workspace, secret and host; the oldest first. */
  readonly #kept = new Map<string, Kept>()
  readonly #releasing = new Map<string, Promise<Outcome<Secret>>>()

  constructor(deps: KeyDeps) {
    this.#deps = deps
  }

  /**
   * Failures: credential_unavailable (the operator's key is not set here; a workspace's key is gone or
   * unusable), busy, store_unavailable.
   */
  async of(order: VideoOrder, provider: Provider): Promise<Outcome<OrderKey>> {
    const { ownSecret } = order.target
    if (ownSecret !== null) {
      const released = await this.#own(order, ownSecret, provider)
      if (!released.ok) return { ok: false, failure: credentialFailure(released.failure) }
      return ok({ text: released.value.reveal(), isOwn: true, extra: plainHeaders(provider) })
    }
    const access = operatorAccess(provider, this.#deps.credentials)
    return access === null
      ? fail('credential_unavailable')
      : ok({ text: access.key, isOwn: false, extra: access.extra })
  }

  /** One release serves all orders that wait for it. */
  async #own(order: VideoOrder, name: string, provider: Provider): Promise<Outcome<Secret>> {
    const host = providerKeyHost(provider.baseUrl)
    if (host === null) return fail('secret_not_released', { fields: { name } })
    const id = `${order.workspaceId} ${name} ${host}`
    const kept = this.#kept.get(id)
    if (kept !== undefined && this.#deps.now() < kept.untilMs) return ok(kept.secret)
    const releasing =
      this.#releasing.get(id) ??
      this.#release(order, { name, host }).finally(() => this.#releasing.delete(id))
    this.#releasing.set(id, releasing)
    const released = await releasing
    this.#kept.delete(id)
    if (released.ok) this.#keep(id, released.value)
    return released
  }

  async #release(
    order: VideoOrder,
    { name, host }: { readonly name: string; readonly host: string },
  ): Promise<Outcome<Secret>> {
    const { organizationId, workspaceId, keyHash, requestId } = order
    const released = await this.#deps.releases.release({
      scope: { organizationId, workspaceId, internId: null },
      name,
      host,
      operation: OPERATION,
      by: { actor: { kind: 'key', id: keyHash }, requestId },
    })
    return released.ok && !isProviderKey(released.value.reveal())
      ? fail('secret_not_released', { fields: { name } })
      : released
  }

  #keep(id: string, secret: Secret): void {
    this.#kept.set(id, { secret, untilMs: this.#deps.now() + VIDEO_OWN_KEY_MS })
    if (this.#kept.size > VIDEO_OWN_KEYS_MAX) this.#kept.delete([...this.#kept.keys()].at(0) ?? '')
  }
}

function credentialFailure(failure: Failure): Failure {
  return failure.name === 'secret_not_released' ? { name: 'credential_unavailable' } : failure
}
