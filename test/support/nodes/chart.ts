/** The chart of `deploy/chart`, as Helm would install it. */
import { createHash } from 'node:crypto'
import { parse, stringify } from 'yaml'
import { deployFile, deployFiles, yamlOf, type Member } from './deploy.ts'
import { isTrue, parseTemplate, Renderer, type Functions } from './go-template.ts'

export const CHART = 'chart/'

/** Members that differ from those of values.yaml; maps are merged, lists are not. */
export type Values = Readonly<Record<string, unknown>>

export interface Release {
  readonly name?: string
  readonly namespace?: string
  readonly values?: Values
}

export function chartValues(): Values {
  return parse(deployFile(`${CHART}values.yaml`)) as Values
}

export function chartFile(): { readonly version: string; readonly appVersion: string } {
  return parse(deployFile(`${CHART}Chart.yaml`)) as { version: string; appVersion: string }
}

/** The manifests of a release. Throws where Helm would refuse the templates. */
export function renderChart(release: Release = {}): readonly Member[] {
  return templateNames()
    .filter((name) => name.endsWith('.yaml'))
    .flatMap((name) => yamlOf(renderFile(name, release)))
    .filter((document) => document !== null)
}

/** The text of one file of the templates. */
export function renderFile(
  file: string,
  { name = 'sluice', namespace = 'sluice', values = {} }: Release,
): string {
  const templates = new Map(
    templateNames().flatMap((path) => [...parseTemplate(path, deployFile(`${CHART}templates/${path}`))]),
  )
  const { version, appVersion } = chartFile()
  const dot = {
    Values: merged(chartValues(), values),
    Release: { Name: name, Namespace: namespace, Service: 'Helm' },
    Chart: { Name: 'sluice', Version: version, AppVersion: appVersion },
  }
  return new Renderer(templates, FUNCTIONS).render(file, dot)
}

export function merged(base: unknown, over: unknown): unknown {
  if (!isMap(base) || !isMap(over)) return over === undefined ? base : over
  const names = new Set([...Object.keys(base), ...Object.keys(over)])
  return Object.fromEntries([...names].map((name) => [name, merged(base[name], over[name])]))
}

function templateNames(): readonly string[] {
  const folder = `${CHART}templates/`
  return deployFiles().flatMap((path) => (path.startsWith(folder) ? [path.slice(folder.length)] : []))
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Those of Helm that the chart uses. Arguments in Helm's order: what is piped comes last. */
const FUNCTIONS: Functions = {
  quote: (value) => (value === null || value === undefined ? '' : JSON.stringify(String(value))),
  default: (instead, value) => (isTrue(value) ? value : instead),
  toYaml: (value) => stringify(value, { lineWidth: 0 }).trimEnd(),
  toString: (value: unknown) => String(value),
  nindent: (count, text) => `\n${String(text).replace(/^/gm, ' '.repeat(Number(count)))}`,
  printf: (form, ...values) => {
    const left = [...values]
    return String(form).replace(/%[sd]/g, () => String(left.shift()))
  },
  replace: (from, to, text) => String(text).replaceAll(String(from), String(to)),
  contains: (part, text) => String(text).includes(String(part)),
  trunc: (count, text) => String(text).slice(0, Number(count)),
  trimSuffix: (end, text) =>
    String(text).endsWith(String(end)) ? String(text).slice(0, -String(end).length) : text,
  sha256sum: (text) => createHash('sha256').update(String(text)).digest('hex'),
  eq: (a, b) => a === b,
  gt: (a, b) => Number(a) > Number(b),
  int: (value) => Math.trunc(Number(value)),
  add: (a, b) => Number(a) + Number(b),
  sub: (a, b) => Number(a) - Number(b),
  mul: (a, b) => Number(a) * Number(b),
  div: (a, b) => Math.trunc(Number(a) / Number(b)),
  fail: (why) => {
    throw new Error(String(why))
  },
}
