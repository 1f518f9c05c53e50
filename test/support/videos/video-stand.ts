/** Providers of videos as a runner has them, with a fake provider and the real gate. */
import { fail, ok } from '../../../src/schemas/failures.ts'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import type { Endpoint, Provider, ProviderVideo } from '../../../src/server/ports/models/models.ts'
import type { ReleaseRequest, SecretReleases } from '../../../src/server/ports/vault/vault.ts'
import type {
  VideoCallTimes,
  VideoOrder,
  VideoProvider,
} from '../../../src/server/ports/videos/video-providers.ts'
import type { VideoRequest, VideoTarget } from '../../../src/server/ports/videos/videos.ts'
import {
  createVideoProviders,
  type VideoProvidersOptions,
} from '../../../src/server/upstream/videos/video-providers.ts'
import { present } from '../must.ts'
import { startVideos, type FakeVideos, type VideoSettings } from './video-provider.ts'
import { endpointPrices } from '../../../src/schemas/money/read-prices.ts'
import { until } from '../wait.ts'

export const OPERATOR_KEY = 'sk-operator-0123456789abcdef'
export const OWN_KEY = 'sk-own-0123456789abcdef'

export interface VideoStand {
  readonly fake: FakeVideos
  readonly egress: Egress
  readonly provider: VideoProvider
  /** Every release that was asked for. */
  readonly releases: readonly ReleaseRequest[]
  /** Resolves when the gate holds nothing any more. */
  rest(): Promise<void>
}

export interface VideoStandOptions {
  readonly settings?: Partial<VideoSettings>
  readonly video?: Partial<ProviderVideo>
  readonly provider?: Partial<Provider>
  readonly endpoint?: Partial<Endpoint>
  readonly gate?: EgressOptions
  readonly more?: Partial<VideoProvidersOptions>
  /** Used instead of `127.0.0.1`, which no secret can be bound to. */
  readonly host?: string
}

type Teardown = { teardown(done: () => unknown): unknown }

export const FAKE_VIDEO: ProviderVideo = {
  submit: 'token',
  tokenHeader: 'idempotency-key',
  pollsPerSecond: 100,
  pollFirstMs: 10,
  pollMaxMs: 50,
  submitTimeoutMs: 5_000,
  concurrency: 100,
  takesUrls: false,
}

/** By default the gate finds every name on this machine and speaks plain HTTP there. */
export async function openVideos(t: Teardown, options: VideoStandOptions = {}): Promise<VideoStand> {
  const fake = await startVideos(options.settings)
  const egress = openEgress({
    allow: ['http:127.0.0.0/8'],
    resolve: () => Promise.resolve(['127.0.0.1']),
    ...options.gate,
  })
  t.teardown(async () => {
    await egress.close()
    await fake.close()
  })
  const asked: ReleaseRequest[] = []
  const endpoint = fakeEndpoint(fake.baseUrl.replace('127.0.0.1', options.host ?? '127.0.0.1'), options)
  const providers = createVideoProviders({
    catalogue: { models: [{ endpoints: [endpoint] }] },
    egress,
    credentials: new Map([['FAKE_KEY', new Secret(OPERATOR_KEY)]]),
    releases: releasing(asked),
    jobs: NO_JOBS,
    now: () => performance.now(),
    ...options.more,
  })
  const rest = async (): Promise<void> => {
    await until(() => egress.load.calls === 0)
  }
  return {
    fake,
    egress,
    provider: present(providers.of({ endpoint: endpoint.tag, provider: 'fake' })),
    releases: asked,
    rest,
  }
}

export function fakeEndpoint(
  baseUrl: string,
  { video, provider, endpoint }: VideoStandOptions = {},
): Endpoint {
  return {
    tag: 'fake/film-1',
    upstreamModel: 'film-1',
    prices: endpointPrices({ pricing: {} }),
    isUnpriced: true,
    quantization: null,
    isZdr: null,
    mayTrain: null,
    isDistillable: null,
    contextLength: null,
    supportedParameters: [],
    video: { pricing: null },
    text: null,
    provider: {
      slug: 'fake',
      name: 'Fake',
      protocol: 'openai',
      baseUrl,
      apiKeyEnv: 'FAKE_KEY',
      timeoutMs: 1_000,
      rename: {},
      video: { ...FAKE_VIDEO, ...video },
      ...provider,
    },
    ...endpoint,
  }
}

export interface OrderInput extends Partial<Omit<VideoOrder, 'request' | 'target'>> {
  readonly request?: Partial<VideoRequest>
  readonly target?: Partial<VideoTarget>
}

export const TOKEN = '6f1c2c0e-3f43-4b0a-9d0e-2a1f7c9b5d11'

export function orderOf(prompt: string | null, { request, target, ...more }: OrderInput = {}): VideoOrder {
  return {
    jobId: 'job-1',
    organizationId: 'org-1',
    workspaceId: 'ws-1',
    keyHash: 'hash-1',
    requestId: 'req-1',
    submitToken: TOKEN,
    target: {
      model: 'fake/film',
      provider: 'fake',
      endpoint: 'fake/film-1',
      upstreamModel: 'film-1',
      ownSecret: null,
      ...target,
    },
    request: {
      prompt,
      seconds: 4,
      resolution: null,
      aspectRatio: null,
      size: { width: 1280, height: 720 },
      seed: null,
      hasAudio: false,
      frames: [],
      references: [],
      creativity: null,
      upscaleFactor: null,
      passthrough: {},
      previousUpstreamId: null,
      user: null,
      ...request,
    },
    ...more,
  }
}

/** A call that is never ended. */
export function timesOf(more: Partial<VideoCallTimes> & { readonly ms?: number } = {}): VideoCallTimes {
  const { ms = 10_000, ...rest } = more
  return {
    endsAt: performance.now() + ms,
    signal: new AbortController().signal,
    mayWrite: () => true,
    ...rest,
  }
}

const NO_JOBS: VideoProvidersOptions['jobs'] = { run: () => Promise.resolve(fail('busy')) }

/** A vault with one own key, bound to `localhost`. */
function releasing(asked: ReleaseRequest[]): SecretReleases {
  return {
    release(request) {
      asked.push(request)
      const isBound = request.name === 'fake_api_key' && request.host === 'localhost'
      return Promise.resolve(
        isBound ? ok(new Secret(OWN_KEY)) : fail('secret_not_released', { fields: { name: request.name } }),
      )
    },
  }
}
