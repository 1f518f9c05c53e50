/**
 * `npm run bench`: reads the command, runs it, writes the results and compares them on request; the exit code
 * shows the outcome.
 */
import { writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { writeJson } from '../keep-record.ts'
import { checkResult, type ResultsFile } from '../record.ts'
import { comparisonsOf } from '../report/comparisons.ts'
import { costOf, costText } from '../report/cost.ts'
import { renderReport } from '../report/report-page.ts'
import { SCENARIOS, type Scenario } from '../scenarios.ts'
import { ROOT } from '../text.ts'
import { commandOrAnswer, WRONG, type Answer } from './answer.ts'
import { compare } from './baseline.ts'
import type { Command } from './command.ts'
import { publishFigures } from './publish.ts'
import { builtProgram, runScenarios, type SuiteEnd, type SuiteDeps } from './run.ts'
import { readResults } from './shape.ts'
import { writeProblem } from './writable.ts'

export type Deps = Omit<SuiteDeps, 'signal' | 'hurry'> & {
  readonly scenarios: readonly Scenario[]
  /** Runs before the first scenario when one compares with packages. */
  installPeers(): Promise<void>
}

/** Exit code after an interruption, by the convention of shells. */
const INTERRUPTED = 130

export type Interrupts = Pick<SuiteDeps, 'signal' | 'hurry'>

/** @returns the exit code */
export async function runBench(
  given: readonly string[],
  deps: Deps,
  { signal, hurry }: Interrupts,
): Promise<number> {
  const command = commandOrAnswer(given, deps.scenarios)
  if ('code' in command) return answer(command, deps)
  if (command.report !== null) return pageAgain([command.report, command.beside], deps)
  if (command.publish !== null) return publish(command.publish, deps)
  const baseline = command.baseline === null ? null : readResults(command.baseline)
  const problem =
    baseline !== null && 'problem' in baseline ? baseline.problem : await unwritable(command, deps)
  if (problem !== null) return answer({ text: problem, code: WRONG }, deps)
  if (command.runs.some(({ scenario }) => scenario.hasPeers)) await deps.installPeers()
  const end = await runScenarios(command, { ...deps, signal, hurry })
  const resultsPath = join(end.folder, 'results.json')
  const written = [resultsPath, await writePage(end.results, resultsPath)]
  const [record] = end.results.scenarios
  if (command.json !== null && record !== undefined) {
    await writeJson(command.json, record)
    written.push(command.json)
  }
  const cost = costOf(end.results, comparisonsOf(end.results))
  if (cost !== null) deps.print(`\nin short: ${costText(cost)}`)
  deps.print(`\nwritten: ${written.map((path) => relative(process.cwd(), path)).join(', ')}`)
  if (signal.aborted) return INTERRUPTED
  const saved = baseline !== null && 'value' in baseline ? baseline.value : null
  return saved === null ? codeOf(end) : judge(saved, end, { command, deps })
}

/** @returns the exit code */
function answer({ text, code }: Answer, { print, screen }: Pick<Deps, 'print' | 'screen'>): number {
  if (code === 0) print(text)
  else screen.write(`${text}\n`)
  return code
}

/** The reason why the results or the further record cannot be written, or null. */
async function unwritable({ json }: Command, { resultsFolder }: Deps): Promise<string | null> {
  return (
    (await writeProblem(join(resultsFolder, 'results.json'))) ?? (json === null ? null : writeProblem(json))
  )
}

/** The exit code without a baseline: the checks decide, figures that the product must reach. */
function codeOf({ results, broken }: SuiteEnd): number {
  const isMissed = results.scenarios.some(({ checks }) => checks.some((one) => checkResult(one) === 'missed'))
  return broken.length === 0 && !isMissed ? 0 : 1
}

interface Judging {
  readonly command: Command
  readonly deps: Deps
}

function judge(saved: ResultsFile, { results, broken }: SuiteEnd, { command, deps }: Judging): number {
  const { worse, remarks, compared } = compare(saved, results, command.failOn)
  const bound = `${Math.round(command.failOn * 1_000) / 10} %`
  deps.print(
    [
      '',
      `against ${command.baseline ?? ''} of ${saved.at}:`,
      ...worse.map((line) => `WORSE  ${line}`),
      ...remarks,
      ...(compared === 0
        ? []
        : [
            worse.length === 0
              ? `${compared} figures compared, none worse by more than ${bound}`
              : `${worse.length} of ${compared} figures are worse by more than ${bound}`,
          ]),
    ].join('\n'),
  )
  if (compared === 0) {
    deps.screen.write('nothing could be compared with the saved run\n')
    return 1
  }
  return worse.length === 0 && broken.length === 0 ? 0 : 1
}

/** Writes the page beside its results. @returns its path */
async function writePage(results: ResultsFile, resultsPath: string): Promise<string> {
  const path = pageOf(resultsPath)
  await writeFile(path, renderReport(results))
  return path
}

function pageOf(resultsPath: string, name = 'report.html'): string {
  return join(dirname(resultsPath), name)
}

/** Makes the page of a saved run again, which needs only its samples, or a page of two runs. */
async function pageAgain(
  [file, otherFile]: readonly [string, string | null],
  { print, screen }: Deps,
): Promise<number> {
  const [read, other] = [readResults(file), otherFile === null ? null : readResults(otherFile)]
  const path = other === null ? pageOf(file) : pageOf(file, 'two-runs.html')
  const unread = [read, other].flatMap((one) => (one !== null && 'problem' in one ? [one.problem] : []))
  const problem = unread[0] ?? (await writeProblem(path))
  if (problem !== null || !('value' in read) || (other !== null && !('value' in other))) {
    screen.write(`${problem ?? ''}\n`)
    return WRONG
  }
  await writeFile(path, renderReport(read.value, other === null ? null : other.value))
  print(`written: ${relative(process.cwd(), path)}`)
  return 0
}

async function publish(file: string, { print, screen }: Deps): Promise<number> {
  const done = await publishFigures(file, ROOT)
  if ('problem' in done) screen.write(`${done.problem}\n`)
  else print(`written: ${done.written.map((path) => relative(process.cwd(), path)).join(', ')}`)
  return 'problem' in done ? WRONG : 0
}

/**
 * Milliseconds in which two interruptions count as one: npm repeats a Ctrl-C that the terminal has sent to
 * every process.
 */
const SAME_MS = 500

/**
 * The first Ctrl-C ends the child and writes the results so far, the second one ends the child by force; a
 * closed terminal counts as an interruption too.
 */
export function interruptsOf(
  source: Pick<NodeJS.EventEmitter, 'on'>,
  now = () => performance.now(),
): Interrupts {
  const [first, second] = [new AbortController(), new AbortController()]
  let at = Number.NEGATIVE_INFINITY
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    source.on(name, () => {
      if (now() - at < SAME_MS) return
      at = now()
      if (first.signal.aborted) second.abort()
      first.abort()
    })
  }
  return { signal: first.signal, hurry: second.signal }
}

/** Runs the bench on a terminal, as `tools/bench.mjs` starts it. */
export async function main(args: readonly string[], installPeers: () => Promise<void>): Promise<number> {
  // The reader of the output may leave (`head`, a closed terminal): the results are written nevertheless.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
  return runBench(
    args,
    {
      scenarios: SCENARIOS,
      screen: process.stderr,
      print: (text) => void process.stdout.write(`${text}\n`),
      program: builtProgram,
      resultsFolder: join(ROOT, 'bench/results'),
      installPeers,
    },
    interruptsOf(process),
  )
}
