/** A front in front of providers of every protocol, each of which speaks its own alone. */
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { inferenceWith, openChat } from '../../../support/inference/chat-front.ts'
import { PROVIDER_KEY } from '../../../support/inference/chat-provider-front.ts'
import { startFakeProvider, type FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { MAKERS } from '../../../support/inference/forms-facts.ts'
import { keptLog } from '../../../support/log.ts'
import { keptSpend } from '../../../support/money/free-spend.ts'
import type { Teardown } from '../../../support/teardown.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

type Members = Readonly<Record<string, unknown>>

/** A model of a provider that speaks one protocol. */
export interface ProtocolModel {
  /** Of the provider, and after `prove/` the model's. */
  readonly slug: string
  readonly protocol: TextProtocol
  /** The provider's own name of the model. */
  readonly upstreamModel: string
  readonly answer: FakeAnswer
  /** Of the model, besides the usual members. */
  readonly more?: Members
  readonly pricing?: Members
}

const PRICING = { prompt: '0.000001', completion: '0.000002' }
const KEY_NAME = 'PROVE_PROVIDER_KEY'
/** Settings of a node that calls the providers. */
export const PROVIDER_KEYS = { [KEY_NAME]: PROVIDER_KEY }

export interface ProtocolCatalogue {
  readonly providers: readonly Members[]
  readonly models: readonly Members[]
}

/** Starts a provider for each model, and writes a catalogue of them. */
export async function startProviders(
  t: Teardown,
  models: readonly ProtocolModel[],
): Promise<ProtocolCatalogue> {
  const started = await Promise.all(
    models.map(async ({ answer, ...model }) => ({ model, provider: await startFakeProvider(answer) })),
  )
  for (const { provider } of started) t.teardown(() => provider.close())
  return {
    providers: started.map(({ model: { slug, protocol }, provider: { origin } }) => ({
      ...{ slug, name: slug, protocol: MAKERS[protocol], speaks: [protocol] },
      ...{ base_url: `${origin}/v1`, api_key_env: KEY_NAME },
    })),
    models: started.map(({ model: { slug, upstreamModel, pricing = PRICING, more } }) => ({
      ...{ id: `prove/${slug}`, name: slug, context_length: 1_000_000 },
      architecture: { input_modalities: ['text'], output_modalities: ['text'] },
      endpoints: [{ provider: slug, upstream_model: upstreamModel, pricing }],
      ...more,
    })),
  }
}

export interface ProtocolFront {
  /** Address of the API, with its prefix. */
  readonly base: string
  readonly spend: ReturnType<typeof keptSpend>
}

export async function openProtocolFront(
  t: Teardown,
  models: readonly ProtocolModel[],
): Promise<ProtocolFront> {
  const extra = await startProviders(t, models)
  const egress = openEgress()
  const log = keptLog()
  const credentials = new Map([[KEY_NAME, { reveal: () => PROVIDER_KEY }]])
  const spend = keptSpend()
  const front = await openChat(t, {
    inference: inferenceWith({ egress, credentials, log }),
    extra,
    log,
    spend,
  })
  t.teardown(() => egress.close())
  return { base: `${front.url}/api/v1`, spend }
}
