import { InvalidArgumentError, type Command } from 'commander'
import { isDay } from '../../../schemas/money/activity.ts'
import { commandName, ConfigInvalid, hasColour, readConfig, type Generation } from '../../config.ts'
import { asCalled } from '../../config/program-name.ts'
import { escapeControls, escapeControlsInJson, escapeControlsInLines } from './terminal-text.ts'

/** A verb's failure in words for a person: no stack. Exit code 1. */
export class CliFailure extends Error {}

export function addVerb(parent: Command, name: string, description: string): Command {
  const verb = parent.command(name).description(description).option('--json', 'print JSON')
  const parse = verb.parseOptions.bind(verb)
  verb.parseOptions = (args) => {
    const parsed = parse(args)
    // A misspelled option is reported first: it may be the one that seems to be missing.
    if (parsed.unknown.length > 0) for (const option of verb.options) option.makeOptionMandatory(false)
    return parsed
  }
  return verb
}

/**
 * Prints the result of a verb: one JSON document with `--json`, else lines for a person. Both may contain texts
 * chosen by other users.
 * @param painted colors a line, if colors are on, after control characters in untrusted text were escaped
 */
export function print(
  options: Printing,
  value: unknown,
  text: string,
  painted?: (line: string) => string,
): void {
  const lines = printed(options, value, text)
  const isPainted = painted !== undefined && options.json !== true && hasColour(process.stdout)
  process.stdout.write(`${isPainted ? lines.split('\n').map(painted).join('\n') : lines}\n`)
}

/** Prints progress or a failure on stderr, since stdout contains only the result. */
export function tell(options: Printing, value: unknown, text: string): void {
  process.stderr.write(`${printed(options, value, text)}\n`)
}

/** Options of each verb. */
export interface Printing {
  readonly json?: boolean
}

function printed({ json = false }: Printing, value: unknown, text: string): string {
  return json ? escapeControlsInJson(value) : escapeControlsInLines(text)
}

/** Names the program as the user called it, so that a command between back-ticks works when pasted. */
export function pasteable(text: string): string {
  return asCalled(text, commandName())
}

/** A cell of a table; a time is in ISO 8601, and null is empty. */
type Cell = string | number | bigint | Date | null
export type Cells = readonly Cell[]

/** Lines of a list for a person: columns padded to the widest cell. Cells may be names chosen by other users. */
export function table(cells: readonly Cells[]): string {
  const rows = cells.map((row) => row.map(cellText))
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cellText(cell: Cell): string {
  return escapeControls(cell instanceof Date ? cell.toISOString() : String(cell ?? ''))
}

/** Prints a list: its objects as JSON, or a table with a row of cells for each. */
export function printList<T>(
  options: Printing,
  items: readonly T[],
  formOf: (item: T) => object,
  [heads, cellsOf]: readonly [heads: readonly string[], cellsOf: (item: T) => Cells],
): void {
  print(options, { data: items.map(formOf) }, table([heads, ...items.map(cellsOf)]))
}

/** Parses an option with a count. */
export function countOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Expected a whole number, at least 1.')
  return Number(text)
}

export function timeOf(text: string): Date {
  const time = new Date(text)
  if (Number.isNaN(time.getTime()))
    throw new InvalidArgumentError('Expected a time such as 2026-01-31T00:00:00Z.')
  return time
}

/** Parses an option with a day. */
export function dayOf(text: string): string {
  if (!isDay(text)) throw new InvalidArgumentError('Expected a day such as 2026-01-31.')
  return text
}

/** Reads the configuration. Throws `ConfigInvalid`. */
export function loadGeneration(): Generation {
  const reading = readConfig()
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation
}
