import t from 'tap'
import { FRONTS_MAX, WORKERS_MAX } from '../../../../src/schemas/limits/limits.ts'
import { StartRefused } from '../../../../src/server/supervisor/start-refused.ts'
import { turnOfLoop } from '../../../support/nodes/scripted-fleet.ts'
import { scriptedReload } from '../../../support/nodes/scripted-reload.ts'

const TWO = { SLUICE_FRONTS: '2', SLUICE_WORKERS: '2' }

t.test('a request changes settings and config, and restarts as few fronts as it can', async (t) => {
  const { reloader, rolls, endRoll, adopted } = scriptedReload(TWO)
  const scaled = reloader.scale({ fronts: 4, workers: null })
  await turnOfLoop()
  endRoll()
  t.same(await scaled, { state: 'done', before: { fronts: 2, workers: 2 }, now: { fronts: 4, workers: 4 } })
  t.match(reloader.current, {
    config: { fronts: 4, workers: 2 },
    settings: { SLUICE_FRONTS: '4', SLUICE_WORKERS: '2' },
  })
  t.same(rolls, [{ isSparing: true }])
  t.same(adopted, [], 'nothing was read anew')
})

t.test('a request for the numbers that already serve is done at once', async (t) => {
  const { reloader, rolls } = scriptedReload(TWO)
  const counts = { fronts: 2, workers: 2 }
  t.same(await reloader.scale({ fronts: 2, workers: 2 }), { state: 'done', before: counts, now: counts })
  t.same(rolls, [])
})

for (const [input, reason] of [
  [{ fronts: FRONTS_MAX + 1, workers: null }, 'fronts: a whole number from 1 to 256'],
  [{ fronts: 0, workers: null }, 'fronts: a whole number from 1 to 256'],
  [{ fronts: 1.5, workers: null }, 'fronts: a whole number from 1 to 256'],
  [{ fronts: 3, workers: WORKERS_MAX + 1 }, 'workers: a whole number from 1 to 1024'],
] as const) {
  t.test(`${JSON.stringify(input)} is refused, and the error states the limit`, async (t) => {
    const { reloader, rolls, first } = scriptedReload(TWO)
    t.same(await reloader.scale(input), { state: 'refused', reason })
    t.equal(reloader.current, first)
    t.same(rolls, [])
  })
}

t.test('refuses more fronts than Postgres has connections for, and skips the check for fewer', async (t) => {
  const { reloader, endRoll, refuse, checked } = scriptedReload(TWO)
  refuse(new StartRefused('raise its max_connections'))
  t.same(await reloader.scale({ fronts: 3, workers: null }), {
    state: 'refused',
    reason: 'raise its max_connections',
  })
  const scaled = reloader.scale({ fronts: 1, workers: null })
  await turnOfLoop()
  endRoll()
  t.match(await scaled, { state: 'done', now: { fronts: 1 } })
  t.same(checked, [3])
})

t.test('an error that only the log may have is not in the answer', async (t) => {
  const { reloader, refuse, log } = scriptedReload(TWO)
  refuse(new Error('connect ECONNREFUSED 10.0.0.7'))
  t.same(await reloader.scale({ fronts: 3, workers: null }), {
    state: 'refused',
    reason: 'an error; see the log of the node',
  })
  t.match(log.events.at(-1), { event: 'scale_refused' })
})

t.test('a request during a reload runs after it, with the settings that the reload read', async (t) => {
  const { reloader, rolls, endRoll, next } = scriptedReload(TWO)
  next({ ...TWO, SLUICE_LOG_LEVEL: 'warn' })
  void reloader.ask()
  const scaled = reloader.scale({ fronts: 3, workers: null })
  await turnOfLoop()
  t.same(rolls, [{}])
  endRoll()
  await turnOfLoop()
  t.same(rolls, [{}, { isSparing: true }])
  endRoll()
  t.match(await scaled, { state: 'done' })
  t.match(reloader.current.config, { fronts: 3, logLevel: 'warn' })
})

t.test('a roll that fails keeps the old numbers, and the next request is done', async (t) => {
  const { reloader, endRoll, first } = scriptedReload(TWO)
  const failed = reloader.scale({ fronts: 3, workers: null })
  await turnOfLoop()
  endRoll(new StartRefused('front 2 ended 5 times in a row'))
  t.same(await failed, { state: 'refused', reason: 'front 2 ended 5 times in a row' })
  t.equal(reloader.current, first)
  const scaled = reloader.scale({ fronts: 1, workers: null })
  await turnOfLoop()
  endRoll()
  t.match(await scaled, { state: 'done', before: { fronts: 2 }, now: { fronts: 1 } })
})

t.test('a reload keeps the requested number until its setting changes', async (t) => {
  const { reloader, endRoll, next } = scriptedReload(TWO)
  const scaled = reloader.scale({ fronts: 4, workers: 8 })
  await turnOfLoop()
  endRoll()
  await scaled
  const frontsAfter = async (texts: Readonly<Record<string, string>>): Promise<readonly number[]> => {
    next(texts)
    const asked = reloader.ask()
    await turnOfLoop()
    endRoll()
    await asked
    const { fronts, workers } = reloader.current.config
    return [fronts, workers]
  }
  t.same(await frontsAfter({ ...TWO, SLUICE_LOG_LEVEL: 'warn' }), [4, 8])
  t.same(await frontsAfter({ ...TWO, SLUICE_FRONTS: '3' }), [3, 8])
  t.same(await frontsAfter(TWO), [2, 8], 'the setting is what counts from then on')
})

t.test('a node that drains does not scale', async (t) => {
  const { reloader, rolls } = scriptedReload(TWO)
  reloader.end()
  t.same(await reloader.scale({ fronts: 3, workers: null }), {
    state: 'refused',
    reason: 'the node is shutting down',
  })
  t.same(rolls, [])
})
