import { join } from 'node:path'
import t from 'tap'
import { DRAIN_MS } from '../../src/schemas/limits/limits.ts'
import { Settings } from '../../src/schemas/operator/settings.ts'
import { readFrom } from '../../src/server/config.ts'
import { VERSION } from '../../src/server/supervisor/version.ts'
import {
  at,
  deployFile,
  deployFiles,
  environmentOf,
  listAt,
  membersAt,
  plantedSecrets,
  yamlOf,
  type Member,
} from '../support/nodes/deploy.ts'
import { jsonForm, pairsOf, parseDockerfile } from '../support/nodes/dockerfile.ts'

const [compose] = yamlOf(deployFile('compose.yaml'))
const manifests = yamlOf(deployFile('kubernetes/sluice.yaml'))
const [job] = yamlOf(deployFile('kubernetes/migrate.yaml'))
const dockerfile = parseDockerfile(deployFile('Dockerfile'))
const unit = deployFile('systemd/sluice.service')
const nginx = deployFile('nginx.conf')
const defaultOf = (schema: object): number => Number('default' in schema ? schema.default : Number.NaN)
const port = defaultOf(Settings.properties.SLUICE_PORT)
const adminPort = defaultOf(Settings.properties.SLUICE_ADMIN_PORT)

const manifest = (kind: string): Member => manifests.find((document) => at(document, 'kind') === kind)
const pod = at(manifest('StatefulSet'), 'spec', 'template', 'spec')
const jobPod = at(job, 'spec', 'template', 'spec')
const imageEnv = Object.assign(
  {},
  ...dockerfile.filter(({ name }) => name === 'ENV').map(({ text }) => pairsOf(text)),
) as Record<string, string>
const instruction = (name: string): string => dockerfile.findLast((step) => step.name === name)?.text ?? ''

/** What a drain may take in all: fronts, then the runner, each with its slack, then journals and stores. */
const DRAIN_S_MAX = (2 * (DRAIN_MS + 2_000) + 5_000 + 3_000) / 1_000

t.test('each setting that a file of deploy/ names exists', async (t) => {
  const known = new Set([...Object.keys(Settings.properties), 'SLUICE_CONFIG'])
  const named = deployFiles().flatMap((file) =>
    [
      ...deployFile(file).matchAll(
        /\b(?:SLUICE_[A-Z0-9_]+|DATABASE_URL|REDIS_URL|AWS_[A-Z_]+|OTEL_[A-Z_]+)\b/g,
      ),
    ].map(([name]) => `${file}: ${name}`),
  )
  t.ok(named.length > 20)
  t.same(
    named.filter((line) => !known.has(line.replace(/^.*: /, ''))),
    [],
  )
})

t.test('a node starts with the settings of compose, of Kubernetes and of the unit', async (t) => {
  const folder = plantedSecrets(t)
  const places: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    compose: { ...imageEnv, ...environmentOf(compose, 'node-1') },
    kubernetes: {
      ...imageEnv,
      ...Object.fromEntries(
        membersAt(manifest('ConfigMap'), 'data').map(([name, value]) => [name, String(value)]),
      ),
    },
    systemd: Object.fromEntries(
      [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    ),
  }
  for (const [place, env] of Object.entries(places)) {
    const rootKey =
      env['SLUICE_ROOT_KEY_FILE'] === undefined ? {} : { SLUICE_ROOT_KEY_FILE: join(folder, 'root-key') }
    const reading = readFrom({ ...env, SLUICE_CONFIG: join(folder, 'settings.json'), ...rootKey })
    t.same(reading.ok ? [] : reading.problems, [], place)
    t.same(reading.ok && reading.generation.unknown, [], place)
  }
})

