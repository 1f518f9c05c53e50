import t from 'tap'
import { NoHost } from '../../../src/schemas/values/store-urls.ts'
import { ReadinessWatch } from '../../../src/server/supervisor/readiness.ts'
import { keptLog } from '../../support/log.ts'
import { until } from '../../support/wait.ts'

t.test('an outage of Postgres is logged again for each new state of its hosts', async (t) => {
  const looks = [
    Error('the connection was closed'),
    new NoHost([], 'a refuses connections; b is a standby'),
    new NoHost([], 'a refuses connections; b is a standby'),
    Error('no answer in time'),
    new NoHost([], 'a does not answer; b is a standby'),
  ]
  const up = { mode: 'external', isUp: () => Promise.resolve(true) }
  const log = keptLog()
  const watch = new ReadinessWatch({
    postgres: {
      mode: 'external',
      isUp: async () => {
        const problem = looks.shift()
        if (problem !== undefined) throw problem
        return true
      },
    },
    redis: { ...up, onChange: () => () => undefined },
    storage: up,
    log,
    keyGraceMs: () => 1_000,
    now: () => 0,
  })
  t.teardown(() => watch.stop())
  await until(() => log.events.some(({ event }) => event === 'dependency_up'))
  const causes = log.events
    .filter(({ event }) => event === 'dependency_down')
    .map(({ fields }) => (fields?.['cause'] as Error).message)
  t.same(causes, [
    'the connection was closed',
    'a refuses connections; b is a standby',
    'a does not answer; b is a standby',
  ])
})
