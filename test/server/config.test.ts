import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { EPOCH_OVERDUE_MS, KEY_GRACE_MS_MIN } from '../../src/schemas/keys/key-limits.ts'
import { asCalled, programName } from '../../src/server/config/program-name.ts'
import { childEnvironment, readFrom, type Generation } from '../../src/server/config.ts'
import type { Problem, Texts } from '../../src/server/config/texts.ts'
import {
  VIDEO_CLIP_DAYS_MAX,
  VIDEO_JOB_HOURS_MAX,
  KEPT_DAYS_MAX,
  KEPT_MONTHS_MAX,
} from '../../src/schemas/operator/settings.ts'
import { masked } from '../../src/server/config/setting-text.ts'

function good(texts: Texts): Generation {
  const reading = readFrom(texts)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  return reading.generation
}

function problemsOf(texts: Texts): readonly Problem[] {
  const reading = readFrom(texts)
  return reading.ok ? [] : reading.problems
}

t.test('without any settings the node listens on loopback and uses its embedded stores', async (t) => {
  const { config } = good({})
  t.match(config, { host: '127.0.0.1', port: 8080, adminHost: '127.0.0.1', keyGraceMs: 300_000 })
  t.match(config, { databaseUrl: null, redisUrl: null, tls: null })
  t.ok(config.fronts >= 1)
  t.equal(config.dataDir, join(process.cwd(), '.sluice'))
})

t.test('the log is JSON without a terminal, and text when text is set', async (t) => {
  t.match(good({}).config, { logFormat: 'json', logLevel: 'info' })
  t.match(good({ SLUICE_LOG_FORMAT: 'text' }).config, { logFormat: 'text', logLevel: 'info' })
  t.match(good({ SLUICE_LOG_FORMAT: 'json', SLUICE_LOG_LEVEL: 'debug' }).config, {
    logFormat: 'json',
    logLevel: 'debug',
  })
})

t.test('reports every problem at once, with its name, the expected form and the value', async (t) => {
  const problems = problemsOf({
    SLUICE_PORT: '99999',
    SLUICE_FRONTS: 'many',
    SLUICE_KEY_GRACE: '5 minutes',
    SLUICE_CORS_ORIGINS: 'app.example',
    SLUICE_TLS_CERT: 'package.json',
    SLUICE_CATALOG: 'absent.json',
  })
  t.same(problems.map(({ name }) => name).sort(), [
    'SLUICE_CATALOG',
    'SLUICE_CORS_ORIGINS',
    'SLUICE_FRONTS',
    'SLUICE_KEY_GRACE',
    'SLUICE_PORT',
    'SLUICE_TLS_KEY',
  ])
  const port = problems.find(({ name }) => name === 'SLUICE_PORT')
  t.match(port, { expected: 'a port from 1 to 65535', got: '"99999"' })
})

t.test('regional hosts are exact names: a wildcard, a port or an address prevents the start', async (t) => {
  for (const given of [
    '*.sluice.example',
    'eu.sluice.example:443',
    'https://eu.sluice.example',
    '10.0.0.1',
    '[::1]',
    'eu..example',
    '-a.example',
  ]) {
    const [problem] = problemsOf({ SLUICE_REGIONAL_HOSTS: `fine.example,${given}` })
    t.match(
      problem,
      { name: 'SLUICE_REGIONAL_HOSTS', expected: /exact host names without wildcards or ports/ },
      given,
    )
  }
  t.same(good({ SLUICE_REGIONAL_HOSTS: 'EU.Sluice.Example., us.sluice.example' }).config.regionalHosts, [
    'eu.sluice.example',
    'us.sluice.example',
  ])
  t.same(good({}).config.regionalHosts, [])
})

t.test('proxies are addresses and CIDR ranges', async (t) => {
  t.same(good({ SLUICE_PROXIES: '10.0.0.0/8, ::1' }).config.proxies, ['10.0.0.0/8', '::1'])
  for (const given of ['proxy.example', '10.0.0.0/33', '10.1'])
    t.match(
      problemsOf({ SLUICE_PROXIES: given }),
      [{ name: 'SLUICE_PROXIES', expected: /CIDR range/ }],
      given,
    )
})

t.test('refuses a key grace period that would end between two polls of the store', async (t) => {
  const [problem] = problemsOf({ SLUICE_KEY_GRACE: '1900ms' })
  t.same(problem, { name: 'SLUICE_KEY_GRACE', expected: 'a duration of at least 2s', got: '"1900ms"' })
  t.ok(readFrom({ SLUICE_KEY_GRACE: '2s' }).ok)
  t.ok(KEY_GRACE_MS_MIN > EPOCH_OVERDUE_MS)
})

