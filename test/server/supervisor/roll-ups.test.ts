import t from 'tap'
import type { HistoryHour } from '../../../src/server/ports/operator/history.ts'
import { RollUps } from '../../../src/server/supervisor/node-history.ts'
import { HISTORY_MINUTES_KEPT, HISTORY_ROLL_UP_MS } from '../../../src/schemas/operator/admin-port-limits.ts'

/** A whole hour of the year 2027. */
const HOUR_S = 1_800_000_000
const STEP_S = HISTORY_ROLL_UP_MS / 1_000

/** Roll-ups into a store that takes nothing while it is away. */
function stand() {
  const kept: HistoryHour[] = []
  const store = { isAway: false }
  const rollUps = new RollUps({
    run: 'r',
    hour: (hourS) => ({ hourS, seconds: 1, rows: [], events: [] }),
    keep: (hour) => {
      if (!store.isAway) kept.push(hour)
      return Promise.resolve(!store.isAway)
    },
  })
  return { rollUps, store, hours: () => kept.splice(0).map(({ hourS }) => (hourS - HOUR_S) / 3_600) }
}

t.test('an outage of the store delays hours, and loses none of the last day', async (t) => {
  const { rollUps, store, hours } = stand()
  store.isAway = true
  for (let hour = 0; hour < 4; hour++) {
    rollUps.came(HOUR_S + hour * 3_600)
    await rollUps.write(HOUR_S + hour * 3_600 + STEP_S)
  }
  t.same(hours(), [])
  store.isAway = false
  await rollUps.write(HOUR_S + 4 * 3_600)
  t.same(hours(), [0, 1, 2, 3])
  store.isAway = true
  rollUps.came(HOUR_S)
  await rollUps.write(HOUR_S)
  store.isAway = false
  await rollUps.write(HOUR_S + HISTORY_MINUTES_KEPT * 60)
  t.notOk(hours().includes(0), 'what is no longer in memory is not written as if it were empty')
})

t.test('a call that arrives while its hour is written makes the hour due again', async (t) => {
  const hours: number[] = []
  const rollUps: RollUps = new RollUps({
    run: 'r',
    hour: (hourS) => ({ hourS, seconds: 1, rows: [], events: [] }),
    keep: ({ hourS }) => {
      if (hours.push(hourS) === 1) rollUps.came(HOUR_S)
      return Promise.resolve(true)
    },
  })
  rollUps.came(HOUR_S)
  await rollUps.write(HOUR_S + 1)
  await rollUps.write(HOUR_S + 2)
  await rollUps.write(HOUR_S + 3)
  t.same(hours, [HOUR_S, HOUR_S])
})

t.test('an hour without calls is written once, when it is over', async (t) => {
  const { rollUps, hours } = stand()
  for (let second = 0; second <= 3_600; second += STEP_S) await rollUps.write(HOUR_S + second)
  t.same(hours(), [0])
  await rollUps.write(HOUR_S + 3_600 + STEP_S)
  t.same(hours(), [])
})
