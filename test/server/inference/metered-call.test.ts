import t from 'tap'
import type { CallableModel, Endpoint } from '../../../src/server/ports/models/models.ts'
import type { StreamMeters } from '../../../src/server/ports/observe.ts'
import { MeteredCall } from '../../../src/server/inference/meter.ts'
import { flatPrices } from '../../support/inference/bounded-endpoints.ts'
import type { TokenUsage } from '../../../src/dialects/parts.ts'

type WritingTry = Parameters<MeteredCall['committed']>[0]

const shared = { provider: { slug: 'acme' } } as Endpoint
const own = { provider: { slug: 'acme' }, ownWay: { destination: null } } as Endpoint
const privateOne = { provider: { slug: 'acme' }, ownWay: { destination: {} } } as Endpoint
const model = (...endpoints: readonly Endpoint[]): CallableModel =>
  ({ id: 'acme/m', endpoints }) as CallableModel
const tryOf = (endpoint: Endpoint): WritingTry =>
  ({ model: model(endpoint), target: { endpoint }, trail: { length: 0 } }) as unknown as WritingTry
const usage = (output: number): TokenUsage => ({
  input: 1,
  cacheRead: 0,
  cacheWrite: 0,
  output,
  reasoning: 1,
})

/** The reports of a call, each with its name and its facts. */
function shown(models: readonly CallableModel[], tell: (call: MeteredCall) => void): readonly unknown[] {
  const seen: unknown[] = []
  const meters: StreamMeters = {
    of(by) {
      const tells =
        (name: string) =>
        (...facts: readonly unknown[]) =>
          void seen.push([name, by, ...facts])
      return {
        committed: tells('committed'),
        wrote: tells('wrote'),
        ended: tells('ended'),
        answered: tells('answered'),
        called: tells('called'),
      }
    },
  }
  let now = 10
  const metered = new MeteredCall(
    meters,
    { operation: 'chat.create', startedAt: 4, models },
    () => (now += 10),
  )
  metered.attempted()
  tell(metered)
  return seen
}

t.test('the name of a workspace model is not shown, and a catalogue model keeps its name', async (t) => {
  for (const [endpoint, name] of [
    [shared, 'acme/m'],
    [own, 'acme/m'],
    [privateOne, 'private'],
  ] as const) {
    const by = { operation: 'chat.create', provider: 'acme', model: name }
    const failed = { ok: false, failure: { name: 'busy' } } as const
    t.same(
      shown([model(endpoint)], (call) => call.ended(failed)),
      [['called', { ...by, provider: '' }, 'busy', false]],
    )
    const seen = shown([model(shared)], (call) => {
      call.committed(tryOf(endpoint))
      call.answered({ pausedMs: 3, isDrained: true }, tryOf(endpoint))
      call.ended(failed)
    })
    t.same(seen, [
      ['committed', by, { ms: 26, ownMs: 16, failed: 0 }],
      ['called', by, 'busy', false],
      ['ended', by, { cause: 'busy', tokens: 0, ms: 10, pausedMs: 3, isDrained: true }],
    ])
  }
})

t.test('a model with one shared endpoint is shown by its name when no endpoint has answered', async (t) => {
  const failed = { ok: false, failure: { name: 'busy' } } as const
  t.match(
    shown([model(privateOne, shared)], (call) => call.ended(failed)),
    [['called', { model: 'acme/m' }]],
  )
})

t.test('reports tokens as they grow, with reasoning, and never lowers them', async (t) => {
  const seen = shown([model(shared)], (call) => {
    call.committed(tryOf(shared))
    for (const output of [3, 3, 2, 8]) call.wrote(usage(output))
  })
  t.match(seen.slice(1), [
    ['wrote', Object, 4],
    ['wrote', Object, 5],
  ])
  t.equal(seen.length, 3)
})

t.test('reports input and dropped fields of answered calls, under the model that answered', async (t) => {
  const end = {
    ...{ model: 'acme/m', provider: 'acme', isByok: false, isUnpriced: false, attempts: 1 },
    ...{ dropped: ['seed'], failure: { name: 'upstream_slow' } as const, isEstimated: true, costNano: 0 },
    ...{ upstreamMs: 1, answer: null, finalEvents: null, upstreamId: null, finishReason: null },
    ...{ unpricedTier: null, reported: {}, price: flatPrices() },
    usage: { ...usage(2), cacheRead: 7, cacheWrite: 5 },
  }
  const seen = shown([model(shared)], (call) => {
    call.answered({ pausedMs: 0, isDrained: false }, tryOf(own))
    call.ended({ ok: true, value: end })
  })
  t.match(seen.slice(1), [
    [
      'answered',
      { provider: 'acme', model: 'acme/m' },
      { fresh: 1, cacheRead: 7, cacheWrite: 5, dropped: ['seed'] },
    ],
    ['called', Object, 'upstream_slow', true],
  ])
})
