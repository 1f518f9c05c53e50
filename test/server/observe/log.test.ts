import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Secret } from '../../../src/schemas/secret.ts'
import { createLog, type OwnedLog } from '../../../src/server/observe/log.ts'

const CANARY = 'cana"ry/sec+ret-5f2c\\91'

t.test('an event is one JSON line with its name, level, instant and the base fields', async (t) => {
  const { log, lines } = kept()
  log.info('front_ready', { port: 8080 })
  const line = JSON.parse(lines[0] ?? '')
  t.match(line, { level: 'info', event: 'front_ready', role: 'front', port: 8080 })
  t.ok(Number.isFinite(Date.parse(line.time)))
})

t.test('a canary secret appears in no line, whatever field carries it', async (t) => {
  const { log, lines } = kept([new Secret(CANARY)])
  const places: Record<string, unknown> = {
    plain: CANARY, nested: { deep: { deeper: [CANARY] } }, wrapped: new Secret(CANARY), inText: `url?key=${CANARY}&x`,
    percent: encodeURIComponent(CANARY), json: JSON.stringify({ a: CANARY }), cause: new Error(`no ${CANARY}`, { cause: new Error(CANARY) }),
    error: Object.assign(new Error('x'), { query: CANARY, parameters: [CANARY] }), [CANARY]: 'as a name',
  }
  for (const [name, value] of Object.entries(places)) log.error('event', { [name]: value })
  log.error(CANARY, { authorization: CANARY, body: CANARY })
  t.equal(lines.length, 10)
  for (const form of [CANARY, JSON.stringify(CANARY).slice(1, -1), encodeURIComponent(CANARY)]) {
    t.notOk(lines.join('').includes(form), 'no form of it')
  }
})

t.test('unknown secrets are struck out where their place tells: bearer tokens, passwords of URLs, named fields', async (t) => {
  const { log, lines } = kept()
  log.error('event', {
    header: `Bearer ${CANARY}`, also: `authorization: bearer tok-${CANARY}`, url: 'postgres://sluice:canary-pw@host/db',
    authorization: 'canary-a', request: { password: 'canary-b', input: ['canary-c'] }, a: { b: { token: 'canary-d' } },
  })
  t.notMatch(lines[0], /canary|5f2c/)
  t.match(lines[0], /postgres:\/\/sluice:\[secret\]@host/)
})

t.test('of a cause neither query nor content is kept: a JSON syntax error quotes what it parsed', async (t) => {
  const { log, lines } = kept()
  log.error('event', { cause: syntaxError('{"prompt": oh the prompt}') })
  log.error('event', { cause: { body: 'the content' } })
  t.notMatch(lines.join(''), /oh the|the content/)
  t.match(JSON.parse(lines[0] ?? '').cause, { name: 'SyntaxError', stack: /^ {4}at / })
})

t.test('a level below the chosen one is not written', async (t) => {
  const { log, lines } = kept()
  log.debug('event')
  t.equal(lines.length, 0)
})

t.test('lines that are still buffered are written when the process exits', async (t) => {
  const module = new URL('../../../src/server/observe/log.js', import.meta.url).href
  const program = `
    const { createLog } = await import(${JSON.stringify(module)})
    const log = createLog({ level: 'info', base: {} })
    for (let n = 0; n < 2000; n += 1) log.info('line', { n })
    process.exit(3)`
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8', cwd: fileURLToPath(new URL('.', import.meta.url)) })
  t.equal(ran.status, 3)
  t.equal(ran.stdout.trim().split('\n').length, 2000)
})

function kept(secrets: readonly Secret[] = []): { log: OwnedLog; lines: string[] } {
  const lines: string[] = []
  const log = createLog({ level: 'info', base: { role: 'front' }, secrets, write: (line) => void lines.push(line) })
  return { log, lines }
}

function syntaxError(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error
  }
}
