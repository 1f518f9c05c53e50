/**
 * `npm run bench`: runs scenarios one after the other, each in a process of its own, and writes their folder.
 */
import { join } from 'node:path'
import { LIVE_MARK, writeJson } from '../keep-record.ts'
import { headLine, ROOT } from '../text.ts'
import { machine } from '../machine.ts'
import { RESULTS_FORM, type ResultsFile, type ScenarioRecord } from '../record.ts'
import { recordText } from '../record-text.ts'
import { startChild, type ChildEnd, type RunningChild } from './child.ts'
import type { Command, Run } from './command.ts'
import { Progress, type Screen } from './progress.ts'
import { openScratch } from './scratch.ts'
import { readRecord } from './shape.ts'
import { versionsOf } from './versions.ts'

export interface SuiteDeps {
  readonly screen: Screen
  /** Prints tables. */
  print(text: string): void
  /** A scenario's program with its first arguments. */
  program(name: string): readonly string[]
  /** Folder of this run's results. */
  readonly resultsFolder: string
  /** Aborted: the child is ended, and the results so far are written. */
  readonly signal: AbortSignal
  /** Aborted: the child is ended by force. */
  readonly hurry: AbortSignal
}

export interface SuiteEnd {
  readonly results: ResultsFile
  readonly folder: string
  /** Names of the scenarios without a record. */
  readonly broken: readonly string[]
}

/** Expected seconds of a scenario that does not run as in the suite. */
const SECONDS_UNKNOWN = 60

export async function runScenarios(command: Command, deps: SuiteDeps): Promise<SuiteEnd> {
  const facts = machine()
  const startedAt = new Date()
  const folder = join(deps.resultsFolder, startedAt.toISOString().replace(/[:.]/g, '-'))
  const progress = new Progress(
    deps.screen,
    command.runs.map(({ scenario }) => scenario.suite?.seconds ?? SECONDS_UNKNOWN),
  )
  const scenarios: ScenarioRecord[] = []
  const broken: string[] = []
  for (const run of command.runs) {
    if (deps.signal.aborted) break
    const one = await runOne(run, {
      ...deps,
      progress,
      file: join(folder, 'raw', `${run.scenario.name}.json`),
    })
    if (one.isBroken) broken.push(run.scenario.name)
    scenarios.push(one.record)
  }
  progress.end()
  const results: ResultsFile = {
    form: RESULTS_FORM,
    at: startedAt.toISOString(),
    command: command.text,
    machine: facts,
    versions: versionsOf([...new Set(scenarios.flatMap(({ rows }) => rows.map(({ subject }) => subject)))]),
    took_seconds: Math.round((Date.now() - startedAt.getTime()) / 1_000),
    scenarios,
  }
  await writeJson(join(folder, 'results.json'), results)
  deps.print([headLine(facts), ...scenarios.flatMap((one) => ['', ...recordText(one)])].join('\n'))
  return { results, folder, broken }
}

interface One {
  readonly record: ScenarioRecord
  readonly isBroken: boolean
}

async function runOne(
  { scenario: { name, text, needs }, args }: Run,
  {
    progress,
    file,
    program,
    signal,
    hurry,
  }: SuiteDeps & { readonly progress: Progress; readonly file: string },
): Promise<One> {
  progress.begin(name)
  const beganAt = performance.now()
  const scratch = await openScratch()
  const child = startChild([...program(name), ...args, '--record', file], {
    folder: scratch.folder,
    // Lines about a named deployment stay on the screen, for example the announced load; live ones do not.
    say: (line) => {
      if (needs === undefined) progress.step(`${name}: ${line}`)
      else if (line.startsWith(LIVE_MARK)) progress.live(line.slice(LIVE_MARK.length))
      else progress.say(line)
    },
  })
  const end = await endOf(child, { signal, hurry }).finally(() => scratch.remove())
  const read = readRecord(file)
  // The record shows by itself whether it is complete: a scenario exits with 1 when a check is missed.
  if ('value' in read && read.value.scenario === name) return { record: read.value, isBroken: false }
  const reason = signal.aborted
    ? 'interrupted'
    : brokenText(end, 'problem' in read ? read.problem : `its record is one of '${read.value.scenario}'`)
  progress.say(`${name}: ${reason}`)
  const took = Math.round((performance.now() - beganAt) / 1_000)
  return { record: emptyRecord({ name, text, took, reason }), isBroken: true }
}

async function endOf(
  child: RunningChild,
  { signal, hurry }: Pick<SuiteDeps, 'signal' | 'hurry'>,
): Promise<ChildEnd> {
  let stopped: Promise<void> | null = null
  const stop = (): void => {
    stopped = child.stop(hurry)
  }
  signal.addEventListener('abort', stop, { once: true })
  if (signal.aborted) stop()
  const end = await child.ended
  signal.removeEventListener('abort', stop)
  await stopped
  return end
}

function brokenText({ code, last }: ChildEnd, problem: string): string {
  const how = code === null ? 'it was killed' : `it ended with ${code}`
  return `no figures: ${how}${code === 0 ? ` and ${problem}` : ''}${last.length === 0 ? '' : `; its last words: ${last.join(' | ')}`}`
}

/** An empty record shows readers of the results that a scenario is missing, and why. */
function emptyRecord({
  name,
  text,
  took,
  reason,
}: Readonly<Record<'name' | 'text' | 'reason', string>> & { readonly took: number }): ScenarioRecord {
  return {
    scenario: name,
    question: text,
    settings: {},
    took_seconds: took,
    subjects: [],
    absent: [],
    rows: [],
    ratios: [],
    curves: [],
    checks: [],
    notes: [reason],
  }
}

/** The program of a built scenario. */
export function builtProgram(name: string): readonly string[] {
  return [join(ROOT, 'dist/bench', `${name}.js`)]
}
