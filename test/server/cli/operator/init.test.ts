import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readFrom } from '../../../../src/server/config.ts'
import { askAll, type Asker } from '../../../../src/server/cli/operator/init/ask.ts'
import { openOrMakeRootKeys, openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { sluice } from '../../../support/nodes/node.ts'
import { noPty, openPty } from '../../../support/nodes/pty.ts'
import { runVerb } from '../../../support/operator/verbs.ts'

t.setTimeout(600_000)

const settingsIn = (file: string): Record<string, unknown> =>
  JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
const modeOf = (file: string): number => statSync(file).mode & 0o777
/** A developer's shell may have the settings of a real node. */
const BARE = { DATABASE_URL: '', REDIS_URL: '', SLUICE_PORT: '', SLUICE_ROOT_KEY: '', CI: '' }

t.test('without a terminal it asks nothing, and writes the settings that a node needs', async (t) => {
  const folder = t.testdir({})
  const file = join(folder, 'sluice.json')
  const { code, stdout, stderr } = await runVerb(BARE, [
    'init',
    file,
    '--data',
    join(folder, 'data'),
    '--port',
    '8123',
    '--admin-port',
    '9123',
  ])
  t.equal(code, 0, stderr)
  t.same(settingsIn(file), {
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: 8123,
    SLUICE_ADMIN_PORT: 9123,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_ROOT_KEY_FILE: join(folder, 'sluice-root-key'),
  })
  t.same([modeOf(file), modeOf(join(folder, 'sluice-root-key'))], [0o600, 0o600])
  t.same(readdirSync(folder).sort(), ['sluice-root-key', 'sluice.json'])
  const reading = readFrom({ SLUICE_CONFIG: file })
  t.match(reading, {
    ok: true,
    generation: { config: { port: 8123, rootKeyFile: join(folder, 'sluice-root-key') } },
  })
  t.equal(
    openRootKeys({ setting: null, file: join(folder, 'sluice-root-key'), dataDir: join(folder, 'data') }).ids
      .length,
    1,
  )
  t.match(stdout, /created the root key .*: back it up now/)
  t.match(stdout.trimEnd().split('\n').at(-1), new RegExp(`^next: SLUICE_CONFIG=${file} .* serve$`))
})

t.test('replaces an existing file only with --force, and never its root key', async (t) => {
  const folder = t.testdir({ 'sluice.json': 'mine' })
  const file = join(folder, 'sluice.json')
  // The default one is that of a node that was started in this clone, which has its root key.
  const ownData = ['--data', join(folder, 'data')]
  const refused = await runVerb(BARE, ['init', file, ...ownData])
  t.match([refused.code, refused.stderr], [1, /already exists; use --force to replace it/])
  t.same([readFileSync(file, 'utf8'), existsSync(join(folder, 'sluice-root-key'))], ['mine', false])
  t.equal((await runVerb(BARE, ['init', file, '--force', ...ownData])).code, 0)
  const key = readFileSync(join(folder, 'sluice-root-key'), 'utf8')
  const again = await runVerb(BARE, ['init', file, '--force', '--json', '--port', '8200', ...ownData])
  t.match(JSON.parse(again.stdout), {
    file,
    made_root_key: false,
    root_key_file: join(folder, 'sluice-root-key'),
    overruled: [],
  })
  t.same(
    [readFileSync(join(folder, 'sluice-root-key'), 'utf8'), settingsIn(file)['SLUICE_PORT']],
    [key, 8200],
  )
})

t.test('takes values that contain passwords from the environment, and shows them nowhere', async (t) => {
  const file = join(t.testdir({}), 'sluice.json')
  const given = {
    ...BARE,
    DATABASE_URL: 'postgres://sluice:hunter2@db.example/sluice',
    REDIS_URL: 'redis://:hunter2@redis.example:6379',
  }
  const { code, stdout, stderr } = await runVerb(given, ['init', file])
  t.equal(code, 0, stderr)
  t.match(settingsIn(file), { DATABASE_URL: given.DATABASE_URL, REDIS_URL: given.REDIS_URL })
  t.notMatch(stdout + stderr, 'hunter2')
})

t.test('reports every refused answer at once, and writes nothing', async (t) => {
  const folder = t.testdir({})
  const args = [
    '--port',
    '70000',
    '--public-url',
    'sluice.example',
    '--tls-cert',
    join(folder, 'none.pem'),
    '--objects',
    's3://b',
  ]
  const { code, stderr } = await runVerb(BARE, ['init', join(folder, 'sluice.json'), ...args, '--json'])
  t.equal(code, 2)
  const { problems } = JSON.parse(stderr) as { problems: readonly { name: string }[] }
  t.same(problems.map(({ name }) => name).sort(), [
    'SLUICE_OBJECTS',
    'SLUICE_PORT',
    'SLUICE_PUBLIC_URL',
    'SLUICE_TLS_CERT',
  ])
  t.same(readdirSync(folder), [])
})

t.test('refuses an invalid root key instead of replacing it', async (t) => {
  const folder = t.testdir({ key: 'a slip' })
  const { code, stderr } = await runVerb(BARE, [
    'init',
    join(folder, 'sluice.json'),
    '--root-key',
    join(folder, 'key'),
  ])
  t.match([code, stderr], [2, /SLUICE_ROOT_KEY_FILE: .*expected 32 bytes/])
  t.same([readFileSync(join(folder, 'key'), 'utf8'), readdirSync(folder)], ['a slip', ['key']])
})

t.test('does not report an existing file at the path of the root key as newly created', async (t) => {
  const folder = t.testdir({})
  symlinkSync(join(folder, 'elsewhere'), join(folder, 'sluice-root-key'))
  const { code, stdout, stderr } = await runVerb(BARE, [
    'init',
    join(folder, 'sluice.json'),
    '--data',
    join(folder, 'data'),
  ])
  t.match([code, stdout, stderr], [1, '', /sluice-root-key already exists, so no root key was created/])
  t.same(readdirSync(folder), ['sluice-root-key'])
})

t.test('an installation that has a root key keeps it', async (t) => {
  const folder = t.testdir({ data: {} })
  openOrMakeRootKeys({ setting: null, file: null, dataDir: join(folder, 'data') })
  const { code, stdout } = await runVerb(BARE, [
    'init',
    join(folder, 'sluice.json'),
    '--data',
    join(folder, 'data'),
    '--json',
  ])
  t.match([code, JSON.parse(stdout)], [0, { root_key_file: null, made_root_key: false }])
  t.notOk('SLUICE_ROOT_KEY_FILE' in settingsIn(join(folder, 'sluice.json')))
})

t.test('reports a folder that is missing or not writable in one line', async (t) => {
  const folder = t.testdir({})
  const { code, stderr } = await runVerb(BARE, [
    'init',
    join(folder, 'none', 'sluice.json'),
    '--root-key',
    join(folder, 'key'),
  ])
  t.match([code, stderr.trimEnd().split('\n').length, stderr], [1, 1, /cannot be written: ENOENT/])
  t.same(readdirSync(folder), [])
})

t.test('names the environment settings that override the file, without their values', async (t) => {
  const file = join(t.testdir({}), 'sluice.json')
  const { stdout } = await runVerb({ ...BARE, SLUICE_PORT: '8300', SLUICE_LOG_LEVEL: 'warn' }, [
    'init',
    file,
    '--port',
    '8301',
  ])
  t.match(stdout, /variables of this shell take precedence over the file: SLUICE_PORT, SLUICE_LOG_LEVEL/)
  t.equal(settingsIn(file)['SLUICE_PORT'], 8301)
})

/** A user whose answers come from a script. Questions that it does not cover get the default. */
function answering(script: Readonly<Record<string, string>>, asked: string[] = []): Asker {
  const answer = (
    message: string,
    initial: string,
    check: (text: string) => string | undefined,
  ): Promise<string> => {
    const text = Object.entries(script).find(([begin]) => message.startsWith(begin))?.[1] ?? initial
    asked.push(message)
    const fault = check(text)
    return fault === undefined ? Promise.resolve(text) : Promise.reject(new Error(`${message}: ${fault}`))
  }
  return {
    text: ({ message, initial, check }) => answer(message, initial, check),
    hidden: ({ message, check }) => answer(message, '', check),
    async choose(message, choices, initial) {
      const label = script[message]
      return choices.find((choice) => choice.label === label)?.value ?? initial
    },
  }
}

t.test('turns the answers of a user into settings: TLS, stores, a bucket', async (t) => {
  const folder = t.testdir({ 'c.pem': '', 'k.pem': '' })
  const answers = await askAll(
    answering({
      'Data folder': '/var/lib/sluice',
      Address: '0.0.0.0',
      'Port for API calls': '443',
      TLS: 'handled by the node',
      'Certificate file': join(folder, 'c.pem'),
      'Private key file': join(folder, 'k.pem'),
      'Public URL': 'https://sluice.example',
      Postgres: 'your own server',
      'Server URL: postgres': 'postgres://db.example/sluice',
      Redis: 'embedded',
      'Stored files': 'in a bucket',
      Bucket: 's3://files/eu',
      Region: 'eu-west-1',
      'Access key id': 'AKIA',
      'Secret access key': 'shh',
    }),
    { REDIS_URL: 'redis://old.example:6379' },
    () => undefined,
  )
  t.same(answers, {
    SLUICE_DATA: '/var/lib/sluice',
    SLUICE_HOST: '0.0.0.0',
    SLUICE_PORT: '443',
    SLUICE_ADMIN_PORT: '9090',
    SLUICE_TLS_CERT: join(folder, 'c.pem'),
    SLUICE_TLS_KEY: join(folder, 'k.pem'),
    SLUICE_PUBLIC_URL: 'https://sluice.example',
    DATABASE_URL: 'postgres://db.example/sluice',
    SLUICE_OBJECTS: 's3://files/eu',
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'shh',
  })
})

for (const { what, script, fault } of [
  {
    what: 'a port that is not a number',
    script: { 'Port for API calls': 'http' },
    fault: /Expected a port from 1 to 65535/,
  },
  {
    what: 'the same port twice',
    script: { 'Port for the operator': '8080' },
    fault: /Expected a port other than SLUICE_PORT/,
  },
  { what: 'nothing', script: { 'Data folder': ' ' }, fault: /An answer is required/ },
  {
    what: 'an address of another store',
    script: { Postgres: 'your own server', 'Server URL: postgres': 'mysql://db' },
    fault: /Expected postgres:/,
  },
  {
    what: 'a file that is not there',
    script: { TLS: 'handled by the node', 'Certificate file': '/nowhere.pem' },
    fault: /Expected a readable PEM file/,
  },
]) {
  t.test(`checks an answer by the rules of its setting: ${what}`, async (t) => {
    await t.rejects(
      askAll(answering(script), {}, () => undefined),
      { message: fault },
    )
  })
}

t.test('on a terminal it asks, and Enter accepts the default', { skip: noPty }, async (t) => {
  const folder = t.testdir({})
  const pty = openPty(t, { command: sluice('init'), env: BARE, cwd: folder, rows: 40, columns: 120 })
  let shown = await pty.until(/Data folder/)
  const questions = [
    /Address to listen/,
    /Port for API calls/,
    /Port for the operator/,
    /TLS/,
    /Postgres/,
    /Redis/,
    /Stored files/,
    /File with the root key/,
  ]
  for (const next of [...questions, /next: SLUICE_CONFIG=/]) {
    pty.keys('\r')
    shown = await pty.until(next, shown)
  }
  t.same(await pty.ended, { code: 0, is_restored: true })
  t.match(settingsIn(join(folder, 'sluice.json')), {
    SLUICE_HOST: '127.0.0.1',
    SLUICE_PORT: 8080,
    SLUICE_ADMIN_PORT: 9090,
    SLUICE_DATA: join(folder, '.sluice'),
    SLUICE_ROOT_KEY_FILE: join(folder, 'sluice-root-key'),
  })
})

t.test('asks on a terminal that does not know its size', { skip: noPty }, async (t) => {
  const folder = t.testdir({})
  const pty = openPty(t, {
    command: sluice('init', '--root-key', 'key'),
    env: BARE,
    cwd: folder,
    rows: 0,
    columns: 0,
  })
  await pty.until(/Data folder, where the node stores everything/)
  pty.keys('\u0003')
  t.same(await pty.ended, { code: 1, is_restored: true })
})

t.test('hides a URL while it is typed, and asks again after a wrong answer', { skip: noPty }, async (t) => {
  const folder = t.testdir({})
  const pty = openPty(t, { command: sluice('init'), env: BARE, cwd: folder, rows: 40, columns: 120 })
  let shown = await pty.until(/Data folder/)
  for (const next of [/Address to listen/, /Port for API calls/]) {
    pty.keys('\r')
    shown = await pty.until(next, shown)
  }
  pty.keys('\u007f\u007f\u007f\u007f99999\r')
  shown = await pty.until(/Expected a port from 1 to 65535/, shown)
  pty.keys('\u007f\r')
  for (const next of [/Port for the operator/, /TLS/, /Postgres/]) {
    shown = await pty.until(next, shown)
    if (!next.test('Postgres')) pty.keys('\r')
  }
  pty.keys('\u001b[B\r')
  shown = await pty.until(/Server URL/, shown)
  pty.keys('postgres://a:hunter2@b/c\r')
  await pty.until(/Redis/, shown)
  pty.keys('\u0003')
  t.same(await pty.ended, { code: 1, is_restored: true })
  t.notMatch(pty.output(), 'hunter2')
  t.same(readdirSync(folder), [])
})

t.test('does not ask on a terminal when CI is set', { skip: noPty }, async (t) => {
  const folder = t.testdir({ etc: {} })
  const pty = openPty(t, {
    command: sluice('init', 'etc/sluice.json'),
    env: { ...BARE, CI: 'true' },
    cwd: folder,
  })
  t.same(await pty.ended, { code: 0, is_restored: true })
  t.equal(
    settingsIn(join(folder, 'etc', 'sluice.json'))['SLUICE_ROOT_KEY_FILE'],
    join(folder, 'etc', 'sluice-root-key'),
  )
})
