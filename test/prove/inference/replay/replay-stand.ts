/** A front with a model for each call, whose providers are all one scripted server. */
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { createEmbedder } from '../../../../src/server/inference/embedder.ts'
import { threads } from '../../../support/front.ts'
import { inferenceWith, openChat } from '../../../support/inference/chat-front.ts'
import { startFakeProvider, type FakeCall } from '../../../support/inference/fake-provider.ts'
import { keptLog } from '../../../support/log.ts'
import type { Teardown } from '../../../support/teardown.ts'
import type { ReplayCall, ReplayEndpoint } from './cases.ts'

export interface ReplayStand {
  readonly port: number
  readonly providerPort: number
  /** Requests that providers of the call got, in order. */
  got(call: ReplayCall): readonly FakeCall[]
  close(): Promise<void>
}

const PROVIDER_KEY = 'provider-key-0123456789'
/** Of a request: the call and the endpoint that it is for. */
const PLACE = /^\/c(\d+)\/(\d)\//
/** Below the address of a provider, as its protocol has it. */
const VERSIONS = { openai: 'v1', anthropic: 'v1', google: 'v1beta', cohere: 'v2' }
/** Prices in USD for a token: nice to count with. */
const PRICING = { prompt: '0.000001', completion: '0.000002' }

export async function openReplay(calls: readonly ReplayCall[]): Promise<ReplayStand> {
  const closers: (() => Promise<void> | void)[] = []
  const scope: Teardown = { teardown: (done) => void closers.push(done) }
  const byNumber = new Map(calls.map((call) => [call.nth, call]))
  const got = new Map<number, FakeCall[]>()
  const provider = await startFakeProvider((request, reply) => {
    const [, nth, at] = PLACE.exec(request.path) ?? []
    const call = byNumber.get(Number(nth))
    const endpoint = call?.endpoints[Number(at)]
    if (call === undefined || endpoint === undefined) throw new Error(`nobody answers ${request.path}`)
    got.set(call.nth, [...(got.get(call.nth) ?? []), request])
    return endpoint.answer(request, reply)
  })
  scope.teardown(() => provider.close())
  const egress = openEgress({ resolve: () => Promise.reject(new Error('no name resolves')) })
  scope.teardown(() => egress.close())
  const log = keptLog()
  // Unreported tokens are estimated by the time that an answer took: it takes none.
  const opened = performance.now()
  const now = (): number => opened
  const credentials = new Map([['SET_KEY', { reveal: () => PROVIDER_KEY }]])
  const front = await openChat(scope, {
    log,
    inference: inferenceWith({ egress, credentials, log, now }),
    embedder: createEmbedder({
      ...{ egress, credentials, log, jobs: threads() },
      meters: { upstream: () => undefined },
      now,
      random: () => 0.5,
    }),
    extra: catalogueOf(calls, provider.origin),
  })
  return {
    port: front.port,
    providerPort: Number(new URL(provider.origin).port),
    got: ({ nth }) => got.get(nth) ?? [],
    async close() {
      for (const close of closers.reverse()) await close()
    },
  }
}

function catalogueOf(calls: readonly ReplayCall[], origin: string): unknown {
  return {
    providers: calls.flatMap(({ nth, endpoints }) =>
      endpoints.map(({ slug, form, more }, at) => ({
        slug,
        name: slug,
        protocol: form.protocol,
        base_url: `${origin}/c${nth}/${at}/${VERSIONS[form.protocol]}`,
        api_key_env: 'SET_KEY',
        ...more,
      })),
    ),
    models: calls.map(({ model, path, endpoints }) => ({
      id: model,
      name: model,
      ...(path === '/embeddings' ? EMBEDDING : {}),
      endpoints: endpoints.map(endpointOf),
    })),
  }
}

const EMBEDDING = {
  architecture: { input_modalities: ['text', 'image', 'audio'], output_modalities: ['embeddings'] },
}

/** Of several with one price, conversations choose: the second has another one. */
function endpointOf({ slug, form }: ReplayEndpoint, at: number): unknown {
  const isText = form.speaks !== null
  const pricing = isText ? PRICING : { prompt: PRICING.prompt }
  const dearer = isText ? { input_cache_read: '0.0000009' } : { prompt: '0.000002' }
  return {
    provider: slug,
    upstream_model: `model-${at}`,
    pricing: at === 0 ? pricing : { ...pricing, ...dearer },
    ...(form.speaks === null ? {} : { speaks: [form.speaks] }),
  }
}
