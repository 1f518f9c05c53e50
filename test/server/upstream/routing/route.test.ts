/** Which endpoints preferences leave. B1.12. */
import t from 'tap'
import type { CallableModel, Endpoint } from '../../../../src/server/ports/models/models.ts'
import type { ProviderPreferences } from '../../../../src/schemas/models/preferences.ts'
import {
  inOrderOfConversation,
  route,
  type RoutedCall,
} from '../../../../src/server/upstream/routing/route.ts'
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

t.test('an endpoint priced exactly at the maximum may be used', async (t) => {
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

/** Which of several endpoints a conversation goes to. D4. */
const endpoint = (slug: string, price = 1): Endpoint =>
  ({
    tag: `${slug}/model-1`,
    provider: { slug, name: slug },
    prices: flatPrices({ promptNanoPerMillion: price, completionNanoPerMillion: price }),
    isUnpriced: false,
    text: {},
  }) as unknown as Endpoint

const priceOf = ({ prices }: Endpoint) => prices

const THREE = [endpoint('a'), endpoint('b'), endpoint('c')]
const CONVERSATIONS = Array.from({ length: 6_000 }, (_, nth) => `key\0maker/model-1\0${nth}`)

const firstOf = (endpoints: readonly Endpoint[], conversation: string): string =>
  inOrderOfConversation(endpoints, conversation, priceOf)[0]?.provider.slug ?? ''

t.test('conversations are spread evenly over equal endpoints, and each keeps its endpoint', async (t) => {
  const counts = new Map<string, number>()
  for (const one of CONVERSATIONS) {
    const slug = firstOf(THREE, one)
    counts.set(slug, (counts.get(slug) ?? 0) + 1)
    t.equal(firstOf([...THREE].reverse(), one), slug, 'in whatever order the catalogue has them')
  }
  for (const count of counts.values()) t.ok(Math.abs(count / 2_000 - 1) < 0.1, `${count} of 6,000`)
  t.equal(counts.size, 3)
})

t.test('removing an endpoint moves only its own conversations, spread over all others', async (t) => {
  const left = THREE.slice(0, 2)
  const moved = new Map<string, number>()
  for (const one of CONVERSATIONS) {
    const before = firstOf(THREE, one)
    const after = firstOf(left, one)
    if (before !== 'c') t.equal(after, before)
    else moved.set(after, (moved.get(after) ?? 0) + 1)
  }
  const [first = 0, second = 0] = [...moved.values()]
  t.ok(Math.abs(first / second - 1) < 0.2, `${first} and ${second}`)
})

t.test('endpoints of other prices keep the order of the catalogue', async (t) => {
  const listed = [endpoint('cheap'), endpoint('dear', 2), endpoint('late')]
  for (const one of CONVERSATIONS.slice(0, 50)) t.same(inOrderOfConversation(listed, one, priceOf), listed)
  const [base] = listed
  for (const name of ['cacheRead', 'cacheWrite', 'cacheWriteHour', 'reasoning'])
    for (const one of CONVERSATIONS.slice(0, 20)) {
      const prices = { ...base?.prices, [`${name}NanoPerMillion`]: 2 }
      const other = { ...endpoint('other'), prices } as Endpoint
      t.equal(firstOf([endpoint('first'), other], one), 'first', name)
    }
  const searched = { ...endpoint('other'), prices: { ...base?.prices, searchNano: 2 } } as Endpoint
  for (const one of CONVERSATIONS.slice(0, 20)) t.equal(firstOf([endpoint('first'), searched], one), 'first')
  const unpriced = { ...endpoint('own'), isUnpriced: true }
  t.equal(firstOf([endpoint('paid'), unpriced], 'x'), 'paid')
})

t.test('preferences of the caller come first', async (t) => {
  const model = { id: 'maker/model-1', endpoints: THREE } as unknown as CallableModel
  const routed = (preferences: ProviderPreferences | null, conversation: string): readonly string[] => {
    const call: RoutedCall = {
      preferences,
      conversationAt: () => conversation,
      parameters: () => [],
      priceAt: priceOf,
      costAt: ({ tag }) => tag.charCodeAt(0),
      hasMedia: () => false,
    }
    const found = route(model, call, () => ({ latencyMs: () => null, throughput: () => null }))
    return found.ok ? found.value.map(({ provider }) => provider.slug) : []
  }
  const seen = new Set<string>()
  for (const one of CONVERSATIONS.slice(0, 50)) {
    seen.add(routed(null, one)[0] ?? '')
    t.same(routed({ sort: 'price' }, one), ['a', 'b', 'c'])
    t.equal(routed({ order: ['b'] }, one)[0], 'b')
    t.notOk(routed({ ignore: ['c'] }, one).includes('c'))
  }
  t.equal(seen.size, 3)
})
