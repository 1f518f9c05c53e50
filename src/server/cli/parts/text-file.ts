import { readFileSync } from 'node:fs'
import { CliFailure } from './verb.ts'

/** The text of a file that an option names. Throws CliFailure. */
export function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : ''
    throw new CliFailure(`${file} cannot be read${code}`, { cause })
  }
}
