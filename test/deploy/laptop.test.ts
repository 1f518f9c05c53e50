import { readFileSync } from 'node:fs'
import t from 'tap'
import { MIB } from '../../src/schemas/limits/limits.ts'
import { FRONT_BYTES_MAX, NODE_REST_BYTES } from '../../src/schemas/operator/memory-limits.ts'
import { Settings } from '../../src/schemas/operator/settings.ts'
import { readFrom } from '../../src/server/config.ts'
import { frontsFor } from '../../src/server/config/cores.ts'
import { VERSION } from '../../src/server/supervisor/version.ts'
import {
  at,
  DEPLOY,
  deployFile,
  environmentOf,
  listAt,
  membersAt,
  reported,
  yamlOf,
} from '../support/nodes/deploy.ts'
import { pairsOf, parseDockerfile } from '../support/nodes/dockerfile.ts'
import { ROOT } from '../support/source.ts'

const FILE = 'compose.laptop.yaml'
const [compose] = yamlOf(deployFile(FILE))
const [shared] = yamlOf(deployFile('compose.yaml'))
const node = at(compose, 'services', 'sluice')
const environment = environmentOf(compose, 'sluice')
const image = Object.assign(
  {},
  ...parseDockerfile(deployFile('Dockerfile'))
    .filter(({ name }) => name === 'ENV')
    .map(({ text }) => pairsOf(text)),
) as Record<string, string>
const portOf = (setting: object): number => Number('default' in setting ? setting.default : Number.NaN)

t.test(
  'docker compose accepts the file for a laptop',
  {
    skip: (reported('docker', ['compose', 'version'])?.code ?? 1) !== 0 && 'docker compose is not installed',
  },
  async (t) => {
    const config = reported('docker', ['compose', '-f', DEPLOY + FILE, 'config', '--quiet'])
    t.equal(config?.code, 0, config?.stated ?? '')
  },
)

t.test('the node and its dashboard are reachable only from the laptop', async (t) => {
  const ports = [Settings.properties.SLUICE_PORT, Settings.properties.SLUICE_ADMIN_PORT].map(portOf)
  t.same(
    listAt(node, 'ports'),
    ports.map((port) => `127.0.0.1:${port}:${port}`),
  )
})

t.test('runs one container, with no more rights than a node behind a load balancer', async (t) => {
  t.same(
    membersAt(compose, 'services').map(([name]) => name),
    ['sluice'],
  )
  const other = at(shared, 'services', 'node-1')
  for (const member of [
    'init',
    'read_only',
    'user',
    'cap_drop',
    'security_opt',
    'tmpfs',
    'restart',
    'stop_grace_period',
  ])
    t.same(at(node, member), at(other, member), member)
})

t.test('its image contains Postgres, and has a name that no image without Postgres has', async (t) => {
  t.equal(at(node, 'image'), `sluice:${VERSION}-laptop`)
  t.not(at(node, 'image'), at(shared, 'services', 'node-1', 'image'))
  t.equal(at(node, 'build', 'args'), undefined)
  t.match(deployFile('Dockerfile'), /^ARG EMBEDDED_POSTGRES=yes$/m)
})

t.test(
  'each variable is a setting or the key of a catalogue provider, and all such keys are listed',
  async (t) => {
    const catalogue = readFileSync(`${ROOT}catalog.json`, 'utf8')
    const keys = [...new Set([...catalogue.matchAll(/"([A-Z]+_API_KEY)"/g)].map(([, name = '']) => name))]
    const named = Object.keys(environment)
    t.same(named.filter((name) => !(name in Settings.properties)).sort(), keys.sort())
    for (const [name, value] of membersAt(node, 'environment'))
      if (keys.includes(name)) t.equal(value, `\${${name}:-}`, 'of the shell, and never in the file')
  },
)

t.test('a node starts with these settings, with its own stores', async (t) => {
  const env = Object.fromEntries(
    Object.entries({ ...image, ...environment }).filter(([, value]) => value !== ''),
  )
  const reading = readFrom(env)
  t.same(reading.ok ? [] : reading.problems, [])
  if (!reading.ok) return
  t.same(reading.generation.unknown, [])
  t.match(reading.generation.config, { databaseUrl: null, redisUrl: null, rootKeyFile: null })
  const { config } = reading.generation
  t.equal(config.publicOrigin, `http://127.0.0.1:${config.port}`)
  t.match(config.dataDir, /^\/data\//, 'all that lasts is in the volume')
  t.same(listAt(node, 'volumes'), ['data:/data'])
  t.same(
    membersAt(compose, 'volumes').map(([name]) => name),
    ['data'],
  )
})

t.test('the memory limit covers the fronts that its cores allow', async (t) => {
  t.equal(environment['SLUICE_FRONTS'], undefined, 'the quota decides')
  const allowed = Number.parseInt(String(at(node, 'mem_limit')), 10) * 1_024 * MIB
  t.match(at(node, 'mem_limit'), /^\d+g$/)
  t.ok(allowed >= frontsFor(Number(at(node, 'cpus'))) * FRONT_BYTES_MAX + NODE_REST_BYTES)
})
