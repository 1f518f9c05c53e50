/** One organization whose calls hold the loop, and another one that calls now and then. */
import t from 'tap'
import { SHARED_CALLS_MAX, LoopShare, type LoopClock } from '../../../../src/server/limits/loop-share.ts'
import {
  accessTo,
  KEY,
  keyRecords,
  openFront,
  operation,
  OTHER_KEY,
  patient,
} from '../../../support/front.ts'
import { rawClient, requestText } from '../../../support/wire/raw-http.ts'

const HELD_MS = 10
/** Milliseconds that the clock of a test goes on at most while the machine stands still. */
const STEP_MS_MAX = 20

/** A clock under which nothing is late because the machine stood still. */
function steadyClock(): LoopClock {
  let [at, seen] = [0, performance.now()]
  return {
    now() {
      const real = performance.now()
      at += Math.min(real - seen, STEP_MS_MAX)
      seen = real
      return at
    },
    // Firing early is harmless: the account is checked again.
    later: (ms, fire) => void setTimeout(fire, Math.min(ms, STEP_MS_MAX)),
  }
}
const CONNECTIONS = 8

t.test(
  'calls of another organization run between the calls of one that occupies the loop, and none is refused',
  async (t) => {
    let heavy = 0
    const hold = () => {
      heavy++
      for (const end = performance.now() + HELD_MS; performance.now() < end;);
      return { ok: true, value: { kind: 'json', value: {} } } as const
    }
    const records = new Map(
      [...keyRecords()].map(([hash, record], at) => [
        hash,
        at === 1 ? { ...record, organizationId: 'other' } : record,
      ]),
    )
    const { url } = await openFront(
      t,
      [
        operation({ id: 'test.heavy', method: 'get', path: '/heavy', input: {}, run: hold }),
        operation({
          id: 'test.light',
          method: 'get',
          path: '/light',
          input: {},
          statuses: [400, 401, 429, 500],
        }),
      ],
      { access: accessTo(records), timers: patient() },
    )
    const status = async (path: string, key: string): Promise<number> => {
      const answer = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
      await answer.arrayBuffer()
      return answer.status
    }
    let isOver = false
    const statuses = new Set<number>()
    const flood = async (): Promise<void> => {
      while (!isOver) statuses.add(await status('/heavy', KEY))
    }
    await status('/light', OTHER_KEY)
    const floods = Array.from({ length: CONNECTIONS }, flood)
    const between: number[] = []
    for (let n = 0; n < 40; n++) {
      const before = heavy
      t.equal(await status('/light', OTHER_KEY), 200)
      between.push(heavy - before)
    }
    isOver = true
    await Promise.all(floods)
    t.same([...statuses], [200])
    // Those of the burst stand at the beginning; without turns each waits for a call of every connection.
    const later = between.slice(15).sort((a, b) => a - b)
    t.ok(
      (later[Math.floor(later.length / 2)] ?? Infinity) <= 2,
      `${between.join(' ')} calls of the heavy one while one was answered`,
    )
  },
)

t.test(
  'slow calls leave turns to another organization, and a client that disconnects frees its place',
  async (t) => {
    const ends: (() => void)[] = []
    const records = new Map(
      [...keyRecords()].map(([hash, record], at) => [
        hash,
        at === 1 ? { ...record, organizationId: 'other' } : record,
      ]),
    )
    const { url, port, settled } = await openFront(
      t,
      [
        operation({
          id: 'test.slow',
          method: 'get',
          path: '/slow',
          input: {},
          run: () =>
            new Promise((resolve) =>
              ends.push(() => resolve({ ok: true, value: { kind: 'json', value: {} } })),
            ),
        }),
        operation({ id: 'test.light', method: 'get', path: '/light', input: {} }),
      ],
      { access: accessTo(records), loop: new LoopShare(steadyClock()) },
    )
    const ask = async (key: string, path = '/slow'): Promise<number> =>
      (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).status
    /** The other organization goes on calling: alone, the first one would wait for nothing. */
    const until = async (is: () => boolean): Promise<void> => {
      do await ask(OTHER_KEY, '/light')
      while (!is())
    }
    await ask(OTHER_KEY, '/light')
    const first = Array.from({ length: SHARED_CALLS_MAX }, () => ask(KEY))
    await until(() => ends.length === SHARED_CALLS_MAX)
    const leaving = rawClient(port)
    leaving.send(requestText('GET /api/v1/slow', { authorization: `Bearer ${KEY}` }))
    const last = ask(KEY)
    const other = ask(OTHER_KEY)
    await until(() => ends.length === SHARED_CALLS_MAX + 1)
    leaving.destroy()
    await until(() => settled.some(({ isClientGone }) => isClientGone))
    t.equal(ends.length, SHARED_CALLS_MAX + 1)
    for (const end of ends.splice(0)) end()
    await until(() => ends.length === 1)
    for (const end of ends) end()
    t.same(
      await Promise.all([...first, last, other]),
      Array.from({ length: SHARED_CALLS_MAX + 2 }, () => 200),
    )
  },
)
