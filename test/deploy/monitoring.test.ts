import { readFileSync } from 'node:fs'
import t from 'tap'
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { FAILURES } from '../../src/schemas/failures.ts'
import { CLOCK_SKEW_MS_MAX } from '../../src/server/cli/operator/doctor/clock.ts'
import { FAILED_SHARE_MAX, JOURNAL_LAG_MS_MAX } from '../../src/server/observe/findings.ts'
import { BUSY_SHARE_MAX, THREAD_WAIT_MS_MAX } from '../../src/server/observe/load-advice.ts'
import { aggregate } from '../../src/server/observe/metrics.ts'
import { DEPLOY, deployFile, reported, yamlOf } from '../support/nodes/deploy.ts'
import { metricFamilies, NODE_FACTS } from '../support/nodes/metric-families.ts'
import { nodeSettings, startNode } from '../support/nodes/node.ts'
import { ROOT } from '../support/source.ts'
import { readQuery } from '../support/nodes/promql.ts'
import { until } from '../support/wait.ts'

t.setTimeout(600_000)

const RULES_FILE = 'prometheus/alerts.yaml'
const [rules] = yamlOf(deployFile(RULES_FILE))
const board: unknown = JSON.parse(deployFile('grafana/sluice.json'))

const strict = <T extends Type.TProperties>(properties: T) =>
  Type.Object(properties, { additionalProperties: false })
const text = Type.String({ minLength: 1 })

/**
 * The form of a file of rules, of Prometheus' documentation: what is not known there is refused when it is
 * loaded.
 */
const Rules = strict({
  groups: Type.Array(
    strict({
      name: text,
      rules: Type.Array(
        strict({
          alert: Type.String({ pattern: '^Sluice[A-Za-z]+$' }),
          expr: text,
          for: Type.Optional(Type.String({ pattern: '^[0-9]+[smhd]$' })),
          labels: strict({ severity: Type.Enum(['page', 'ticket'] as const) }),
          annotations: strict({ summary: text, description: text }),
        }),
        { minItems: 1 },
      ),
    }),
    { minItems: 1 },
  ),
})
type Rules = Type.Static<typeof Rules>

const Source = strict({ type: Type.Literal('prometheus'), uid: Type.Literal('${datasource}') })
const Place = strict({
  h: Type.Integer({ minimum: 1 }),
  w: Type.Integer({ minimum: 1, maximum: 24 }),
  x: Type.Integer({ minimum: 0 }),
  y: Type.Integer({ minimum: 0 }),
})
const Panel = strict({
  id: Type.Integer({ minimum: 1 }),
  type: Type.Enum(['stat', 'timeseries'] as const),
  title: text,
  description: Type.Optional(text),
  datasource: Source,
  gridPos: Place,
  targets: Type.Array(
    strict({
      refId: Type.String({ pattern: '^[A-Z]$' }),
      datasource: Source,
      expr: text,
      legendFormat: text,
    }),
    { minItems: 1 },
  ),
  fieldConfig: strict({
    defaults: Type.Object({ unit: text }),
    overrides: Type.Array(Type.Unknown(), { maxItems: 0 }),
  }),
  options: Type.Object({}),
})
const Row = strict({
  id: Type.Integer(),
  type: Type.Literal('row'),
  title: text,
  collapsed: Type.Literal(false),
  gridPos: Place,
  panels: Type.Array(Type.Unknown(), { maxItems: 0 }),
})
/** The parts of Grafana's dashboard model that a board needs to be drawn. */
const Board = Type.Object({
  title: text,
  uid: text,
  schemaVersion: Type.Integer({ minimum: 36 }),
  refresh: text,
  time: strict({ from: text, to: text }),
  templating: strict({
    list: Type.Array(Type.Object({ name: text, type: Type.Enum(['datasource', 'query'] as const) })),
  }),
  panels: Type.Array(Type.Union([Row, Panel])),
})
type Board = Type.Static<typeof Board>

