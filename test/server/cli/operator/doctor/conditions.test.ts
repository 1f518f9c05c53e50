import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { identityOf } from '../../../../../src/server/supervisor/fleet/process-state.ts'
import { catalogueFile } from '../../../../support/models/catalogue.ts'
import { NO_OPENSSL, selfSigned } from '../../../../support/wire/certificate.ts'
import { examined } from '../../../../support/operator/doctor.ts'
import { ROOT } from '../../../../support/source.ts'
import { FakeS3, s3Settings } from '../../../../support/files/s3.ts'
import { freePort } from '../../../../support/nodes/spawned.ts'
import { installationOf, madeDirectory } from '../../../../support/operator/conditions.ts'

t.setTimeout(600_000)

const base = await installationOf(t)
const { condition } = base

t.test('reports no problem for a complete installation', async (t) => {
  const { all, found, isWell, text } = base.reported
  // Features that this machine lacks are no fault of the installation.
  t.same(
    found.filter(
      ({ check }) =>
        !['redis', 'listener_migration', 'descriptors', 'memory', 'hard_kill', 'load'].includes(check),
    ),
    [],
  )
  t.equal(isWell, found.length === 0)
  t.equal(text.endsWith('\nno problems found'), isWell)
  t.ok(all.every(({ detail }) => !detail.includes('\n')))
})

for (const setting of ['SLUICE_PORT', 'SLUICE_ADMIN_PORT']) {
  condition({
    what: `another program listens on ${setting}`,
    check: 'port',
    detail: /another program uses the port/,
    fix: new RegExp(`set ${setting} to another port`),
    async make(t) {
      const server = createServer()
      await new Promise<void>((resolve) =>
        server.listen(Number(base.settings[setting]), '127.0.0.1', resolve),
      )
      t.teardown(() => new Promise((resolve) => server.close(resolve)))
      return {}
    },
  })
}

condition({
  what: 'an address that this machine has not got',
  check: 'port',
  detail: /192\.0\.2\.1.*does not have that address/,
  fix: /set SLUICE_HOST/,
  make: () => ({ SLUICE_HOST: '192.0.2.1', SLUICE_PUBLIC_URL: 'https://sluice.example' }),
})

condition({
  what: 'an address that others reach, without TLS',
  check: 'tls',
  detail: /API keys are sent to 0\.0\.0\.0 unencrypted/,
  fix: /SLUICE_TLS_CERT.*SLUICE_PUBLIC_URL/,
  make: () => ({ SLUICE_HOST: '0.0.0.0' }),
})

condition({
  what: 'a certificate that does not fit its key',
  check: 'tls',
  detail: /do not work together/,
  fix: /SLUICE_TLS_KEY/,
  skip: NO_OPENSSL,
  make(t) {
    return { SLUICE_TLS_CERT: selfSigned(t).certFile, SLUICE_TLS_KEY: selfSigned(t).keyFile }
  },
})

condition({
  what: 'a certificate that soon ends',
  check: 'tls',
  detail: /the certificate expires on \d{4}-/,
  fix: /sluice reload/,
  skip: NO_OPENSSL,
  make(t) {
    const { certFile, keyFile } = selfSigned(t)
    return { SLUICE_TLS_CERT: certFile, SLUICE_TLS_KEY: keyFile }
  },
})

condition({
  what: 'a name that is no setting',
  check: 'settings',
  detail: /SLUICE_PROT/,
  fix: /^did you mean SLUICE_PORT\b.*\? `sluice config print`/,
  make: () => ({ SLUICE_PROT: '1' }),
})

condition({
  what: 'a catalogue with mistakes',
  check: 'catalogue',
  detail: /^\d+ mistakes$/,
  fix: /sluice catalog check/,
  make: (t) => ({
    SLUICE_CATALOG: join(t.testdir({ 'bad.json': '{"models":[{"id":"nameless"}]}' }), 'bad.json'),
  }),
})

condition({
  what: 'a key of Sluice in the variable of a provider',
  check: 'provider_keys',
  detail: /^OPENAI_API_KEY contains a Sluice key/,
  fix: /the provider's own key/,
  make: () => ({ OPENAI_API_KEY: 'sk-sluice-v1-x' }),
})

condition({
  what: 'an endpoint without a price',
  check: 'prices',
  detail: /^1 endpoint has no price \(mine\/open at here\)/,
  fix: /`"free": true`/,
  make: (t) => ({
    SLUICE_CATALOG: catalogueFile(t, {
      providers: [{ slug: 'here', protocol: 'local' }],
      models: [
        {
          id: 'mine/open',
          name: 'O',
          architecture: { output_modalities: ['embeddings'] },
          endpoints: [{ provider: 'here', upstream_model: 'x' }],
        },
      ],
    }),
  }),
})

