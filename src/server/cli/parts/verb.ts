import { InvalidArgumentError, type Command } from 'commander'
import { commandName, ConfigInvalid, readConfig, type Generation } from '../../config.ts'
import { asCalled } from '../../config/program-name.ts'
import { escapeControls, escapeControlsInJson, escapeControlsInLines } from './terminal-text.ts'

/** What went wrong with a verb, for a person: no stack. Exit code 1. */
export class CliFailure extends Error {}

/** Adds a verb that takes `--json`. */
export function addVerb(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).option('--json', 'print JSON')
}

/**
 * Prints the result of a verb: one JSON document with `--json`, else lines for a person. Both may have words
 * of a stranger.
 */
export function print(options: Printing, value: unknown, text: string): void {
  process.stdout.write(`${printed(options, value, text)}\n`)
}

/** Tells of progress, or of what went wrong; on stderr, since the answer alone is on stdout. */
export function tell(options: Printing, value: unknown, text: string): void {
  process.stderr.write(`${printed(options, value, text)}\n`)
}

interface Printing {
  readonly json?: boolean
}

function printed({ json = false }: Printing, value: unknown, text: string): string {
  return json ? escapeControlsInJson(value) : escapeControlsInLines(text)
}

/**
 * With the program named as it was called, so that what stands between back-ticks works where it is pasted.
 */
export function pasteable(text: string): string {
  return asCalled(text, commandName())
}

/** Lines of a list for a person: columns padded to the widest. Cells may be names that a stranger chose. */
export function table(cells: readonly (readonly string[])[]): string {
  const rows = cells.map((row) => row.map(escapeControls))
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

/** Parses an option that counts something. */
export function countOf(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number, at least 1.')
  return Number(text)
}

/** Throws `ConfigInvalid`. */
export function loadGeneration(): Generation {
  const reading = readConfig()
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation
}
