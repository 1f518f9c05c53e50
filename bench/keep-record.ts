/**
 * The end of a scenario: its table on stdout, its record in a file, and an exit code that reports whether
 * a figure was missed.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { machine } from './machine.ts'
import { checkResult, type ScenarioRecord } from './record.ts'
import { recordText } from './record-text.ts'
import { headLine } from './text.ts'

/** Taken at the start of the scenario's program: the load of the machine at that time. */
const FACTS = machine()

/** @param file path for the record; null: the record is only printed */
export async function keepRecord(
  record: Omit<ScenarioRecord, 'took_seconds'>,
  file: string | null,
): Promise<void> {
  const whole: ScenarioRecord = { ...record, took_seconds: Math.round(process.uptime()) }
  process.stdout.write(`${[headLine(FACTS), ...recordText(whole)].join('\n')}\n`)
  if (file !== null) await writeJson(file, whole)
  if (whole.checks.some((one) => checkResult(one) === 'missed')) process.exitCode = 1
}

/** Writes JSON; a missing figure (NaN) becomes null. */
export async function writeJson(file: string, value: unknown): Promise<void> {
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`)
}

export function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Begins a line that the next one of its kind replaces on a terminal. */
export const LIVE_MARK = '… '

/** Prints the state of a running step. */
export function liveProgress(text: string): void {
  progress(`${LIVE_MARK}${text}`)
}
