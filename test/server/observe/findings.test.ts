import { availableParallelism } from 'node:os'
import t from 'tap'
import type { LiveView } from '../../../src/schemas/operator/live-view.ts'
import {
  FAILED_OF_MIN,
  FAILED_SHARE_MAX,
  findingsOf,
  type Found,
  JOURNAL_LAG_MS_MAX,
  refusals,
  REFUSED_OF_MIN,
  REFUSED_SHARE_MAX,
} from '../../../src/server/observe/findings.ts'
import { coresSince, cpuTimes, timesOf, type Cores } from '../../../src/server/observe/load-advice.ts'
import { READY } from '../../support/operator/admin-port.ts'
import { liveView } from '../../support/operator/live-view.ts'

const QUIET = liveView({ readiness: READY, webhooks: { waiting: 0, dead: 0 } })
const NO_CALLS: Found['calls'] = { all: 0, refused: 0, failed: 0, worst: null, codes: new Map() }
const found = (view: Partial<typeof QUIET> = {}, more: Partial<Found> = {}): Found => ({
  view: { ...QUIET, ...view },
  load: { fronts: 1, workers: 1, runners: 1, each: [] },
  cores: { all: 2, idle: 1 },
  calls: NO_CALLS,
  advice: [],
  silent: [],
  ...more,
})
const calls = (more: Partial<Found['calls']>): Pick<Found, 'calls'> => ({ calls: { ...NO_CALLS, ...more } })
const away = (name: 'postgres' | 'redis', reasons: readonly string[] = []) =>
  found({
    readiness: {
      ...READY,
      reasons: [`${name}_down`, ...reasons],
      dependencies: {
        ...READY.dependencies,
        [name]: {
          state: 'down',
          mode: 'external',
          since: '2027-01-01T00:00:00.000Z',
          effect: 'it is missed',
        },
      },
    },
  })

t.test('idle cores are read from the first line of /proc/stat, and waiting for disks counts as idle', (t) => {
  const stat = (idle: number, ioWait: number): string =>
    `cpu  100 5 50 ${idle} ${ioWait} 1 2 3 40 0\ncpu0 1 1 1 1 1 1 1 1 1 1\nintr 5\n`
  t.same(timesOf(stat(800, 39)), { idle: 839, all: 1_000 })
  const since = (usable: number, used: number): Cores =>
    coresSince(timesOf(stat(800, 39)), { usable, used }, timesOf(stat(840, 99)))
  t.same(since(1_000, 0), { all: 1_000, idle: availableParallelism() })
  t.same(since(0.5, 0), { all: 1, idle: 0.5 }, 'what others leave idle beyond the quota is of no use')
  t.same(since(1, 0.75), { all: 1, idle: 0.25 }, 'nor is what the node has used of it')
  t.same(since(1, 1.25), { all: 1, idle: 0 })
  const now = cpuTimes()
  t.ok(now.all > now.idle && now.idle >= 0)
  t.end()
})

t.test('reports no finding for a healthy node', (t) => {
  t.same(findingsOf(found()), [])
  t.same(
    findingsOf(
      found({ webhooks: null }, calls({ all: 1_000, failed: 1_000 * FAILED_SHARE_MAX, worst: 'a' })),
    ),
    [],
  )
  t.same(
    findingsOf(
      found(
        {},
        calls({ all: 1_000, refused: 1_000 * REFUSED_SHARE_MAX, codes: new Map([['key_unknown', 1]]) }),
      ),
    ),
    [],
  )
  t.same(findingsOf(found({}, calls({ all: REFUSED_OF_MIN - 1, refused: REFUSED_OF_MIN - 1 }))), [])
  t.same(findingsOf(found({}, calls({ all: FAILED_OF_MIN - 1, failed: FAILED_OF_MIN - 1, worst: 'a' }))), [])
  t.end()
})

const SINCE = '2027-01-01T00:00:00.000Z'
const counted = (name: 'fronts' | 'runners', ready: number, wanted: number) =>
  found({ readiness: { ...READY, [name]: { ready, wanted, configured: wanted } } })
