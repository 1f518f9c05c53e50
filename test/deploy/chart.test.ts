import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { EGRESS_DEADLINE_MS } from '../../src/schemas/egress/egress-limits.ts'
import { DRAIN_MS, FRONTS_MAX, MIB, NODE_DRAIN_MS_MAX, WORKERS_MAX } from '../../src/schemas/limits/limits.ts'
import { FRONT_BYTES_MAX, NODE_REST_BYTES } from '../../src/schemas/operator/memory-limits.ts'
import { Settings } from '../../src/schemas/operator/settings.ts'
import { readFrom } from '../../src/server/config.ts'
import { VERSION } from '../../src/server/supervisor/version.ts'
import {
  CHART,
  chartFile,
  chartValues,
  merged,
  renderChart,
  renderFile,
  type Release,
  type Values,
} from '../support/nodes/chart.ts'
import {
  at,
  DEPLOY,
  deployFile,
  listAt,
  membersAt,
  plantedSecrets,
  reported,
  yamlOf,
  type Member,
} from '../support/nodes/deploy.ts'
import { ROOT } from '../support/source.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const schema = JSON.parse(deployFile(`${CHART}values.schema.json`)) as TSchema & {
  readonly properties: {
    readonly settings: { readonly propertyNames: { readonly enum: readonly string[] } }
    readonly fronts: unknown
    readonly workers: unknown
  }
}
const check = Compile(schema)
const isTaken = (values: Values): boolean => check.Check(merged(chartValues(), values))
const find = (documents: readonly Member[], kind: string): Member =>
  documents.find((document) => at(document, 'kind') === kind)
const podOf = (documents: readonly Member[]): Member => at(find(documents, 'StatefulSet'), 'spec', 'template')
const containerOf = (documents: readonly Member[]): Member => at(podOf(documents), 'spec', 'containers', 0)

