import t from 'tap'
import { adviceOn, loadFrom } from '../../../../../src/server/cli/operator/doctor/workers.ts'
import {
  BUSY_SHARE_MAX,
  IDLE_CORES_MIN,
  THREAD_WAIT_MS_MAX,
  type FrontLoad,
} from '../../../../../src/server/observe/load-advice.ts'
import { sharedNode } from '../../../../support/nodes/shared-node.ts'
import { runVerb } from '../../../../support/operator/verbs.ts'
import { until } from '../../../../support/wait.ts'

t.setTimeout(600_000)

const QUIET: FrontLoad = {
  slot: 0,
  loopShare: 0.1,
  loopDelayMs: 1,
  sessionWaitMs: 2,
  sessionShare: 0.1,
  shortWaitMs: 3,
}
const IDLE = { all: 4, idle: 2 }
const FULL = { all: 4, idle: IDLE_CORES_MIN - 0.1 }
const node = (front: Partial<FrontLoad>, fronts = 2) => ({
  fronts,
  workers: 2,
  runners: 1,
  each: [QUIET, { ...QUIET, slot: 1, ...front }],
})

t.test('reports in one line that a node has enough of every resource', (t) => {
  t.same(adviceOn(node({}), IDLE), [
    { check: 'workers', level: 'ok', detail: 'fronts: 2, worker threads: 2, runners: 1' },
    {
      check: 'load',
      level: 'ok',
      detail: 'busiest event loop 10 %, p99 delay 1.0 ms, transfer wait 2.0 ms, job wait 3.0 ms',
    },
  ])
  t.end()
})

for (const { what, front, cores, fronts = 2, detail, fix } of [
  {
    what: 'a busy event loop and idle cores: more fronts',
    front: { loopShare: BUSY_SHARE_MAX + 0.1, loopDelayMs: 20 },
    cores: IDLE,
    detail: 'the event loop of front 1 is busy 90 % of the time (p99 delay 20 ms)',
    fix: 'run `sluice scale --fronts 3`, and set SLUICE_FRONTS to keep the value after a restart',
  },
  {
    what: 'a busy event loop and no idle core: more machine',
    front: { loopShare: BUSY_SHARE_MAX + 0.1 },
    cores: FULL,
    detail: /^the event loop of front 1/,
    fix: /^no CPU core is idle/,
  },
  {
    what: 'transfers that wait: more threads',
    front: { sessionWaitMs: THREAD_WAIT_MS_MAX + 1 },
    cores: IDLE,
    detail: 'transfers of front 1 wait 101 ms for a worker thread',
    fix: 'run `sluice scale --workers 4`, and set SLUICE_WORKERS to keep the value after a restart',
  },
  {
    what: 'busy threads: more of them',
    front: { sessionShare: 0.95 },
    cores: IDLE,
    detail: 'the worker threads of front 1 are busy 95 % of the time',
    fix: 'run `sluice scale --workers 4`, and set SLUICE_WORKERS to keep the value after a restart',
  },
  {
    what: 'jobs that wait for the one thread of a front: more fronts',
    front: { shortWaitMs: THREAD_WAIT_MS_MAX * 2 },
    cores: IDLE,
    detail: 'jobs for large bodies and secrets wait 200 ms for a thread of front 1',
    fix: 'run `sluice scale --fronts 3`, and set SLUICE_FRONTS to keep the value after a restart',
  },
  {
    what: 'more fronts than cores: fewer',
    front: {},
    fronts: 6,
    cores: IDLE,
    detail: '6 fronts share 4 cores',
    fix: 'run `sluice scale --fronts 4`, and set SLUICE_FRONTS to keep the value after a restart',
  },
]) {
  t.test(what, (t) => {
    const [, advice, ...others] = adviceOn(node(front, fronts), cores)
    t.match(advice, { check: 'load', level: 'warning', detail, fix })
    t.same(others, [])
    t.end()
  })
}

t.test('shows the configured numbers next to the actual ones when they differ', (t) => {
  const load = loadFrom(
    'sluice_fronts_wanted 4\nsluice_workers_wanted 4\nsluice_runners_wanted 1\nsluice_fronts_configured 2\nsluice_workers_configured 4\n',
  )
  t.match(adviceOn(load, IDLE)[0], {
    detail: 'fronts: 4, worker threads: 4, runners: 1; configured: SLUICE_FRONTS=2 SLUICE_WORKERS=4',
  })
  t.match(adviceOn({ ...load, configured: { fronts: 4, workers: 2 } }, IDLE)[0], {
    detail: /; configured: SLUICE_FRONTS=4 SLUICE_WORKERS=2$/,
  })
  t.end()
})

t.test('a figure that a node does not report, or that is not a number, counts as 0', (t) => {
  t.same(loadFrom(''), { fronts: 0, workers: 0, runners: 0, each: [] })
  const text =
    'sluice_fronts_wanted 3\nsluice_front_event_loop_utilization{front="2"} 0.5\nsluice_workers_wanted NaN\n# HELP\n'
  const quiet = { loopDelayMs: 0, sessionWaitMs: 0, sessionShare: 0, shortWaitMs: 0 }
  t.same(loadFrom(text), { fronts: 3, workers: 0, runners: 0, each: [{ slot: 2, loopShare: 0.5, ...quiet }] })
  t.end()
})

t.test('for a running node doctor reports its actual numbers, not the settings of the shell', async (t) => {
  const { settings } = await sharedNode()
  let findings: readonly { check: string; detail: string }[] = []
  // doctor skips a node whose metrics do not arrive within three seconds.
  await until('the node tells its load', async () => {
    const { stdout } = await runVerb({ ...settings, SLUICE_FRONTS: '7' }, ['doctor', '--json'])
    ;({ findings } = JSON.parse(stdout) as { findings: typeof findings })
    return findings.some(({ check }) => check === 'load')
  })
  t.match(
    findings.find(({ check }) => check === 'workers'),
    { level: 'ok', detail: 'fronts: 1, worker threads: 1, runners: 1' },
  )
})