const REFUSED = calls({
  all: 100,
  refused: 25,
  codes: new Map([
    ['body_invalid', 5],
    ['key_unknown', 20],
  ]),
})
const paid = (money: Partial<LiveView['money']>) => found({ money: { ...QUIET.money, ...money } })

for (const [what, severity, text, given] of [
  ['Postgres is away', 'bad', `Postgres has been down since ${SINCE}: it is missed`, away('postgres')],
  [
    'Postgres is away for too long',
    'bad',
    /^Postgres has been down for longer than SLUICE_KEY_GRACE/,
    away('postgres', ['key_grace_over']),
  ],
  ['Redis is away', 'warn', /^Redis has been down since/, away('redis')],
  ['a front is missing', 'bad', '1 of 2 fronts are serving', counted('fronts', 1, 2)],
  ['a runner is missing', 'bad', /^0 of 1 runners are running/, counted('runners', 0, 1)],
  [
    'a process is silent',
    'bad',
    'the runner with pid 5 does not respond',
    found({}, { silent: [{ role: 'runner', pid: 5 }] }),
  ],
  [
    'calls fail',
    'bad',
    '12 % of calls fail, most of them a.b',
    found({}, calls({ all: 100, failed: 12, worst: 'a.b' })),
  ],
  [
    'calls are refused',
    'warn',
    '25 % of calls are refused (4xx), most of them with key_unknown',
    found({}, REFUSED),
  ],
  [
    'calls are refused without a code',
    'warn',
    '25 % of calls are refused (4xx)',
    found({}, calls({ all: 100, refused: 25 })),
  ],
  [
    'something else is to be mended',
    'warn',
    'a key lies open',
    found({}, { advice: [{ detail: 'a key lies open', fix: 'put it away' }] }),
  ],
  ['a journal is broken', 'bad', /^a front cannot write its journal/, paid({ is_journal_broken: true })],
  [
    'the books are late',
    'warn',
    'the ledger is delayed by 10001 ms',
    paid({ journal_lag_ms: JOURNAL_LAG_MS_MAX + 1 }),
  ],
  [
    'webhooks were given up',
    'warn',
    '1 failed webhook delivery, 2 waiting for an attempt',
    found({ webhooks: { waiting: 2, dead: 1 } }),
  ],
  [
    'there are more fronts than cores',
    'warn',
    '3 fronts share 2 cores',
    found({}, { load: { fronts: 3, workers: 1, runners: 1, each: [] } }),
  ],
] as const) {
  t.test(`reports that ${what}, with its fix`, (t) => {
    const [first, ...others] = findingsOf(given)
    t.match(first, { severity, text, fix: /\w/ })
    t.same(others, [])
    t.end()
  })
}

t.test('a finding names its page in the dashboard, if it has one', (t) => {
  const pageOf = (one: Found): string | undefined => findingsOf(one)[0]?.page
  t.equal(pageOf(found({ webhooks: { waiting: 0, dead: 1 } })), 'webhooks?state=dead')
  t.equal(pageOf(found({}, REFUSED)), 'keys')
  t.equal(pageOf(away('postgres')), undefined)
  t.end()
})

t.test('the most frequent code of refused calls decides the advice', (t) => {
  const fixFor = (code: string): string =>
    refusals({ all: 100, refused: 100, codes: new Map([[code, 100]]) })?.fix ?? ''
  t.match(
    fixFor('rate_limited'),
    /^raise the key's requests per minute or burst.*`call_failed` with the failure `rate_limited`/,
  )
  t.match(fixFor('budget_exceeded'), /raise the workspace's budget/)
  t.match(fixFor('body_invalid'), /^find the operations and keys of these calls in the log/)
  t.end()
})

t.test('findings that affect callers now are listed before those that will', (t) => {
  const given = found(
    { webhooks: { waiting: 0, dead: 1 }, readiness: away('redis').view.readiness },
    calls({ all: 100, failed: 100, worst: null }),
  )
  t.same(
    findingsOf(given).map(({ severity }) => severity),
    ['bad', 'warn', 'warn'],
  )
  t.end()
})
