import type { Fields, Log } from '../../ports/observe.ts'
import { escapeControls, escapeControlsInJson } from './terminal-text.ts'

/** The log of a verb: warnings and errors go to stderr, so that stdout contains only the verb's result. */
export const stderrLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: (event, fields) => write('warning', event, fields),
  error: (event, fields) => write('error', event, fields),
}

function write(level: string, event: string, fields: Fields = {}): void {
  const textOf = (value: unknown): string =>
    value instanceof Error ? escapeControls(value.message) : escapeControlsInJson(value)
  const pairs = Object.entries(fields).map(([name, value]) => ` ${name}=${textOf(value)}`)
  process.stderr.write(`${level}: ${event}${pairs.join('')}\n`)
}