t.test(
  'SLUICE_OBJECTS is a directory or a valid S3 bucket URL, and every other URL is refused',
  async (t) => {
    const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
    for (const place of [
      'http://x/y',
      'S3://bucket/a',
      'gs://bucket',
      's3:bucket',
      's3://ab',
      's3://Bucket',
      's3://-bucket',
      's3://',
    ]) {
      t.match(
        problemsOf({ SLUICE_OBJECTS: place, ...keys }),
        [{ name: 'SLUICE_OBJECTS', expected: /bucket: 3 to 63 lower-case/ }],
        place,
      )
    }
    for (const place of ['files', '/srv/a:b', 's3://bucket', 's3://my-bucket.eu/a/b'])
      t.ok(readFrom({ SLUICE_OBJECTS: place, ...keys }).ok, place)
  },
)

t.test('reports every bad entry of the allow-list, with the expected form', async (t) => {
  const problems = problemsOf({
    SLUICE_EGRESS_ALLOW: '10.0.0.0/8,10.0.0.7/8, http:10.0.0.7:80,private.example',
  })
  t.match(problems, [
    { name: 'SLUICE_EGRESS_ALLOW', expected: /^10\.0\.0\.0\/8/, got: '"10.0.0.7/8"' },
    { name: 'SLUICE_EGRESS_ALLOW', expected: /^an allowed port/, got: '"http:10.0.0.7:80"' },
    { name: 'SLUICE_EGRESS_ALLOW', expected: /^a comma-separated list/, got: '"private.example"' },
  ])
  const { config } = good({ SLUICE_EGRESS_ALLOW: ' 10.0.0.0/8, http:[fd00::1]:8000 ' })
  t.same(config.egressAllow, ['10.0.0.0/8', 'http:[fd00::1]:8000'])
  t.same(good({}).config.egressAllow, [])
})

t.test('shows the value of a bad URL without its password', async (t) => {
  const [problem] = problemsOf({
    DATABASE_URL: 'mysql://sluice:hunter2@db.example/sluice?sslpassword=hunter2',
  })
  t.equal(problem?.got, '"mysql://***@db.example/***?***"')
})

for (const [given, shown] of [
  ['https://tok_hunter2@otlp.example', 'https://***@otlp.example'],
  ['https://hooks.example/services/hunter2', 'https://hooks.example/***'],
  [
    'postgres://sluice:hunter2@db.example:5433/prod?sslpassword=hunter2',
    'postgres://***@db.example:5433/prod?***',
  ],
  ['postgres://db.example/prod', 'postgres://db.example/prod'],
  ['postgres://sluice:1/hunter2@db.example/prod', '*** (43 characters)'],
  ['redis://cache.example:6379', 'redis://cache.example:6379'],
] as const) {
  t.test(`masks ${given.replaceAll('hunter2', '…')} and keeps only its destination`, async (t) => {
    t.equal(masked(given), shown)
  })
}

t.test('shows only the length of a secret that is not a URL with a host', async (t) => {
  t.equal(masked('hunter2 and more'), '*** (16 characters)')
  t.equal(masked('hunter2:more'), '*** (12 characters)')
})

t.test('the report masks secrets and names the source of each value', async (t) => {
  const { report } = good({ REDIS_URL: 'redis://:hunter2@cache.example:6379', SLUICE_PORT: '8081' })
  const of = (name: string) => report.find((row) => row.name === name)
  t.match(of('REDIS_URL'), { value: 'redis://***@cache.example:6379', source: 'environment' })
  t.match(of('SLUICE_PORT'), { value: '8081', source: 'environment' })
  t.match(of('SLUICE_HOST'), { value: '127.0.0.1', source: 'default' })
  t.notMatch(JSON.stringify(report), /hunter2/)
})

t.test('the environment wins over the file, and the file over the defaults', async (t) => {
  const file = join(t.testdir(), 'sluice.json')
  const corsOrigins = ['https://a.example', 'https://b.example']
  const given = { SLUICE_PORT: 9001, SLUICE_HOST: '0.0.0.0', SLUICE_CORS_ORIGINS: corsOrigins }
  writeFileSync(file, JSON.stringify(given))
  const { config, report } = good({ SLUICE_CONFIG: file, SLUICE_PORT: '9002' })
  t.match(config, { port: 9002, host: '0.0.0.0', corsOrigins })
  t.equal(report.find((row) => row.name === 'SLUICE_HOST')?.source, 'file')
})

t.test('an unknown name in the file is a problem, in the environment a warning', async (t) => {
  const file = join(t.testdir(), 'sluice.json')
  writeFileSync(file, JSON.stringify({ SLUICE_PROT: 9001, fronts: 2, MISTRAL_API_KEY: 'k' }))
  t.match(problemsOf({ SLUICE_CONFIG: file }), [{ name: 'SLUICE_PROT' }, { name: 'fronts' }])
  t.same(good({ SLUICE_PROT: '9001' }).unknown, ['SLUICE_PROT'])
})

