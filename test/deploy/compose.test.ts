import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  at,
  DEPLOY,
  deployFile,
  listAt,
  membersAt,
  secretFile,
  reported,
  yamlOf,
} from '../support/nodes/deploy.ts'
import { makeSecrets } from '../support/nodes/nodes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const [compose] = yamlOf(deployFile('compose.yaml'))
const services = membersAt(compose, 'services')
const CONDITIONS = new Set(['service_started', 'service_healthy', 'service_completed_successfully'])
/** They do one thing and end. */
const ONCE = new Set(['migrate', 'bucket'])

t.test(
  'docker compose accepts the file',
  {
    skip: (reported('docker', ['compose', 'version'])?.code ?? 1) !== 0 && 'docker compose is not installed',
  },
  async (t) => {
    const { code, stated } = reported('docker', [
      'compose',
      '-f',
      `${DEPLOY}compose.yaml`,
      'config',
      '--quiet',
    ]) ?? { code: 1, stated: '' }
    t.equal(code, 0, stated)
  },
)

t.test('services have only members of the Compose specification', async (t) => {
  const known = new Set([
    'image',
    'build',
    'environment',
    'secrets',
    'init',
    'read_only',
    'user',
    'cap_drop',
    'security_opt',
    'tmpfs',
    'restart',
    'stop_grace_period',
    'volumes',
    'depends_on',
    'command',
    'entrypoint',
    'healthcheck',
    'ports',
    'shm_size',
    'cpus',
    'mem_limit',
  ])
  for (const file of [compose, ...yamlOf(deployFile('compose.laptop.yaml'))]) {
    t.same(
      membersAt(file, 'services').flatMap(([name, service]) =>
        membersAt(service)
          .filter(([member]) => !known.has(member))
          .map(([member]) => `${name}: ${member}`),
      ),
      [],
    )
    t.same(
      membersAt(file)
        .map(([name]) => name)
        .filter((name) => !/^(name|services|secrets|volumes|x-[a-z]+)$/.test(name)),
      [],
    )
  }
})

t.test('a dependency waits for a condition that its service can meet', async (t) => {
  for (const [name, service] of services) {
    for (const [other, input] of membersAt(service, 'depends_on')) {
      const condition = String(at(input, 'condition'))
      t.ok(CONDITIONS.has(condition), `${name} → ${other}`)
      const waited = at(compose, 'services', other)
      t.ok(waited !== undefined, other)
      // Those of our own image have the image's.
      const hasCheck = at(waited, 'healthcheck', 'test') !== undefined || at(waited, 'build') !== undefined
      if (condition === 'service_healthy')
        t.ok(hasCheck && at(waited, 'healthcheck', 'disable') !== true, `${other} reports its health`)
      t.equal(condition === 'service_completed_successfully', ONCE.has(other), other)
    }
  }
})

t.test('both nodes share Postgres, Redis and bucket, and wait for the one migration', async (t) => {
  const names = (service: string): readonly string[] =>
    membersAt(compose, 'services', service, 'depends_on').map(([name]) => name)
  t.same(names('node-1'), ['migrate', 'redis'])
  t.same([...names('node-2')].sort(), ['migrate', 'node-1', 'redis'])
  t.same(names('migrate'), ['postgres', 'bucket'])
  t.same(names('balancer'), ['node-1', 'node-2'])
  t.same(at(compose, 'services', 'node-1', 'environment'), at(compose, 'services', 'node-2', 'environment'))
})

t.test('every image has an exact version, and no container has more rights than it needs', async (t) => {
  for (const [name, service] of services) {
    t.match(at(service, 'image'), /^[a-z0-9./-]+:\d+\.\d+(\.\d+)?$/, name)
    t.equal(at(service, 'privileged'), undefined)
    t.same(listAt(service, 'security_opt'), ['no-new-privileges:true'], name)
    t.match(at(service, 'restart'), ONCE.has(name) ? 'on-failure:3' : 'unless-stopped', name)
    // The official images of these begin as root and step down by themselves.
    if (['postgres', 's3', 'bucket'].includes(name)) continue
    t.match(service, { read_only: true, user: /^[1-9]\d*:[1-9]\d*$/, cap_drop: ['ALL'] }, name)
  }
})

t.test('no environment contains a secret, and each secret and volume that is used is defined', async (t) => {
  const environments = services.flatMap(([, service]) => membersAt(service, 'environment'))
  const mayBeSecret = environments.filter(([name]) => /(KEY|TOKEN|PASSWORD|SECRET|_URL)/.test(name))
  t.same(
    mayBeSecret.filter(([, value]) => !/^(\/run\/secrets\/|http)|^\$\{SLUICE_PUBLIC_URL/.test(String(value))),
    [],
  )
  const used = new Set(services.flatMap(([, service]) => listAt(service, 'secrets').map(String)))
  t.same(
    [...used].sort(),
    membersAt(compose, 'secrets')
      .map(([name]) => name)
      .sort(),
  )
  const read = [...deployFile('compose.yaml').matchAll(/\/run\/secrets\/([a-z0-9-]+)/g)].map(
    ([, name]) => name,
  )
  t.same([...new Set(read)].sort(), [...used].sort(), 'what a container reads was given to one')
  const mounted = services.flatMap(([, service]) =>
    listAt(service, 'volumes').map((volume) => String(volume).split(':')[0] ?? ''),
  )
  t.same(
    mounted.filter((name) => !name.startsWith('./')).sort(),
    membersAt(compose, 'volumes')
      .map(([name]) => name)
      .sort(),
  )
})

t.test(
  'secrets.sh creates each file that compose needs, readable in a closed folder, and never overwrites one',
  async (t) => {
    const folder = temporaryFolder(t, 'secrets')
    const secrets = makeSecrets(folder)
    const made = readdirSync(secrets).sort()
    t.same(
      made,
      membersAt(compose, 'secrets')
        .map(([, secret]) => secretFile(secret))
        .sort(),
    )
    t.equal(statSync(secrets).mode & 0o777, 0o700)
    for (const name of made) t.equal(statSync(join(secrets, name)).mode & 0o777, 0o444, name)
    const text = (name: string): string => readFileSync(join(secrets, name), 'utf8')
    const settings = JSON.parse(text('settings.json')) as Record<string, string>
    t.match(text('root-key'), /^[0-9a-f]{64}$/)
    t.match(settings['DATABASE_URL'], `:${text('postgres-password')}@`)
    t.match(text('redis.conf'), `requirepass ${new URL(settings['REDIS_URL'] ?? '').password}\n`)
    const credentials = [
      { accessKey: settings['AWS_ACCESS_KEY_ID'], secretKey: settings['AWS_SECRET_ACCESS_KEY'] },
    ]
    t.match(JSON.parse(text('s3.json')), { identities: [{ credentials }] })
    const before = text('root-key')
    t.throws(() => makeSecrets(folder), /there are secrets already/)
    t.equal(text('root-key'), before)
  },
)
