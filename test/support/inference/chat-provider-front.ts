/**
 * A front whose models are written by fake providers: catalogue, gate, credentials and log as a front has.
 */
import { ATTEMPTS_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type { Egress } from '../../../src/server/ports/egress/egress.ts'
import type { Inference } from '../../../src/server/ports/inference/inference.ts'
import type { BreakerReading, StreamMeters } from '../../../src/server/ports/observe.ts'
import { keptLog } from '../log.ts'
import type { Teardown } from '../teardown.ts'
import { until } from '../wait.ts'
import { inferenceWith, openChat, type ChatFront, type ChatFrontOptions } from './chat-front.ts'
import { answersChat } from './fake-chat.ts'
import { startFakeProvider, type FakeProvider } from './fake-provider.ts'

/** The key of both providers. */
export const PROVIDER_KEY = 'provider-key-0123456789'

export interface ChatProviderFront extends ChatFront {
  /**
   * The providers of `acme/chat`, in the catalogue's order; `acme/one` has the first alone, `acme/bounded` a
   * maximum, `acme/many` more endpoints of the first than a call tries, `acme/other` another model of the
   * second provider.
   */
  readonly first: FakeProvider
  readonly second: FakeProvider
  readonly egress: Egress
  /** The breakers of the providers, as the front's metrics report them. */
  breakers(): readonly BreakerReading[]
  readonly log: ReturnType<typeof keptLog>
  /** Resolves when no call is under way any more, with the bytes that are still held. */
  rest(): Promise<number>
}

export interface ChatProviderOptions extends Omit<ChatFrontOptions, 'inference' | 'extra' | 'log'> {
  readonly egress?: EgressOptions
  readonly streamHoldMs?: number
  /** The clock by which endpoints are measured. */
  readonly now?: () => number
  readonly streams?: StreamMeters
  /** Stands between the operations and the models. */
  readonly around?: (inference: Inference) => Inference
  /** Members of both providers besides the usual ones. */
  readonly providers?: Members
  /** Members of the first provider besides the usual ones. */
  readonly firstProvider?: Members
  /** Members of the first endpoint of both models besides the usual ones. */
  readonly firstFacts?: Members
  readonly secondFacts?: Members
  /** Members of the endpoint of `acme/other` besides the usual ones. */
  readonly otherFacts?: Members
  /** Of `acme/chat`; absent: the catalogue does not say. */
  readonly architecture?: Members
}

export async function openChatProvider(
  t: Teardown,
  options: ChatProviderOptions = {},
): Promise<ChatProviderFront> {
  const [first, second] = await Promise.all([
    startFakeProvider(answersChat()),
    startFakeProvider(answersChat()),
  ])
  // Every test of chats sees whether lent bytes are kept too long.
  const egress = openEgress({ isPoisoned: true, ...options.egress })
  const log = keptLog()
  const clock = options.now === undefined ? {} : { now: options.now }
  const hold = options.streamHoldMs === undefined ? {} : { streamHoldMs: options.streamHoldMs }
  const credentials = new Map([['SET_KEY', { reveal: () => PROVIDER_KEY }]])
  const meters = options.streams === undefined ? {} : { streams: options.streams }
  const inference = inferenceWith({ egress, credentials, log, ...hold, ...meters, ...clock })
  const extra = catalogueDocument(first.origin, second.origin, options)
  const around = options.around?.(inference) ?? inference
  const front = await openChat(t, { ...options, inference: around, extra, log })
  t.teardown(async () => {
    await egress.close()
    await Promise.all([first.close(), second.close()])
  })
  return {
    ...front,
    first,
    second,
    egress,
    breakers: () => inference.breakers(),
    log,
    rest: async () => {
      await until(() => egress.load.calls === 0)
      return egress.load.heldBytes
    },
  }
}

type Members = Readonly<Record<string, unknown>>

/** Prices in USD for a token: nice to count with. */
const PRICING = { prompt: '0.000001', completion: '0.000002' }
/** The same but for what a cache had: conversations would share endpoints of one price. These keep their order. */
const OTHER_PRICING = { ...PRICING, input_cache_read: '0.0000009' }

function catalogueDocument(first: string, second: string, options: ChatProviderOptions): unknown {
  const { providers, firstProvider, firstFacts, secondFacts } = options
  const endpoints = [
    endpoint('first', firstFacts),
    endpoint('second', { pricing: OTHER_PRICING, ...secondFacts }),
  ]
  return {
    providers: [
      provider('first', 'First', first, { ...providers, ...firstProvider }),
      provider('second', 'Second', second, providers),
    ],
    models: [
      {
        ...model('acme/chat', endpoints),
        ...(options.architecture && { architecture: options.architecture }),
      },
      model('acme/one', endpoints.slice(0, 1)),
      model('acme/other', [endpoint('second', { upstream_model: 'other-model', ...options.otherFacts })]),
      model(
        'acme/many',
        Array.from({ length: ATTEMPTS_MAX + 1 }, (_, nth) =>
          endpoint('first', { upstream_model: `many-${nth}` }),
        ),
      ),
      {
        ...model('acme/bounded', endpoints),
        context_length: 1_000,
        top_provider: { max_completion_tokens: 100 },
      },
    ],
  }
}

function provider(slug: string, name: string, origin: string, more: Members = {}): Members {
  return { slug, name, protocol: 'openai', base_url: `${origin}/v1`, api_key_env: 'SET_KEY', ...more }
}

function endpoint(slug: string, more: Members = {}): Members {
  return { provider: slug, upstream_model: `${slug}-model`, pricing: PRICING, ...more }
}

function model(id: string, endpoints: readonly Members[]): Members {
  return { id, name: id, endpoints }
}