/** Everything that is off by default. */
const ALL: Values = {
  image: { digest: `sha256:${'ab'.repeat(32)}` },
  imagePullSecrets: [{ name: 'registry' }],
  fronts: 'auto',
  workers: 'auto',
  settings: { SLUICE_LOG_LEVEL: 'warn', SLUICE_CATALOG: '/run/secrets/sluice/catalog.json' },
  resources: { limits: { cpu: '4', memory: '7Gi' } },
  storage: { className: 'fast' },
  service: { annotations: { 'example.com/a': 'b' } },
  ingress: {
    enabled: true,
    className: 'nginx',
    annotations: { 'example.com/a': 'b' },
    tlsSecretName: 'tls',
  },
  podAnnotations: { 'example.com/a': 'b' },
  nodeSelector: { 'kubernetes.io/arch': 'arm64' },
  tolerations: [{ key: 'only', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
}

/** What an operator may get wrong. */
const REFUSED: readonly (readonly [string, Values])[] = [
  ['a misspelt value', { replica: 3 }],
  ['a misspelt setting', { settings: { SLUICE_LOG_LEVLE: 'warn' } }],
  ['a store with its password', { settings: { DATABASE_URL: 'postgres://a:b@c/d' } }],
  ['the root key', { settings: { SLUICE_ROOT_KEY: 'ab'.repeat(32) } }],
  ['a secret of the bucket', { settings: { AWS_SECRET_ACCESS_KEY: 'b' } }],
  ['a key of a provider', { settings: { OPENAI_API_KEY: 'sk' } }],
  ['another port than probes ask', { settings: { SLUICE_ADMIN_PORT: '9999' } }],
  ['a number that YAML would round', { settings: { SLUICE_STREAM_HOLD_MS: 10_000_000 } }],
  ['no front', { fronts: 0 }],
  ['too many fronts', { fronts: FRONTS_MAX + 1 }],
  ['fronts in words', { fronts: 'many' }],
  ['half a worker', { workers: 1.5 }],
  ['too many workers', { workers: WORKERS_MAX + 1 }],
  ['no node', { replicas: 0 }],
  ['memory without a unit that is one', { resources: { limits: { memory: '7gb' } } }],
  ['a digest that is cut', { image: { digest: 'sha256:abc' } }],
  ['a tag with a path', { image: { tag: '../latest' } }],
  ['a host with a scheme', { ingress: { host: 'https://sluice.example' } }],
  ['a Secret without a name', { secretName: '' }],
]

for (const [what, values] of REFUSED)
  t.test(`the chart refuses ${what}`, async (t) => t.notOk(isTaken(values)))

t.test('the chart accepts its own values, and everything that is off by default', async (t) => {
  t.ok(isTaken({}))
  t.ok(isTaken(ALL))
})

t.test(
  'the settings of the chart are those of the settings definitions that are neither secrets nor set by the chart',
  async (t) => {
    const own = membersAt(yamlOf(renderFile('configmap.yaml', { values: { settings: {} } }))[0], 'data')
    const isOwn = new Set([
      ...own.map(([name]) => name).filter((name) => !(name in (chartValues()['settings'] as object))),
      'SLUICE_PORT',
      'SLUICE_ADMIN_PORT',
    ])
    const wanted = Object.entries(Settings.properties)
      .filter(([name, setting]) => !isOwn.has(name) && !('mask' in setting))
      .map(([name]) => name)
    t.same([...schema.properties.settings.propertyNames.enum], wanted.sort(), 'in values.schema.json')
    t.match(schema.properties.fronts, { anyOf: [{ minimum: 1, maximum: FRONTS_MAX }, { enum: ['auto'] }] })
    t.match(schema.properties.workers, { anyOf: [{ minimum: 1, maximum: WORKERS_MAX }, { enum: ['auto'] }] })
  },
)

/** What the chart adds to each manifest, and what Kubernetes would fill in by itself. */
function plain(value: Member): Member {
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    membersAt(value)
      .filter(([name, one]) => !ADDED.has(name) && !(name === 'type' && one === 'ClusterIP'))
      .filter(([name, one]) => name !== 'imagePullPolicy' || one !== 'IfNotPresent')
      .map(([name, one]) => [name, plain(one)] as const)
      .filter(([name, one]) => name !== 'annotations' || membersAt(one).length > 0),
  )
}

const ADDED = new Set([
  'app.kubernetes.io/instance',
  'app.kubernetes.io/version',
  'app.kubernetes.io/managed-by',
  'helm.sh/chart',
  'helm.sh/hook',
  'helm.sh/hook-delete-policy',
  'checksum/settings',
])

t.test('the default values render the manifests of deploy/kubernetes', async (t) => {
  const kubernetes = ['kubernetes/sluice.yaml', 'kubernetes/migrate.yaml'].flatMap((file) =>
    yamlOf(deployFile(file)),
  )
  const sorted = (documents: readonly Member[]): readonly Member[] =>
    [...documents].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
  const rendered = renderChart()
  t.same(sorted(rendered).map(nameOf), sorted(kubernetes).map(nameOf))
  t.same(sorted(rendered).map(plain), sorted(kubernetes))
})

function nameOf(document: Member): string {
  return `${String(at(document, 'kind'))} ${String(at(document, 'metadata', 'name'))}`
}

t.test('chart, program and image have the same version', async (t) => {
  t.match(chartFile(), { version: VERSION, appVersion: VERSION })
  t.equal(at(containerOf(renderChart()), 'image'), `sluice:${VERSION}`)
  t.equal(
    at(containerOf(renderChart({ values: { image: { tag: '0.2.0-rc1' } } })), 'image'),
    'sluice:0.2.0-rc1',
  )
  t.match(at(containerOf(renderChart({ values: ALL })), 'image'), /^sluice@sha256:(ab){32}$/)
})

t.test('two releases in one namespace share no name, and neither selects pods of the other', async (t) => {
  const [one, other] = ['sluice', 'staging'].map((name) => renderChart({ name }))
  const names = [...(one ?? []), ...(other ?? [])].map(nameOf)
  t.equal(new Set(names).size, names.length)
  t.ok(names.includes('StatefulSet staging-sluice'))
  const selected = at(find(other ?? [], 'StatefulSet'), 'spec', 'selector', 'matchLabels')
  t.notSame(selected, at(podOf(one ?? []), 'metadata', 'labels'))
  for (const service of (other ?? []).filter((document) => at(document, 'kind') === 'Service'))
    t.same(at(service, 'spec', 'selector'), selected)
  const long = renderChart({ name: 'a'.repeat(53) }).map((document) =>
    String(at(document, 'metadata', 'name')),
  )
  t.ok(
    long.every((name) => name.length <= 63),
    'names of Kubernetes have 63 characters at most',
  )
})

t.test('the memory limit of a pod covers the maximum memory of its fronts', async (t) => {
  const memoryOf = (values: Values): Member =>
    at(containerOf(renderChart({ values })), 'resources', 'limits', 'memory')
  for (const fronts of [1, 2, 8])
    t.equal(memoryOf({ fronts }), `${(fronts * FRONT_BYTES_MAX + NODE_REST_BYTES) / MIB}Mi`)
  t.equal(memoryOf({ resources: { limits: { memory: '9Gi' } } }), '9Gi')
  t.throws(() => memoryOf({ fronts: 'auto' }), /resources\.limits\.memory/)
})

/** Seconds of a drain after that of the fronts: the runner's drain, and the rest for journals and stores. */
const DRAIN_REST_S = 45

t.test('a pod is not killed before its drain has ended, however long the drain takes', async (t) => {
  const graceOf = (values: Values): number =>
    Number(at(podOf(renderChart({ values })), 'spec', 'terminationGracePeriodSeconds'))
  const preStop = Number(listAt(containerOf(renderChart()), 'lifecycle', 'preStop', 'exec', 'command').at(-1))
  for (const drainMs of [DRAIN_MS, 1_500, NODE_DRAIN_MS_MAX]) {
    const grace = graceOf({ settings: { SLUICE_DRAIN_MS: String(drainMs) } })
    t.ok(grace >= drainMs / 1_000 + DRAIN_REST_S + preStop, `${drainMs} ms: ${grace} s`)
  }
  t.equal(graceOf({}), graceOf({ settings: { SLUICE_DRAIN_MS: String(DRAIN_MS) } }))
})

t.test('the documented ingress has a timeout longer than the longest answer', async (t) => {
  const text = deployFile(`${CHART}values.yaml`)
  for (const way of ['read', 'send'])
    t.ok(Number(new RegExp(`proxy-${way}-timeout: "(\\d+)"`).exec(text)?.[1]) * 1_000 > EGRESS_DEADLINE_MS)
})

t.test('a node starts on the settings of the chart', async (t) => {
  const folder = plantedSecrets(t)
  writeFileSync(join(folder, 'catalog.json'), '{}')
  for (const values of [{}, ALL]) {
    const data = membersAt(find(renderChart({ values }), 'ConfigMap'), 'data')
    t.ok(data.every(([, value]) => typeof value === 'string'))
    const env = Object.fromEntries(
      data.map(([name, value]) => [name, String(value).replace('/run/secrets/sluice', folder)]),
    )
    const reading = readFrom(env)
    t.same(reading.ok ? [] : reading.problems, [])
    t.same(reading.ok && reading.generation.unknown, [])
  }
})

t.test(
  'pods are replaced when their settings change, and not for other changes of the release',
  async (t) => {
    const sumOf = (release: Release): Member =>
      at(podOf(renderChart(release)), 'metadata', 'annotations', 'checksum/settings')
    t.match(sumOf({}), /^[0-9a-f]{64}$/)
    t.not(sumOf({ values: { settings: { SLUICE_LOG_LEVEL: 'warn' } } }), sumOf({}))
    t.not(sumOf({ values: { workers: 3 } }), sumOf({}))
    t.equal(sumOf({ values: { service: { port: 81 } } }), sumOf({}))
  },
)

t.test('a value is inserted as data, whatever it contains', async (t) => {
  const hostile = "a\"\n  x: 1 # {{ .Values }} \\ 'b' ${c}"
  const documents = renderChart({ values: { settings: { SLUICE_LOG_LEVEL: hostile } } })
  t.equal(at(find(documents, 'ConfigMap'), 'data', 'SLUICE_LOG_LEVEL'), hostile)
  t.equal(documents.length, renderChart().length)
})

t.test('a single node has no disruption budget, because nothing could meet it', async (t) => {
  t.equal(find(renderChart({ values: { replicas: 1 } }), 'PodDisruptionBudget'), undefined)
  t.equal(
    at(find(renderChart({ values: { replicas: 5 } }), 'PodDisruptionBudget'), 'spec', 'minAvailable'),
    4,
  )
})

t.test('opens the admin port to the named peers, and to none when no peer is named', async (t) => {
  const portsOf = (values: Values): readonly Member[] =>
    listAt(find(renderChart({ values }), 'NetworkPolicy'), 'spec', 'ingress').map((rule) =>
      at(rule, 'ports', 0, 'port'),
    )
  t.same(portsOf({}), ['http', 'admin'])
  t.same(portsOf({ networkPolicy: { adminFrom: [] } }), ['http'])
  for (const document of renderChart({ values: ALL }))
    if (/^(Service|Ingress)$/.test(String(at(document, 'kind'))))
      t.notMatch(JSON.stringify(document), /admin|9090/)
})

t.test('the notes warn about the example public address, and about no other', async (t) => {
  const notes = (values: Values): string => renderFile('NOTES.txt', { values })
  t.match(notes({}), /SLUICE_PUBLIC_URL is that of an example/)
  const settings = { SLUICE_PUBLIC_URL: 'https://ai.acme.example' }
  t.notMatch(notes({ settings }), /example: URLs/)
  t.match(notes({ settings }), 'https://ai.acme.example')
})

const CHECKER = `${ROOT}tools/manifests.mjs`
t.test(
  'each manifest of the chart matches the Kubernetes API, including the names of members',
  {
    skip:
      !existsSync(`${ROOT}tools/node_modules/kubernetes-models`) &&
      'its types are not installed: `npm run lint` installs them',
  },
  async (t) => {
    const { faultsOf } = (await import(CHECKER)) as {
      faultsOf: (manifests: readonly unknown[]) => Promise<readonly string[]>
    }
    t.same(await faultsOf([...renderChart(), ...renderChart({ values: ALL })]), [])
  },
)

t.test(
  'Helm lints the chart without findings, and renders and refuses the same values as these tests',
  { skip: reported('helm', ['version']) === null && 'helm is not installed' },
  async (t) => {
    const folder = temporaryFolder(t, 'helm')
    const file = join(folder, 'values.json')
    const helm = (
      verb: readonly string[],
      values: Values,
    ): { readonly code: number; readonly stated: string } => {
      writeFileSync(file, JSON.stringify(values))
      return reported('helm', [...verb, DEPLOY + CHART, `--values=${file}`]) ?? { code: 1, stated: '' }
    }
    const template = ['template', 'sluice', '--namespace=sluice', '--kube-version=1.31.0']
    const sorted = (documents: readonly Member[]): readonly Member[] =>
      documents.filter((one) => one !== null).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1))
    for (const values of [{}, ALL]) {
      const linted = helm(['lint', '--strict'], values)
      t.equal(linted.code, 0, linted.stated)
      const rendered = helm(template, values)
      t.equal(rendered.code, 0)
      t.same(sorted(yamlOf(rendered.stated)), sorted(renderChart({ values })))
    }
    for (const [what, values] of REFUSED) t.not(helm(template, values).code, 0, what)
  },
)
