import { readFileSync } from 'node:fs'
import { Settings } from '../../schemas/operator/settings.ts'
import type { Problem, Texts } from './texts.ts'

/** Reads the file that `SLUICE_CONFIG` names; reports all faults of its format at once. */
export function readSettingsFile(path: string): {
  readonly texts: Texts
  readonly problems: readonly Problem[]
} {
  const problem = (expected: string, got: string): { texts: Texts; problems: Problem[] } => ({
    texts: {},
    problems: [{ name: 'SLUICE_CONFIG', expected, got }],
  })
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    const why = cause instanceof SyntaxError ? 'not JSON' : codeOf(cause)
    return problem('a readable JSON file', `${JSON.stringify(path)} (${why})`)
  }
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  if (!isObject) return problem('a JSON object with settings', JSON.stringify(path))
  const texts: Record<string, string> = {}
  const problems: Problem[] = []
  for (const [name, given] of Object.entries(value as object)) {
    const asText = textOf(given)
    // The catalogue names the providers' keys: a name in capitals that is not a setting may be such a key.
    const mayBeKey = /^[A-Z][A-Z0-9_]*$/.test(name) && !name.startsWith('SLUICE_')
    if (!mayBeKey && !Object.hasOwn(Settings.properties, name)) {
      problems.push({
        name,
        expected: 'the name of a setting in this version',
        got: 'an unknown setting in the file',
      })
    } else if (asText === null) {
      problems.push({ name, expected: 'a string, a number or a list of strings', got: 'another JSON value' })
    } else if (asText !== '') texts[name] = asText
  }
  return { texts, problems }
}

function textOf(given: unknown): string | null {
  if (typeof given === 'string') return given
  if (typeof given === 'number') return String(given)
  return Array.isArray(given) && given.every((item) => typeof item === 'string') ? given.join(',') : null
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'unreadable'
}