/** Where the first thing is wrong with a value. */
function faultIn(schema: Type.TSchema, value: unknown): string | null {
  const [first] = Compile(schema).Errors(value)
  return first === undefined ? null : `${first.instancePath}: ${first.message}`
}

const rulesOf = (value: unknown): Rules['groups'][number]['rules'] =>
  (value as Rules).groups.flatMap((group) => group.rules)
const panelsOf = (value: unknown): readonly Type.Static<typeof Panel>[] =>
  (value as Board).panels.flatMap((panel) => (panel.type === 'row' ? [] : [panel]))

interface Query {
  readonly where: string
  readonly expr: string
  /** Names of labels that its text shows. */
  readonly shown: readonly string[]
}

const queries: readonly Query[] = [
  ...rulesOf(rules).map(({ alert, expr, annotations }) => ({
    where: alert,
    expr,
    shown: [...`${annotations.summary}${annotations.description}`.matchAll(/\$labels\.(\w+)/g)].map(
      (match) => match[1] ?? '',
    ),
  })),
  ...panelsOf(board).flatMap(({ title, targets }) =>
    targets.map(({ expr, legendFormat }) => ({
      where: title,
      expr,
      shown: [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1] ?? ''),
    })),
  ),
]

/** What Prometheus itself puts on every series, and what it says of a target. */
const OF_TARGET = ['instance', 'job']

/** Labels of every metric that the code declares, by name. */
const labels = new Map(metricFamilies().map(({ name, labels }) => [name, labels]))

t.test('the alert rules and the dashboard are valid for Prometheus and Grafana', async (t) => {
  t.equal(faultIn(Rules, rules), null)
  t.equal(faultIn(Board, board), null)
  const names = rulesOf(rules).map(({ alert }) => alert)
  t.same(
    names.filter((name, nth) => names.indexOf(name) !== nth),
    [],
  )
})

t.test('the strict schemas find a misspelled member and an empty panel', async (t) => {
  t.not(faultIn(Rules, { groups: [{ name: 'a', rules: [{ ...rulesOf(rules)[0], sumary: 'x' }] }] }), null)
  t.not(faultIn(Board, { ...(board as object), panels: [{ ...panelsOf(board)[0], targets: [] }] }), null)
})

t.test('panels have unique ids and do not overlap', async (t) => {
  const { panels } = board as Board
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, nth) => `${x + (nth % w)}/${y + Math.floor(nth / w)}`),
  )
  t.equal(new Set(cells).size, cells.length)
  t.ok(panels.every(({ gridPos: { x, w } }) => x + w <= 24))
})

t.test('every metric is one that a node shows, and has every label that is used with it', async (t) => {
  const node = await startNode(t, await nodeSettings(t))
  let types = new Map<string, string>()
  await until('every process has told its metrics', async () => {
    const text = `${await aggregate([], NODE_FACTS)}${(await node.admin('/metrics')).body}`
    types = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    )
    return types.has('sluice_front_event_loop_utilization') && types.has('sluice_video_jobs_held')
  })
  const wrong = queries.flatMap(({ where, expr }) =>
    readQuery(expr).metrics.flatMap(({ name, labels: used }) => {
      if (name === 'up')
        return used
          .filter((label) => !OF_TARGET.includes(label))
          .map((label) => `${where}: up has no ${label}`)
      const base = types.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '')
      if (!types.has(base) || (base !== name) !== (types.get(base) === 'histogram'))
        return [`${where}: no ${name}`]
      const known = [...OF_TARGET, ...(labels.get(base) ?? []), ...(name.endsWith('_bucket') ? ['le'] : [])]
      return used
        .filter((label) => !known.includes(label))
        .map((label) => `${where}: ${name} has no ${label}`)
    }),
  )
  t.same(wrong, [])
  t.same(
    [...labels.keys()].filter((name) => !types.has(name)),
    [],
    'the code declares what no process of a node shows',
  )
  const page = readFileSync(`${ROOT}docs/operate/metrics.md`, 'utf8')
  const named = new Set([...page.matchAll(/`((?:sluice|process)_\w+)`/g)].map(([, name = '']) => name))
  t.same(
    [...types.keys()].filter((name) => !named.has(name)),
    [],
    'metrics that the page leaves out',
  )
  t.same(
    [...named].filter((name) => !types.has(name)),
    [],
    'metrics that the page invents',
  )
  const asked = [
    (board as { templating: { list: readonly { definition?: string }[] } }).templating.list[1]?.definition,
  ]
  t.same(asked, ['label_values(sluice_fronts_ready, instance)'])
})