t.test(
  'the public and admin ports are the defaults of the settings, and no service has the admin port',
  async (t) => {
    t.equal(instruction('EXPOSE'), String(port))
    t.same(
      [...nginx.matchAll(/server node-\d:(\d+)/g)].map(([, found]) => Number(found)),
      [port, port],
    )
    const ports = Object.fromEntries(
      listAt(pod, 'containers', 0, 'ports').map((row) => [at(row, 'name'), at(row, 'containerPort')]),
    )
    t.same(ports, { http: port, admin: adminPort })
    const services = manifests.filter((document) => at(document, 'kind') === 'Service')
    t.equal(services.length, 2)
    for (const service of services)
      t.same(
        listAt(service, 'spec', 'ports').map((row) => at(row, 'targetPort')),
        ['http'],
      )
    const published = membersAt(compose, 'services').flatMap(([name, service]) =>
      listAt(service, 'ports').map((row) => `${name} ${String(row)}`),
    )
    t.same(published, [
      `node-1 127.0.0.1:${adminPort}:${adminPort}`,
      `node-2 127.0.0.1:${adminPort + 1}:${adminPort}`,
      `balancer 127.0.0.1:${port}:${port}`,
    ])
  },
)

t.test('probes request existing pages of the admin port', async (t) => {
  for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
    const asked = at(pod, 'containers', 0, probe, 'httpGet')
    t.match(asked, { path: /^\/(?:readyz|healthz)$/, port: 'admin' }, probe)
  }
  t.equal(
    at(pod, 'containers', 0, 'livenessProbe', 'httpGet', 'path'),
    '/healthz',
    'a node without its stores is not restarted',
  )
  t.match(deployFile('healthcheck.mjs'), /\$\{adminUrl\}\/readyz/)
  t.same(jsonForm(instruction('HEALTHCHECK').replace(/^.*CMD /, '')), ['node', 'deploy/healthcheck.mjs'])
})

t.test('every process runs as the same user, which is given by number and is not root', async (t) => {
  const user = instruction('USER')
  t.match(user, /^[1-9]\d*:[1-9]\d*$/)
  const [uid, gid] = user.split(':').map(Number)
  for (const place of ['node-1', 'node-2', 'migrate'])
    t.equal(at(compose, 'services', place, 'user'), user, place)
  for (const context of [at(pod, 'securityContext'), at(jobPod, 'securityContext')]) {
    t.match(context, { runAsNonRoot: true, runAsUser: uid, runAsGroup: gid, fsGroup: gid })
  }
  t.equal(dockerfile.find(({ text }) => text.endsWith('/app/data /data'))?.flags['chown'], user)
})

t.test('every deployment uses the image of this version', async (t) => {
  const image = `sluice:${VERSION}`
  for (const place of ['node-1', 'node-2', 'migrate'])
    t.equal(at(compose, 'services', place, 'image'), image, place)
  for (const one of [pod, jobPod]) t.equal(at(one, 'containers', 0, 'image'), image)
  t.match(deployFile('Dockerfile'), `-t ${image} `)
  t.equal(at(job, 'metadata', 'name'), `sluice-migrate-${VERSION.replaceAll('.', '-')}`)
  t.match(unit, `sluice-${VERSION}.tgz`)
})

t.test('every deployment waits for the whole drain before it kills a node', async (t) => {
  t.ok(Number.parseInt(String(at(compose, 'services', 'node-1', 'stop_grace_period')), 10) >= DRAIN_S_MAX)
  const preStop = Number(listAt(pod, 'containers', 0, 'lifecycle', 'preStop', 'exec', 'command').at(-1))
  t.ok(Number(at(pod, 'terminationGracePeriodSeconds')) >= DRAIN_S_MAX + preStop)
  t.ok(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]) >= DRAIN_S_MAX)
})

t.test('the data of a node is in its volume', async (t) => {
  t.match(imageEnv['SLUICE_DATA'], /^\/data\//)
  t.equal(instruction('VOLUME'), '/data')
  t.same(listAt(compose, 'services', 'node-1', 'volumes'), ['node-1:/data'])
  t.same(listAt(compose, 'services', 'node-2', 'volumes'), ['node-2:/data'])
  t.match(at(manifest('ConfigMap'), 'data', 'SLUICE_DATA'), /^\/data\//)
  t.match(listAt(pod, 'containers', 0, 'volumeMounts'), [{ name: 'data', mountPath: '/data' }])
  const state = /^StateDirectory=(.*)$/m.exec(unit)?.[1]
  t.match(unit, `Environment=SLUICE_DATA=/var/lib/${state}\n`)
})
