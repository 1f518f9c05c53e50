import t from 'tap'
import { LIVE_FIRST_MS } from '../../../../src/schemas/operator/admin-port-limits.ts'
import type { LiveView, ReadinessView } from '../../../../src/schemas/operator/live-view.ts'
import type { ChildLook } from '../../../../src/server/supervisor/fleet/fleet.ts'
import { LiveFeed } from '../../../../src/server/supervisor/admin-port/live-feed.ts'
import { READY } from '../../../support/operator/admin-port.ts'
import { callsOf, readingAt } from '../../../support/operator/live-readings.ts'
import { keptLog } from '../../../support/log.ts'
import { until } from '../../../support/nodes/node.ts'
import { pause } from '../../../support/wait.ts'

// The feed itself keeps no process from ending.
const alive = setInterval(() => undefined, 1_000)
t.teardown(() => clearInterval(alive))

/** A feed of one process that answers a call more at every look, some milliseconds apart. */
function feedStand(more: { looks?: () => Promise<readonly ChildLook[]>; lookMs?: number } = {}) {
  const log = keptLog()
  let [looks, readiness] = [0, READY as ReadinessView | null]
  const look = (): ChildLook => {
    looks++
    return {
      id: 'a',
      role: 'front',
      pid: 1,
      reading: readingAt(looks * 1_000, { calls: [callsOf('a', { 0: looks })] }),
    }
  }
  const feed = new LiveFeed({
    version: '1',
    log,
    lookMs: more.lookMs ?? 5,
    readiness: () => readiness,
    advice: () => [],
    command: 'sluice',
    looks: more.looks ?? (() => Promise.resolve([look()])),
  })
  return {
    feed,
    log,
    get looks() {
      return looks
    },
    drain() {
      readiness = null
    },
  }
}

const parsed = (json: string | null): LiveView => JSON.parse(json ?? 'null') as LiveView

t.test('each look queries the processes once for all listeners, and never without listeners', async (t) => {
  const stand = feedStand()
  t.equal(stand.looks, 0)
  const [one, other]: [string[], string[]] = [[], []]
  const leaves = [one, other].map((views) => stand.feed.subscribe((view) => views.push(view ?? '')))
  await until('some views came', () => one.length >= 3)
  t.same(one, other)
  t.equal(stand.looks, one.length + 1)
  t.match(parsed(one[0] ?? null), { version: '1', requests_per_second: 1, operations: [{ operation: 'a' }] })
  for (const leave of leaves) leave()
  const asked = stand.looks
  await pause(50)
  t.ok(stand.looks <= asked + 1)
})

t.test('the first view arrives before a whole look interval has passed', async (t) => {
  const { feed } = feedStand({ lookMs: LIVE_FIRST_MS * 10_000 })
  t.match(parsed(await feed.once()), { requests_per_second: 1 })
})

t.test('a listener that joins a running feed gets the last view at once', async (t) => {
  const { feed } = feedStand()
  const [one, late]: [(string | null)[], (string | null)[]] = [[], []]
  const leave = feed.subscribe((view) => one.push(view))
  await until('a view came', () => one.length > 0)
  feed.subscribe((view) => late.push(view))()
  t.same(late, one.slice(-1))
  leave()
})

t.test('a request for a single view gets the next one, whether the feed is running or not', async (t) => {
  const stand = feedStand()
  t.match(parsed(await stand.feed.once()), { requests_per_second: 1 })
  stand.feed.subscribe(() => undefined)
  t.match(parsed(await stand.feed.once()), { requests_per_second: 1 })
  stand.drain()
})

t.test('a draining node and a closed feed send no more views', async (t) => {
  const stand = feedStand()
  const views: (string | null)[] = []
  stand.feed.subscribe((view) => views.push(view))
  await until('a view came', () => views.length > 0)
  stand.drain()
  await until('the end is told', () => views.at(-1) === null)
  t.same(stand.log.events, [])
  const closed = feedStand()
  const waiting = closed.feed.once()
  closed.feed.close()
  t.equal(await waiting, null)
})

t.test('logs a look that fails, and ends the views', async (t) => {
  const stand = feedStand({ looks: () => Promise.reject(new Error('broken')) })
  t.equal(await stand.feed.once(), null)
  t.match(stand.log.events, [{ event: 'live_view_failed' }])
})