t.test('SLUICE_KEY, the variable that the banner names, is not an unknown setting', async (t) => {
  t.same(good({ SLUICE_KEY: 'sk' }).unknown, [])
})

t.test('a file that is missing, is not JSON or is not an object is one problem', async (t) => {
  const dir = t.testdir({ 'text.json': 'SLUICE_PORT=1', 'list.json': '[]' })
  for (const name of ['absent.json', 'text.json', 'list.json']) {
    t.match(problemsOf({ SLUICE_CONFIG: join(dir, name) }), [{ name: 'SLUICE_CONFIG' }], name)
  }
})

t.test('provider keys come from the environment or the file, by the requested names only', async (t) => {
  const file = join(t.testdir(), 'sluice.json')
  writeFileSync(file, JSON.stringify({ VOYAGE_API_KEY: 'from-file' }))
  const keys = good({ SLUICE_CONFIG: file, OPENAI_API_KEY: 'from-env', OTHER_API_KEY: 'x' }).providerKeys([
    'OPENAI_API_KEY',
    'VOYAGE_API_KEY',
    'COHERE_API_KEY',
  ])
  t.same([...keys.keys()], ['OPENAI_API_KEY', 'VOYAGE_API_KEY'])
  t.same(
    [...keys.values()].map((secret) => secret.reveal()),
    ['from-env', 'from-file'],
  )
})

t.test('a child process builds the same config from the settings that it is sent', async (t) => {
  const generation = good({
    SLUICE_PORT: '8081',
    SLUICE_KEY_GRACE: '90s',
    SLUICE_CORS_ORIGINS: 'https://a.example, https://b.example',
    HOME: '/nowhere',
  })
  t.same(good(generation.settings).config, generation.config)
  t.notOk('HOME' in generation.settings)
  t.equal(generation.config.keyGraceMs, 90_000)
})

t.test('the config of a generation cannot be changed', async (t) => {
  const { config } = good({})
  t.throws(() => Object.assign(config, { port: 1 }))
})

t.test('explains a port value that Kubernetes has set', async (t) => {
  t.match(problemsOf({ SLUICE_PORT: 'tcp://10.0.0.1:8080' })[0]?.expected, /enableServiceLinks/)
})

t.test('the public port and the admin port must differ', async (t) => {
  t.match(problemsOf({ SLUICE_PORT: '9090' }), [{ name: 'SLUICE_ADMIN_PORT' }])
})

t.test(
  'child processes return freed buffers to the system, unless the operator sets another threshold',
  async (t) => {
    const { MALLOC_MMAP_THRESHOLD_: before } = process.env
    delete process.env['MALLOC_MMAP_THRESHOLD_']
    t.equal(childEnvironment()['MALLOC_MMAP_THRESHOLD_'], '131072')
    process.env['MALLOC_MMAP_THRESHOLD_'] = '1'
    t.equal(childEnvironment()['MALLOC_MMAP_THRESHOLD_'], '1')
    if (before === undefined) delete process.env['MALLOC_MMAP_THRESHOLD_']
    else process.env['MALLOC_MMAP_THRESHOLD_'] = before
  },
)

t.test('the public origin defaults to the address that the node listens on', async (t) => {
  t.equal(good({}).config.publicOrigin, 'http://127.0.0.1:8080')
  t.equal(good({ SLUICE_HOST: '0.0.0.0', SLUICE_PORT: '9000' }).config.publicOrigin, 'http://127.0.0.1:9000')
  t.equal(good({ SLUICE_HOST: '::1' }).config.publicOrigin, 'http://[::1]:8080')
  t.equal(
    good({ SLUICE_TLS_CERT: 'package.json', SLUICE_TLS_KEY: 'package.json' }).config.publicOrigin,
    'https://127.0.0.1:8080',
  )
  for (const origin of ['https://sluice.example', 'http://10.0.0.7:65535', 'https://[2001:db8::1]:8443']) {
    t.match(good({ SLUICE_PUBLIC_URL: origin }).config, { publicOrigin: origin, publicUrl: origin })
    t.equal(good({ SLUICE_PUBLIC_URL: `${origin}/` }).config.publicOrigin, origin)
  }
})

t.test('a public address is an origin without a path or a query', async (t) => {
  const bad = [
    'sluice.example',
    'ftp://sluice.example',
    'https://sluice.example/v1',
    'https://u:p@sluice.example',
    'https://sluice.example?x',
    'https://',
    'https://sluice.example:65536',
    'https://sluice.example:0',
    'https://a b',
  ]
  for (const origin of bad)
    t.same(
      problemsOf({ SLUICE_PUBLIC_URL: origin }).map(({ name }) => name),
      ['SLUICE_PUBLIC_URL'],
      origin,
    )
})

