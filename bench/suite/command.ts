/** The command of `npm run bench`: the scenarios, and the options of each. */
import { parseArgs } from 'node:util'
import { hintOf, nearest } from '../../src/schemas/nearest.ts'
import { SCENARIOS, type Scenario } from '../scenarios.ts'

export interface Command {
  readonly runs: readonly Run[]
  /** Path of a saved run to compare with. */
  readonly baseline: string | null
  /** Share by which a figure may be worse than in the saved run. */
  readonly failOn: number
  /** Further path for the record of a single scenario. */
  readonly json: string | null
  /** A results.json whose page is made again, without a run. */
  readonly report: string | null
  /** A second results.json, which the page shows beside the first. */
  readonly beside: string | null
  /** A results.json whose figures go into the pages of the repository, without a run. */
  readonly publish: string | null
  /** The typed command without keys. */
  readonly text: string
}

export interface Run {
  readonly scenario: Scenario
  readonly args: readonly string[]
}

/** Options of the suite itself, which no scenario gets. */
const OWN = {
  baseline: { type: 'string' },
  'fail-on': { type: 'string' },
  record: { type: 'string' },
  json: { type: 'string' },
  report: { type: 'string' },
  publish: { type: 'string' },
} as const
/** Option with the list of peers. */
const PEERS = 'against'
/** Share by which a figure may be worse by default. */
const FAIL_ON_BY_DEFAULT = '10%'

/** @returns the fault in one line; 'help' for a request of help */
export function readCommand(
  args: readonly string[],
  scenarios: readonly Scenario[] = SCENARIOS,
): Command | string {
  if (args.includes('--help') || args.includes('-h')) return 'help'
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options: optionsOf(scenarios),
      allowPositionals: true,
      tokens: true,
    })
    const given = tokens.flatMap((one) =>
      one.kind === 'option' ? [{ name: one.name, value: one.value ?? null }] : [],
    )
    const files = values['report'] === undefined ? [] : positionals
    if (files.length > 1) return '--report takes one file, or two'
    const named = files.length > 0 ? [] : positionals
    const chosen = chosenOf(named, scenarios)
    const runs = chosen.map((scenario) => runOf(scenario, given, named.length === 0))
    const text = [
      'npm run bench --',
      ...positionals,
      ...given.map((one) => written({ ...one, value: shown(one) })),
    ]
    const stray = given.find(
      ({ name }) => !Object.hasOwn(OWN, name) && !chosen.some((scenario) => takes(scenario, name)),
    )
    if (stray !== undefined)
      return `--${stray.name} is an option of ${names(scenarios.filter((one) => takes(one, stray.name)))} alone`
    const unknown = given
      .filter(({ name }) => name === PEERS)
      .flatMap(({ value }) => value?.split(',') ?? [])
      .find((peer) => !chosen.some(({ options }) => options.lists[PEERS]?.includes(peer)))
    if (unknown !== undefined)
      return `--${PEERS}: no scenario that runs has '${unknown}'; there are ${peersOf(chosen).join(',')}`
    if (values['fail-on'] !== undefined && values['baseline'] === undefined)
      return '--fail-on says how much worse than --baseline FILE: it needs one'
    const json = values['json'] ?? values['record'] ?? null
    if (json !== null && runs.length > 1) return '--record takes the record of one scenario'
    return {
      runs,
      baseline: textOf(values['baseline']),
      failOn: shareOf(textOf(values['fail-on']) ?? FAIL_ON_BY_DEFAULT),
      json: textOf(json),
      report: textOf(values['report']),
      beside: files[0] ?? null,
      publish: textOf(values['publish']),
      text: text.join(' ').replace(/ --$/, ''),
    }
  } catch (problem) {
    return faultOf(problem instanceof Error ? problem.message : String(problem), scenarios)
  }
}

/** The fault in one line; an unknown option with the known ones that it may stand for. */
function faultOf(message: string, scenarios: readonly Scenario[]): string {
  const [line = ''] = message.split('\n')
  const [unknown, name] = /^Unknown option '--([^']+)'/.exec(line) ?? []
  if (unknown === undefined || name === undefined) return line
  const known = ['sweep', ...Object.keys(optionsOf(scenarios))].map((one) => `--${one}`)
  const hint = hintOf(nearest(`--${name}`, known))
  return hint === '' ? line : `${unknown}.${hint}`
}

function peersOf(scenarios: readonly Scenario[]): readonly string[] {
  return [...new Set(scenarios.flatMap(({ options }) => options.lists[PEERS] ?? []))].filter(
    (name) => name !== 'sluice',
  )
}

interface GivenOption {
  readonly name: string
  readonly value: string | null
}

