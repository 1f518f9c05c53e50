import t from 'tap'
import { repeat } from '../../../src/server/runner/repeat.ts'
import { keptLog } from '../../support/log.ts'

t.test('a failed chore runs again in its next turn, and the log has the reason', async (t) => {
  const log = keptLog()
  let turns = 0
  const stop = repeat(
    {
      name: 'swept',
      everyMs: 1,
      async run() {
        turns++
        if (turns === 1) throw new Error('no room')
        return { rows: turns }
      },
    },
    { log, random: () => 0.5 },
  )
  while (turns < 3) await new Promise((resolve) => setImmediate(resolve))
  await stop()
  t.match(log.events, [{ event: 'swept_failed' }, { event: 'swept', fields: { rows: 2 } }])
})

t.test('stopping waits for the running turn, and none follows', async (t) => {
  let [began, ended] = [0, 0]
  let finish = (): void => undefined
  const stop = repeat(
    {
      name: 'swept',
      everyMs: 1,
      async run() {
        began++
        await new Promise<void>((resolve) => (finish = resolve))
        ended++
        return {}
      },
    },
    { log: keptLog(), random: () => 0.5 },
  )
  while (began < 1) await new Promise((resolve) => setImmediate(resolve))
  const stopped = stop()
  finish()
  await stopped
  t.same([began, ended], [1, 1])
})

t.test('a requested turn starts at once or after the running one, and never after the end', async (t) => {
  let turns = 0
  let finish = (): void => undefined
  let ask = (): void => undefined
  const stop = repeat(
    {
      name: 'swept',
      everyMs: 3_600_000,
      onRequest: (runNow) => (ask = runNow),
      async run() {
        turns++
        await new Promise<void>((resolve) => (finish = resolve))
        return {}
      },
    },
    { log: keptLog(), random: () => 0.5 },
  )
  ask()
  t.equal(turns, 1)
  for (let times = 0; times < 3; times++) ask()
  t.equal(turns, 1)
  finish()
  while (turns < 2) await new Promise((resolve) => setImmediate(resolve))
  finish()
  await stop()
  ask()
  t.equal(turns, 2)
})
