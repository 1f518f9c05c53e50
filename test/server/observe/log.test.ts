import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { readFrom } from '../../../src/server/config.ts'
import { secretsOf, secretsOfPart } from '../../../src/server/main/child.ts'
import { LOG_BUFFER_BYTES_MAX, createLog, type OwnedLog } from '../../../src/server/observe/log.ts'

const CANARY = 'cana"ry/sec+ret-5f2c\\91'

t.test('an event is one JSON line with its name, level, time and the base fields', async (t) => {
  const { log, lines } = kept()
  log.info('front_ready', { port: 8080 })
  const line = JSON.parse(lines[0] ?? '')
  t.match(line, { level: 'info', event: 'front_ready', role: 'front', port: 8080 })
  t.ok(Number.isFinite(Date.parse(line.time)))
})

t.test('a canary secret appears in no line, whatever field carries it', async (t) => {
  const { log, lines } = kept([new Secret(CANARY)])
  const places: Record<string, unknown> = {
    plain: CANARY,
    nested: { deep: { deeper: [CANARY] } },
    wrapped: new Secret(CANARY),
    inText: `url?key=${CANARY}&x`,
    percent: encodeURIComponent(CANARY),
    json: JSON.stringify({ a: CANARY }),
    cause: new Error(`no ${CANARY}`, { cause: new Error(CANARY) }),
    error: Object.assign(new Error('x'), { query: CANARY, parameters: [CANARY] }),
    [CANARY]: 'as a name',
  }
  for (const [name, value] of Object.entries(places)) log.error('event', { [name]: value })
  log.error(CANARY, { authorization: CANARY, body: CANARY })
  t.equal(lines.length, 10)
  for (const form of [CANARY, JSON.stringify(CANARY).slice(1, -1), encodeURIComponent(CANARY)]) {
    t.notOk(lines.join('').includes(form), 'no form of it')
  }
})

t.test('redacts unknown secrets by position: bearer tokens, URL passwords, named fields', async (t) => {
  const { log, lines } = kept()
  log.error('event', {
    header: `Bearer ${CANARY}`,
    also: `authorization: bearer tok-${CANARY}`,
    url: 'postgres://sluice:canary-pw@host/db',
    authorization: 'canary-a',
    request: { password: 'canary-b', input: ['canary-c'] },
    a: { b: { token: 'canary-d' } },
  })
  t.notMatch(lines[0], /canary|5f2c/)
  t.match(lines[0], /postgres:\/\/\[secret\]@host/)
})

t.test('redacts fields named like secrets at three levels, also in lists and errors', async (t) => {
  const { log, lines } = kept()
  const names = [
    'authorization',
    'cookie',
    'apiKey',
    'api_key',
    'password',
    'secret',
    'token',
    'value',
    'body',
    'input',
    'prompt',
  ]
  const held = Object.fromEntries(names.map((name) => [name, { canary: 1 }]))
  const fields = {
    ...held,
    one: held,
    list: [held, { tokens: 3 }],
    two: { deep: held, list: ['plain'] },
    problem: Object.assign(new Error('x'), held),
    cause: new Error('why', { cause: new Error('behind') }),
    at: new Date(0),
    none: null,
    count: 7,
  }
  log.error('event', fields)
  t.notMatch(lines[0], 'canary')
  const line = JSON.parse(lines[0] ?? '')
  t.equal(lines[0]?.split('[redacted]').length, 5 * names.length + 1)
  t.match(line, { two: { list: ['plain'] }, at: '1970-01-01T00:00:00.000Z', none: null, count: 7 })
  t.match(line, {
    list: [{ body: '[redacted]' }, { tokens: 3 }],
    cause: { message: 'why', cause: { message: 'behind' } },
  })
  t.ok(Array.isArray(line.list))
  t.same(fields.one, held, 'what was logged is left as it was')
})

for (const text of [
  'BEARER  canary',
  'authorization: Bearer\tcanary',
  'key sk-sluice-v1-canary is wrong',
  '{"a":"SK-SLUICE-mgmt-v1-canary"}',
  'postgres://host/db?password=canary&x=1',
  'redis://h/0?sslpassword=canary',
  'https://h/?api_key=canary',
  'https://h/?a=1&access_token=canary',
  'postgres://u:canary/canary@host/db',
  'postgres://u:canary@canary@host/db',
  'https://tok_canary@host/',
  'a://u:canary@h,b://u:canary@h',
]) {
  t.test(`redacts: ${text.replaceAll('canary', '…')}`, async (t) => {
    const { log, lines } = kept()
    log.error('event', { text, cause: new Error(`no ${text} here`), after: 'still there' })
    t.notMatch(lines[0], /canary/)
    t.match(JSON.parse(lines[0] ?? ''), { event: 'event', after: 'still there' }, 'the line is still JSON')
  })
}