/** Options of all scenarios and of the suite itself. */
export function optionsOf(scenarios: readonly Scenario[]): Record<string, { type: 'string' | 'boolean' }> {
  const of = (
    list: readonly string[],
    type: 'string' | 'boolean',
  ): Record<string, { type: 'string' | 'boolean' }> =>
    Object.fromEntries(list.map((name) => [name, { type }]))
  return {
    ...of(
      scenarios.flatMap(({ options }) => options.flags),
      'boolean',
    ),
    ...of(
      scenarios.flatMap(({ options }) => options.texts),
      'string',
    ),
    ...OWN,
  }
}

/** The scenarios of the given names; throws an Error that names the nearest. */
export function chosenOf(wanted: readonly string[], scenarios: readonly Scenario[]): readonly Scenario[] {
  if (wanted.length === 0) return scenarios.filter(({ suite }) => suite !== null)
  return [...new Set(wanted)].map((name) => {
    const found = scenarios.find((one) => one.name === name)
    if (found === undefined) throw new Error(`there is no scenario '${name}'${besideOf(name, scenarios)}`)
    return found
  })
}

/** The names that a misspelt one may stand for, else all. */
function besideOf(name: string, scenarios: readonly Scenario[]): string {
  const hint = hintOf(
    nearest(
      name,
      scenarios.map((one) => one.name),
    ),
  )
  return hint === '' ? `; there are ${names(scenarios)}` : `.${hint}`
}

/** The run of a scenario; it gets only the options that it has. */
function runOf(scenario: Scenario, given: readonly GivenOption[], isSuite: boolean): Run {
  const own = given
    .filter(({ name }) => !Object.hasOwn(OWN, name) && takes(scenario, name))
    .flatMap((one) => narrowed(one, scenario))
    .map(written)
  const args = [...(isSuite ? (scenario.suite?.args ?? []) : []), ...own]
  const problem = scenario.options(args)
  if (typeof problem === 'string') throw new Error(`${scenario.name}: ${problem}`)
  return { scenario, args }
}

/** The option without peers that only another named scenario has. */
function narrowed(one: GivenOption, { options }: Scenario): readonly GivenOption[] {
  const known = options.lists[PEERS]
  if (one.name !== PEERS || one.value === null || known === undefined) return [one]
  const value = one.value
    .split(',')
    .filter((name) => known.includes(name))
    .join(',')
  return value === '' ? [] : [{ ...one, value }]
}

function takes({ options }: Scenario, name: string): boolean {
  return options.texts.includes(name) || options.flags.includes(name)
}

function written({ name, value }: GivenOption): string {
  return value === null ? `--${name}` : `--${name}=${value}`
}

/** The option's value for the record: without keys, and of an address only its origin. */
function shown({ name, value }: GivenOption): string | null {
  if (name === 'key') return '…'
  if (name !== 'target' || value === null) return value
  return URL.canParse(value) ? new URL(value).origin : '…'
}

function shareOf(text: string): number {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1]
  const share = percent === undefined ? Number.NaN : Number(percent) / 100
  if (!(share > 0 && share <= 10)) throw new Error(`--fail-on takes a share as 10%, not '${text}'`)
  return share
}

function names(scenarios: readonly Scenario[]): string {
  return scenarios.map(({ name }) => name).join(', ')
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** @param named the scenarios to tell of; none: all, and what a run of them does */
export function helpText(
  scenarios: readonly Scenario[] = SCENARIOS,
  named: readonly Scenario[] = [],
): string {
  const isOfAll = named.length === 0
  const reported = isOfAll ? scenarios : named
  const widest = Math.max(...reported.map(({ name }) => name.length))
  const whole = scenarios.filter(({ suite }) => suite !== null)
  const helps = [...new Set(reported.map(({ help }) => help))]
  return [
    `npm run bench -- ${isOfAll ? '[<scenario>…]' : reported.map(({ name }) => name).join(' ')} [options]`,
    '',
    ...reported.map(({ name, text }) => `  ${name.padEnd(widest)}  ${text}`),
    '',
    ...(isOfAll
      ? [
          `Without a scenario: ${names(whole)}, shortened to about twelve minutes on two cores.`,
          '<scenario> --help tells of that one alone.',
        ]
      : []),
    'Each run leaves a folder in bench/results: report.html, results.json and what each scenario left.',
    `--baseline FILE --fail-on ${FAIL_ON_BY_DEFAULT}  compares with the results.json of another run: ends with 1 when a figure got worse by more`,
    '--report FILE  makes the page of a saved results.json again, in the folder of that file, and runs nothing',
    '--report FILE FILE  makes a page with two saved runs side by side, in the folder of the first file',
    '--publish FILE  writes docs/operate/figures.md and the chart of the README from a saved results.json, and runs nothing',
    '--record FILE  puts the record of a single scenario there as well',
    ...helps.flatMap((help) => ['', `${names(reported.filter((one) => one.help === help))} ${help}`]),
  ].join('\n')
}
