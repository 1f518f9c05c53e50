import t from 'tap'
import { StartRefused } from '../../../src/server/supervisor/start-refused.ts'
import { catalogueFile } from '../../support/models/catalogue.ts'
import { NO_OPENSSL, selfSigned } from '../../support/wire/certificate.ts'
import { turnOfLoop } from '../../support/nodes/scripted-fleet.ts'
import { scriptedReload } from '../../support/nodes/scripted-reload.ts'

t.test('a reload that is asked for during a roll is done once, after it', async (t) => {
  const { reloader, rolls, endRoll, tell } = scriptedReload()
  const first = reloader.ask()
  await turnOfLoop()
  void reloader.ask()
  void reloader.ask()
  await turnOfLoop()
  t.equal(rolls.length, 1)
  endRoll()
  await turnOfLoop()
  t.equal(rolls.length, 2)
  endRoll()
  await first
  t.equal(rolls.length, 2)
  t.same(
    tell.map(({ number, state }) => [number, state]),
    [
      [0, 'none'],
      [1, 'running'],
      [1, 'done'],
      [2, 'running'],
      [2, 'done'],
    ],
  )
})

t.test('the record names the catalogue file that the node uses, also after a refused reload', async (t) => {
  const { reloader, endRoll, next, tell } = scriptedReload()
  const [one, two] = [catalogueFile(t, {}), catalogueFile(t, {})]
  t.equal(tell[0]?.catalogFile, null)
  for (const [file, problem] of [
    [one, undefined],
    [two, new StartRefused('front 1 ended 5 times in a row')],
  ] as const) {
    next({ SLUICE_CATALOG: file })
    const asked = reloader.ask()
    await turnOfLoop()
    endRoll(problem)
    await asked
    t.equal(tell.at(-1)?.catalogFile, one)
  }
})

t.test('a reload that is queued when the node drains is not done', async (t) => {
  const { reloader, rolls, endRoll } = scriptedReload()
  const first = reloader.ask()
  await turnOfLoop()
  void reloader.ask()
  reloader.end()
  endRoll()
  await first
  await reloader.ask()
  t.equal(rolls.length, 1)
})

t.test('a roll that fails leaves the generation as it was, and is reported with its reason', async (t) => {
  const { reloader, endRoll, next, tell, adopted, first } = scriptedReload()
  next({ SLUICE_FRONTS: '3' })
  const asked = reloader.ask()
  await turnOfLoop()
  endRoll(new StartRefused('front 1 ended 5 times in a row'))
  await asked
  t.equal(reloader.current, first)
  t.same(adopted, [])
  t.match(tell.at(-1), { state: 'refused', reason: 'front 1 ended 5 times in a row' })
})

t.test(
  'settings that need a restart keep their old value, in the settings of children and in the config',
  async (t) => {
    const { reloader, endRoll, next, log, tell } = scriptedReload({ SLUICE_PORT: '8081' })
    next({ SLUICE_PORT: '8082', DATABASE_URL: 'postgres://h/other', SLUICE_FRONTS: '3' })
    const asked = reloader.ask()
    await turnOfLoop()
    endRoll()
    await asked
    const { settings, config } = reloader.current
    t.same(settings, { SLUICE_PORT: '8081', SLUICE_FRONTS: '3' })
    t.match(config, { port: 8081, databaseUrl: null, fronts: 3 })
    t.match(log.events[0], {
      event: 'settings_need_restart',
      fields: { settings: ['SLUICE_PORT', 'DATABASE_URL'] },
    })
    t.same(tell.at(-1)?.needRestart, ['SLUICE_PORT', 'DATABASE_URL'])
  },
)

t.test(
  'a reload cannot turn TLS on or off, because one port would then serve both',
  { skip: NO_OPENSSL },
  async (t) => {
    const files = selfSigned(t)
    const tls = { SLUICE_TLS_CERT: files.certFile, SLUICE_TLS_KEY: files.keyFile }
    for (const [before, after] of [
      [tls, {}],
      [{}, tls],
    ] as const) {
      const { reloader, endRoll, next, first } = scriptedReload(before)
      next(after)
      const asked = reloader.ask()
      await turnOfLoop()
      endRoll()
      await asked
      t.same(reloader.current.settings, before)
      t.same(reloader.current.config.tls, first.config.tls)
      t.same(reloader.current.frozen, first.frozen)
    }
  },
)

t.test('a reload accepts another certificate only if it matches its key', { skip: NO_OPENSSL }, async (t) => {
  const [old, renewed] = [selfSigned(t), selfSigned(t)]
  const { reloader, rolls, endRoll, next, tell } = scriptedReload({
    SLUICE_TLS_CERT: old.certFile,
    SLUICE_TLS_KEY: old.keyFile,
  })
  next({ SLUICE_TLS_CERT: renewed.certFile, SLUICE_TLS_KEY: old.keyFile })
  await reloader.ask()
  t.match(tell.at(-1), { state: 'refused', reason: /do not work together/ })
  t.same(rolls, [])
  next({ SLUICE_TLS_CERT: renewed.certFile, SLUICE_TLS_KEY: renewed.keyFile })
  const asked = reloader.ask()
  await turnOfLoop()
  endRoll()
  await asked
  t.equal(reloader.current.config.tls?.certFile, renewed.certFile)
})