t.test('the operator organization can be named; by default it is the oldest one', async (t) => {
  t.equal(good({}).config.operatorOrganization, null)
  t.equal(good({ SLUICE_OPERATOR_ORGANIZATION: 'Acme & Co' }).config.operatorOrganization, 'Acme & Co')
  t.same(
    problemsOf({ SLUICE_OPERATOR_ORGANIZATION: 'a'.repeat(201) }).map(({ name }) => name),
    ['SLUICE_OPERATOR_ORGANIZATION'],
  )
})

t.test(
  'settings limit how long records are kept; money and audit are kept for ever by default',
  async (t) => {
    const days = { webhookDays: 7, deadLetterDays: 30, jobDays: 90, generationDays: 30, requestDays: 7 }
    t.same(good({}).config.kept, { ledgerMonths: 0, auditMonths: 0, ...days })
    const given = {
      SLUICE_LEDGER_KEPT_MONTHS: String(KEPT_MONTHS_MAX),
      SLUICE_AUDIT_KEPT_MONTHS: '13',
      SLUICE_WEBHOOKS_KEPT_DAYS: '1',
      SLUICE_DEAD_LETTERS_KEPT_DAYS: '0',
      SLUICE_JOBS_KEPT_DAYS: String(KEPT_DAYS_MAX),
    }
    t.same(good(given).config.kept, {
      ...good({}).config.kept,
      ledgerMonths: KEPT_MONTHS_MAX,
      auditMonths: 13,
      webhookDays: 1,
      deadLetterDays: 0,
      jobDays: KEPT_DAYS_MAX,
    })
    const beyond = Object.fromEntries(
      Object.keys(given).map((name) => [
        name,
        String((name.includes('MONTHS') ? KEPT_MONTHS_MAX : KEPT_DAYS_MAX) + 1),
      ]),
    )
    t.same(
      problemsOf(beyond)
        .map(({ name }) => name)
        .sort(),
      Object.keys(given).sort(),
    )
  },
)

t.test('the settings for the lifetime of video jobs and clips have a maximum', async (t) => {
  t.match(good({}).config, { videoJobHours: 24, videoClipDays: 7 })
  t.match(
    good({
      SLUICE_VIDEO_JOB_HOURS: String(VIDEO_JOB_HOURS_MAX),
      SLUICE_VIDEO_CLIP_DAYS: String(VIDEO_CLIP_DAYS_MAX),
    }).config,
    { videoJobHours: VIDEO_JOB_HOURS_MAX, videoClipDays: VIDEO_CLIP_DAYS_MAX },
  )
  const beyond = { SLUICE_VIDEO_JOB_HOURS: String(VIDEO_JOB_HOURS_MAX + 1), SLUICE_VIDEO_CLIP_DAYS: '0' }
  t.same(
    problemsOf(beyond)
      .map(({ name }) => name)
      .sort(),
    ['SLUICE_VIDEO_CLIP_DAYS', 'SLUICE_VIDEO_JOB_HOURS'],
  )
})

t.test('shows the program name in a form that the user can type again', async (t) => {
  const npx = t.testdir({
    project: {},
    cache: {
      'package.json': JSON.stringify({ dependencies: {}, _npx: { packages: ['./sluice-0.1.0.tgz'] } }),
      node_modules: { '.bin': {} },
    },
  })
  const folder = join(npx, 'project')
  const of = (script: string | undefined, npmEvent?: string, path = '/usr/bin:/opt/bin'): string =>
    programName({ script, npmEvent, path, folder })
  t.equal(of(join(npx, 'cache', 'node_modules', '.bin', 'sluice'), 'npx'), 'npx ./sluice-0.1.0.tgz')
  t.equal(of(join(folder, 'node_modules', '.bin', 'sluice'), 'npx'), 'node_modules/.bin/sluice')
  t.equal(of(join(folder, 'tools', 'start.mjs'), 'start'), 'bin/sluice')
  t.equal(of(join(folder, 'bin', 'sluice')), 'bin/sluice')
  t.equal(of('/opt/bin/sluice'), 'sluice')
  t.equal(of('/srv/my apps/bin/sluice'), "'/srv/my apps/bin/sluice'")
  t.equal(of(undefined), 'sluice')
  t.equal(
    asCalled('sluice: `sluice top`, `sluice scale --fronts 2` or `sluices`', 'npx $&'),
    'sluice: `npx $& top`, `npx $& scale --fronts 2` or `sluices`',
  )
})
