import t from 'tap'
import { openDegradedModes } from '../../../src/server/observe/degraded.ts'
import { keptLog } from '../../support/log.ts'

t.test('a missing dependency is named with the instant it went, told once, and gone when it is back', async (t) => {
  const log = keptLog()
  let now = 1_000
  const modes = openDegradedModes({ log, epochNow: () => now })
  modes.set('redis', true)
  now = 9_000
  modes.set('redis', true)
  t.same(modes.since, { redis: '1970-01-01T00:00:01.000Z' })
  t.same(modes.flags, { postgres: false, redis: true })
  modes.set('redis', false)
  t.same(modes.since, {})
  t.same(log.events.map(({ event }) => event), ['degraded', 'recovered'])
})