t.test('no gauge has the label `quantile`, which Prometheus reserves for summaries', (t) => {
  t.same(
    [...labels].filter(([, names]) => names.includes('quantile')),
    [],
  )
  t.end()
})

t.test('a text shows only labels that its query keeps', async (t) => {
  const wrong = queries.flatMap(({ where, expr, shown }) => {
    const query = readQuery(expr)
    const left = query.by ?? query.metrics.flatMap(({ name }) => [...OF_TARGET, ...(labels.get(name) ?? [])])
    return shown.filter((label) => !left.includes(label)).map((label) => `${where}: ${label}`)
  })
  t.same(wrong, [])
})

t.test('every label value that a query compares with exists', async (t) => {
  const known: Readonly<Record<string, readonly string[]>> = {
    job: ['sluice'],
    instance: ['$instance'],
    status: ['5..', 'failed'],
    pool: ['sessions', 'short_jobs'],
    state: ['dead'],
    percentile: ['99'],
    mode: ['postgres'],
    failure: [''],
    cache: ['read'],
    outcome: ['ok', ...Object.keys(FAILURES)],
  }
  const values = queries.flatMap(({ expr }) =>
    readQuery(expr).matchers.flatMap(({ label, value }) =>
      alternatives(value).map((one) => `${label}=${one}`),
    ),
  )
  t.same(
    [...new Set(values)].filter(
      (pair) => !(known[pair.split('=')[0] ?? ''] ?? []).includes(pair.slice(pair.indexOf('=') + 1)),
    ),
    [],
  )
})

/** `a_(b|c)` is `a_b` and `a_c`. */
function alternatives(value: string): readonly string[] {
  const [, begin = '', group] = /^(\w*)\(([\w|]+)\)$/.exec(value) ?? []
  return group === undefined ? [value] : group.split('|').map((end) => begin + end)
}

t.test('alerts use the limits of doctor and of the live view', async (t) => {
  const exprOf = (name: string): string => rulesOf(rules).find(({ alert }) => alert === name)?.expr ?? ''
  t.match(exprOf('SluiceEventLoopBusy'), new RegExp(`> ${BUSY_SHARE_MAX}$`))
  t.match(exprOf('SluiceTransfersWait'), new RegExp(`> ${THREAD_WAIT_MS_MAX / 1_000}$`))
  t.match(exprOf('SluiceJobsWait'), new RegExp(`> ${THREAD_WAIT_MS_MAX / 1_000}$`))
  t.match(exprOf('SluiceCallsFail').trim(), new RegExp(`> ${FAILED_SHARE_MAX}$`))
  t.match(exprOf('SluiceClockSkewed'), new RegExp(`> ${CLOCK_SKEW_MS_MAX / 1_000}$`))
  t.match(exprOf('SluiceBooksBehind'), new RegExp(`> ${JOURNAL_LAG_MS_MAX / 1_000}$`))
})

t.test(
  'promtool accepts the rules',
  { skip: reported('promtool', ['--version']) === null && 'promtool is not installed' },
  async (t) => {
    const { code, stated } = reported('promtool', [
      'check',
      'rules',
      '--lint=all',
      '--lint-fatal',
      `${DEPLOY}${RULES_FILE}`,
    ]) ?? { code: 1, stated: '' }
    t.equal(code, 0, stated)
  },
)