condition({
  what: 'ranges of callers that take in this machine',
  check: 'egress_allow',
  detail: /this machine/,
  fix: /SLUICE_EGRESS_ALLOW/,
  make: () => ({ SLUICE_EGRESS_ALLOW: '127.0.0.0/8' }),
})

condition({
  what: 'a file of roots without one',
  check: 'egress_ca',
  detail: /no certificate/,
  fix: /SLUICE_EGRESS_CA/,
  make: (t) => ({ SLUICE_EGRESS_CA: join(t.testdir({ 'roots.pem': 'none' }), 'roots.pem') }),
})

condition({
  what: 'more fronts than cores',
  check: 'load',
  detail: /^256 fronts share/,
  fix: /SLUICE_FRONTS/,
  make: () => ({ SLUICE_FRONTS: '256' }),
})

t.test('reports each port of a node that runs without listening', async (t) => {
  const dataDir = await madeDirectory(t)
  const own = identityOf(process.pid)
  writeFileSync(join(dataDir, 'supervisor.pid'), `${process.pid}\n${own?.startedAt ?? ''}\n`)
  const {
    SLUICE_PORT: port = '',
    SLUICE_ADMIN_PORT: adminPort = '',
    DATABASE_URL: databaseUrl = '',
  } = base.settings
  const urls = { url: `http://127.0.0.1:${port}`, adminUrl: `http://127.0.0.1:${adminPort}` }
  const runtime = { databaseUrl, redis: { socketPath: join(dataDir, 'none.sock') }, ...urls }
  writeFileSync(join(dataDir, 'runtime.json'), JSON.stringify(runtime))
  const { all } = await examined({ ...base.settings, SLUICE_DATA: dataDir })
  t.match(
    all.filter(({ check }) => check === 'port'),
    [{ detail: /nothing listens on .* although the node/, fix: /restart the node/ }, { level: 'problem' }],
  )
  t.match(
    all.find(({ check }) => check === 'redis'),
    { level: 'warning', fix: 'check the log of the node' },
  )
  const elsewhere = await examined({
    ...base.settings,
    SLUICE_DATA: dataDir,
    SLUICE_PORT: String(await freePort()),
  })
  t.match(
    elsewhere.all.find(({ check }) => check === 'port'),
    { level: 'ok', detail: /is free; the node \(pid \d+\) uses http/ },
  )
})

t.test(
  'doctor leaves nothing in the data directory, in storage or in a bucket, even without conditional writes',
  async (t) => {
    const s3 = await FakeS3.start(t)
    s3.knowsIfMatch = false
    const settings = { ...base.settings, ...s3Settings(s3), SLUICE_DATA: join(t.testdir({}), 'absent/data') }
    t.match(
      (await examined(settings)).all.find(({ check }) => check === 'storage'),
      { level: 'ok', detail: /^s3:.*for staging$/ },
    )
    t.equal(s3.objects.size, 0)
    t.ok(s3.calls.some((call) => call.startsWith('put ')))
    const made = await madeDirectory(t)
    mkdirSync(join(made, 'files/objects'), { recursive: true })
    const before = namesBelow(made)
    await examined({ ...base.settings, SLUICE_DATA: made })
    t.same(namesBelow(made), before)
    t.same(namesBelow(t.testdirName), [])
  },
)

t.test('the operations page names every check, and no others', async (t) => {
  const page = readFileSync(join(ROOT, 'docs/operate/operation.md'), 'utf8')
  const table = /\| Check \| Findings \|\n\| --- \| --- \|\n((?:\|.*\n)+)/.exec(page)?.[1] ?? ''
  const firsts = [...table.matchAll(/^\| ((?:`[a-z_]+`(?:, )?)+) \|/gm)].map(([, names = '']) => names)
  const named = firsts.flatMap((names) => [...names.matchAll(/`([a-z_]+)`/g)].map(([, name = '']) => name))
  t.same([...named].sort(), [...namesInSource()].sort())
})

function namesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true }).map(String).sort()
}

/** Names of the findings in the source of the checks. */
function namesInSource(): ReadonlySet<string> {
  const folder = join(ROOT, 'src/server/cli/operator/doctor')
  const texts = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
  const made = texts.flatMap((text) => [
    ...text.matchAll(/\b(?:good|doubtful|bad)\(\s*'([a-z_]+)'|\bcheck = '([a-z_]+)'/g),
  ])
  return new Set(made.map(([, name, other]) => name ?? other ?? ''))
}
