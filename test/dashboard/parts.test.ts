import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { ROOT } from '../support/source.ts'

/** A module of the page as the compiler made it, before the build joins it with the others. */
async function moduleOf<T>(path: string): Promise<T> {
  return (await import(`${ROOT}dist/.page/src/server/dashboard/page/${path}`)) as T
}

interface Figures {
  usd(value: number | null): string
  bytes(value: number): string
  duration(milliseconds: number): string
  figure(value: number): string
  share(value: number): string
  relative(at: string, now: number): string
}

const { usd, bytes, duration, figure, share, relative } = await moduleOf<Figures>('parts/figures.js')

interface PageApi {
  createApi(
    key: string,
    onRefused: (message: string) => void,
  ): { get(path: readonly string[]): Promise<unknown> }
}

t.test('reports an answer that breaks off after its head like one that does not arrive', async (t) => {
  const server = createServer(
    (_, response) =>
      void response.writeHead(200, { 'content-length': 100 }).write('{"data":', () => response.destroy()),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => void server.close())
  const { port } = server.address() as AddressInfo
  Object.assign(globalThis, { document: { baseURI: `http://127.0.0.1:${port}/dashboard/` } })
  const { createApi } = await moduleOf<PageApi>('api.js')
  await t.rejects(createApi('k', () => undefined).get(['keys']), {
    message: 'The node cannot be reached.',
    type: 'unreachable',
  })
})

interface Budgets {
  forceOf(
    budget: Readonly<{
      effective: 'now' | 'pending'
      spent_usd: number
      lent_usd: number
      limit_usd: number
    }>,
  ): string
}

const { forceOf } = await moduleOf<Budgets>('pages/budget-dialog.js')

t.test('figures of the dashboard are written as people read them', async (t) => {
  t.same(
    [usd(0), usd(12.345), usd(0.000123), usd(-0.5), usd(null)],
    ['$0.00', '$12.35', '$0.000123', '-$0.50', '–'],
  )
  t.same([bytes(512), bytes(1_536), bytes(2 ** 40)], ['512 bytes', '1.5 KiB', '1 TiB'])
  t.same(
    [duration(0.42), duration(1_500), figure(0.1234), figure(12_345)],
    ['0.42 ms', '1.5 s', '0.123', '12,345'],
  )
  t.same([share(0.0123), share(0.5), figure(NaN)], ['1.23 %', '50 %', '–'])
})

t.test('times are shown relative to now, in the largest unit that fits', async (t) => {
  const at = '2027-01-02T00:00:00Z'
  t.equal(relative(at, Date.parse('2027-01-02T03:30:00Z')), '3 hours ago')
  t.equal(relative(at, Date.parse('2027-01-01T00:00:00Z')), 'tomorrow')
  t.equal(relative(at, Date.parse('2027-01-01T23:59:18Z')), 'in 42 seconds')
})

t.test('does not call an overdrawn limit pending when no front holds a part of its money', async (t) => {
  t.equal(forceOf({ effective: 'pending', spent_usd: 1.2, lent_usd: 0, limit_usd: 0.5 }), 'overdrawn')
  t.equal(forceOf({ effective: 'pending', spent_usd: 1.2, lent_usd: 0.1, limit_usd: 0.5 }), 'pending')
  t.equal(forceOf({ effective: 'pending', spent_usd: 0.2, lent_usd: 0, limit_usd: 0.5 }), 'pending')
  t.equal(forceOf({ effective: 'now', spent_usd: 0.5, lent_usd: 0, limit_usd: 0.5 }), 'now')
})

interface Models {
  droppedText(of: Readonly<{ dropped: readonly Readonly<{ field: string; calls: number }>[] }>): string
  cutText(cut: readonly Readonly<{ cause: string; streams: number }>[]): string
}

t.test('dropped fields and interrupted streams are shown with their counts', async (t) => {
  const { droppedText, cutText } = await moduleOf<Models>('pages/now.js')
  const dropped = [
    { field: 'seed', calls: 1_200 },
    { field: 'top_k', calls: 1 },
  ]
  t.equal(droppedText({ dropped }), 'seed 1,200, top_k 1')
  t.equal(droppedText({ dropped: [] }), '')
  t.equal(cutText([{ cause: 'client_gone', streams: 3 }]), 'Interrupted streams: 3 client_gone.')
  t.equal(cutText([]), 'No interrupted streams.')
})