t.test('code locations and addresses without a user are left unchanged', async (t) => {
  const { log, lines } = kept()
  const texts = [
    'at file:///srv/node_modules/@scope/part/index.js:1:2',
    'https://host/path?page=2',
    'someone@host',
    'the monkey=7',
  ]
  log.info('event', { texts })
  t.same(JSON.parse(lines[0] ?? '').texts, texts)
})

t.test('a secret that becomes known later is redacted from then on', async (t) => {
  const { log, lines } = kept()
  log.hide([new Secret(CANARY)])
  log.info('event', { text: CANARY })
  t.notMatch(lines[0], /5f2c/)
})

t.test('the supervisor redacts every secret setting and the provider keys', async (t) => {
  const reading = readFrom({
    DATABASE_URL: 'postgres://u:pw@h/d',
    REDIS_URL: 'redis://:pw@h',
    SLUICE_BROADCAST: 'https://h/token',
  })
  if (!reading.ok) throw new Error('a good configuration')
  const secrets = secretsOf({
    config: reading.generation.config,
    providerKeys: { OPENAI_API_KEY: 'sk-canary' },
  })
  t.same(secrets.map((secret) => secret.reveal()).sort(), [
    'https://h/token',
    'postgres://u:pw@h/d',
    'redis://:pw@h',
    'sk-canary',
  ])
})

t.test("a front redacts the secrets of the supervisor, and the addresses of the node's stores", (t) => {
  const settings = {
    SLUICE_BROADCAST: 'https://h/token',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://user:pw@otlp',
  }
  const secrets = secretsOfPart({
    role: 'front',
    slot: 0,
    node: 'n',
    settings,
    providerKeys: { OPENAI_API_KEY: 'sk-canary' },
    databaseUrl: 'postgres://u:pw@h/d',
    redis: { url: 'redis://:pw@h' },
    sessionThreads: 1,
    connections: 31,
  })
  const texts = secrets.map((secret) => secret.reveal()).sort()
  t.same(texts, [
    'https://h/token',
    'https://user:pw@otlp',
    'postgres://u:pw@h/d',
    'redis://:pw@h',
    'sk-canary',
  ])
  t.end()
})

t.test('logs no query or content of a cause, such as input quoted in a JSON syntax error', async (t) => {
  const { log, lines } = kept()
  log.error('event', { cause: syntaxError('{"prompt": oh the prompt}') })
  log.error('event', { cause: { body: 'the content' } })
  t.notMatch(lines.join(''), /oh the|the content/)
  t.match(JSON.parse(lines[0] ?? '').cause, { name: 'SyntaxError', stack: /^ {4}at / })
})

t.test('an event below the chosen level is not written', async (t) => {
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
  const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
  t.equal(ran.status, 3)
  t.equal(ran.stdout.trim().split('\n').length, 2000)
})

t.test(
  'a reader that stalls uses no more memory than the buffer, and does not keep the process from ending',
  async (t) => {
    const module = new URL('../../../src/server/observe/log.js', import.meta.url).href
    const program = `
    const { createLog } = await import(${JSON.stringify(module)})
    const log = createLog({ level: 'info', base: {} })
    process.on('message', () => process.exit(3))
    for (let n = 0; n < 20000; n += 1) log.info('line', { text: 'x'.repeat(${LOG_BUFFER_BYTES_MAX / 10_000}) })
    setTimeout(() => process.send(log.dropped), 100)`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    t.teardown(() => void child.kill('SIGKILL'))
    const [dropped] = (await once(child, 'message')) as [number]
    t.ok(dropped > 10_000 && dropped < 20_000, `${dropped} of 20000 lines were dropped`)
    child.send('end')
    t.same(await once(child, 'exit'), [3, null])
  },
)

function kept(secrets: readonly Secret[] = []): { log: OwnedLog; lines: string[] } {
  const lines: string[] = []
  const log = createLog({
    level: 'info',
    base: { role: 'front' },
    secrets,
    write: (line) => void lines.push(line),
  })
  return { log, lines }
}

function syntaxError(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    return error
  }
}
