/** Which endpoints preferences leave. B1.12. */
import t from 'tap'
import type { CallableModel, Endpoint } from '../../../../src/server/ports/models/models.ts'
import type { ProviderPreferences } from '../../../../src/schemas/models/preferences.ts'
import { route, type RoutedCall } from '../../../../src/server/upstream/routing/route.ts'
import { flatPrices } from '../../../support/inference/bounded-endpoints.ts'

const UNMEASURED = { latencyMs: () => null, throughput: () => null }

const callWith = (preferences: ProviderPreferences): RoutedCall => ({
  preferences,
  parameters: () => [],
  costAt: () => 0,
  priceAt: ({ prices }) => prices,
  hasMedia: () => false,
})

/** A model whose only endpoint has these prices. */
function modelAt(promptNanoPerMillion: number, requestNano: number): CallableModel {
  const prices = flatPrices({ promptNanoPerMillion, requestNano })
  const endpoint = { prices, isUnpriced: false, text: null } as Endpoint
  return {
    id: 'm',
    isEmbedding: true,
    isWriter: false,
    isUnpriced: false,
    inputModalities: ['text'],
    video: null,
    endpoints: [endpoint],
  }
}

t.test('an endpoint whose price is exactly the highest that is wanted may be used', async (t) => {
  for (const usd of ['0.02', '1.005', '2.01', '4.1', '8.2']) {
    const price = Math.round(Number(usd) * 1_000) * 1_000_000
    for (const most of [usd, Number(usd)]) {
      const call = callWith({ max_price: { prompt: most, request: most } })
      t.ok(route(modelAt(price, price), call, () => UNMEASURED).ok, usd)
      t.notOk(route(modelAt(price + 1, 0), call, () => UNMEASURED).ok, `more than ${usd}`)
      t.notOk(route(modelAt(0, price + 1), call, () => UNMEASURED).ok, `more than ${usd}`)
    }
  }
})