interface Scale {
  readonly grid: readonly number[]
  x(point: number): number
  y(value: number): number
  pointAt(x: number): number
}

interface ChartScale {
  scaleOf(frame: Readonly<Record<string, number>>, points: number, most: number): Scale
  pathOf(values: readonly (number | null)[], scale: Pick<Scale, 'x' | 'y'>): string
  ticksOf(sinceS: number, grainS: number, of: Readonly<{ points: number; room: number }>): readonly number[]
}

const { scaleOf, pathOf, ticksOf } = await moduleOf<ChartScale>('charts/time-chart.js')
const FRAME = { width: 312, height: 132, left: 0, bottom: 24 }

t.test('a chart without points, or with one point, has a grid and positions', async (t) => {
  for (const points of [1, 2]) {
    const scale = scaleOf(FRAME, points, 0)
    t.same(scale.grid, [0, 1])
    t.same([scale.pointAt(-50), scale.pointAt(9_999)], [0, points - 1])
  }
  t.equal(pathOf([], scaleOf(FRAME, 1, 0)), '')
})

t.test('the grid of a chart has round values that cover everything drawn', async (t) => {
  for (const most of [0.0037, 0.9, 7, 12, 98_765]) {
    const { grid, y } = scaleOf(FRAME, 10, most)
    t.ok((grid.at(-1) ?? 0) >= most && grid.length <= 7, `${most}: ${grid.join(' ')}`)
    t.ok(y(grid.at(-1) ?? 0) < y(0))
  }
})

t.test('a line has a gap where nothing was measured, and a single point is visible', async (t) => {
  const path = pathOf([1, 2, null, 3, null], { x: (point) => point, y: (value) => value })
  t.equal(path, 'M0.0 1.0L1.0 2.0M3.0 3.0m-2 0a2 2 0 1 0 4 0a2 2 0 1 0 -4 0')
})

t.test('times below a chart are round, and only as many as fit', async (t) => {
  for (const [grainS, points] of [
    [1, 30],
    [10, 360],
    [60, 1_440],
    [3_600, 744],
    [86_400, 31],
  ] as const) {
    const ticks = ticksOf(1_800_000_007, grainS, { points, room: 6 })
    t.ok(ticks.length > 0 && ticks.length <= 7, `${grainS}: ${ticks.length}`)
    t.ok(ticks.every((tick) => tick >= 0 && tick < points))
  }
})

interface Prices {
  otherPrices(model: object): string
  changedPrices(change: object): string
}

interface PriceChanges {
  priceChanges(conditions: object): readonly { readonly when: string }[]
}

const { otherPrices, changedPrices } = await moduleOf<Prices>('parts/prices.js')
const { priceChanges } = await moduleOf<PriceChanges>('parts/price-changes.js')

t.test('conditions of prices are described in words, each with its prices', async (t) => {
  const overrides = [
    { min_prompt_tokens: 200_000, prompt: '0.000004', completion: '0.000015' },
    { utc_start: 2200, utc_end: 600, utc_days: ['saturday', 'sunday'], input_cache_read: '0.0000001' },
  ]
  const modifiers = [
    { when: { service_tier: 'flex' }, multiplier: '0.5' },
    { when: { speed: 'fast' }, pricing: { prompt: '0.00003', overrides: overrides.slice(0, 1) } },
  ]
  t.same(
    priceChanges({ overrides, modifiers }).map((change) => [change.when, changedPrices(change)]),
    [
      ['more than 200,000 tokens', 'prompt $4.00, completion $15.00'],
      ['22:00 to 06:00 UTC; saturday, sunday', 'input cache read $0.10'],
      ['service_tier: flex', '× 0.5'],
      ['speed: fast', 'prompt $30.00'],
      ['speed: fast; more than 200,000 tokens', 'prompt $4.00, completion $15.00'],
    ],
  )
  const pricing = { prompt: '0', completion: '0' }
  t.equal(otherPrices({ pricing }), 'free')
  t.equal(otherPrices({ pricing: { ...pricing, overrides } }), 'by length, hour')
  t.equal(
    otherPrices({ pricing: { prompt: '1', request: '0.5' }, x: { modifiers } }),
    'request $0.50, by length, tier',
  )
})
