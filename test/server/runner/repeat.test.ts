import t from 'tap'
import { repeat } from '../../../src/server/runner/repeat.ts'
import { keptLog } from '../../support/log.ts'

t.test('a chore that fails comes round again, and the log says why', async (t) => {
  const log = keptLog()
  let turns = 0
  const stop = repeat({
    name: 'swept',
    everyMs: 1,
    async run() {
      turns++
      if (turns === 1) throw new Error('no room')
      return { rows: turns }
    },
  }, { log, random: () => 0.5 })
  while (turns < 3) await new Promise((resolve) => setImmediate(resolve))
  await stop()
  t.match(log.events, [{ event: 'swept_failed' }, { event: 'swept', fields: { rows: 2 } }])
})

t.test('stopping waits for the turn under way, and none follows', async (t) => {
  let [began, ended] = [0, 0]
  let finish = (): void => undefined
  const stop = repeat({
    name: 'swept',
    everyMs: 1,
    async run() {
      began++
      await new Promise<void>((resolve) => (finish = resolve))
      ended++
      return {}
    },
  }, { log: keptLog(), random: () => 0.5 })
  while (began < 1) await new Promise((resolve) => setImmediate(resolve))
  const stopped = stop()
  finish()
  await stopped
  t.same([began, ended], [1, 1])
})
