import t from 'tap'
import type { TextRequest } from '../../../src/schemas/inference/text-request.ts'
import type { CallableModel, Endpoint } from '../../../src/server/ports/models/models.ts'
import { OUTPUT_TOKENS_USUAL, RoutedText } from '../../../src/server/inference/plan.ts'
import { route } from '../../../src/server/upstream/routing/route.ts'
import { flatPrices } from '../../support/inference/bounded-endpoints.ts'

const endpoint = (prompt: number, completion: number): Endpoint =>
  ({
    prices: flatPrices({
      promptNanoPerMillion: prompt * 1e6,
      completionNanoPerMillion: completion * 1e6,
    }),
    text: {},
  }) as unknown as Endpoint

const asked = (promptBytesMost: number, tokensMax: number | null, choices = 1): RoutedText =>
  new RoutedText({ choices, size: { promptBytesMost, tokensMax } } as unknown as TextRequest, {
    ...{ caller: { key: 'k' }, session: null, at: 0 },
  })

t.test('the cost of a call is the cost of its prompt and of an answer of usual length', async (t) => {
  t.equal(asked(400, null).costAt(endpoint(1, 2)), 100 + 2 * OUTPUT_TOKENS_USUAL)
  t.equal(asked(400, 10, 3).costAt(endpoint(1, 2)), 100 + 2 * 10 * 3)
  t.equal(asked(400, 1_000_000).costAt(endpoint(1, 2)), 100 + 2 * OUTPUT_TOKENS_USUAL)
})

t.test('a long prompt and a short answer prefer a different endpoint than a short prompt', async (t) => {
  const [reads, writes] = [endpoint(1, 10), endpoint(10, 1)]
  const long = asked(100_000, 1)
  t.ok(long.costAt(reads) < long.costAt(writes))
  const short = asked(4, null)
  t.ok(short.costAt(writes) < short.costAt(reads))
})

t.test(
  'a conversation is identified by its session, else its name, else its texts, for each key',
  async (t) => {
    const at = (session: string | null, name: string | null, key = 'k', id = 'm'): string =>
      new RoutedText({ conversation: { name, prefix: 7 } } as unknown as TextRequest, {
        at: 0,
        caller: { key },
        session,
      }).conversationAt({ id } as CallableModel)
    t.equal(at('s', 'n'), at('s', 'other'))
    t.equal(at(null, 'n'), at(null, 'n'))
    t.equal(
      new Set([at('s', 'n'), at(null, 'n'), at(null, null), at('s', 'n', 'k2'), at('s', 'n', 'k', 'm2')])
        .size,
      5,
    )
  },
)

t.test('require_parameters keeps only the endpoints that have the parameters of the call', async (t) => {
  const endpoints = [['seed'], ['seed', 'stop'], []].map((supportedParameters) => ({
    ...endpoint(1, 1),
    supportedParameters,
  }))
  const model = { id: 'm', endpoints } as unknown as CallableModel
  const request = {
    parameters: ['stop'],
    provider: { require_parameters: true },
    conversation: { name: null, prefix: 1 },
  }
  const call = new RoutedText(request as unknown as TextRequest, {
    caller: { key: 'k' },
    session: null,
    at: 0,
  })
  const found = route(model, call, () => ({ latencyMs: () => null, throughput: () => null }))
  t.same(found, { ok: true, value: [endpoints[1]] })
})
