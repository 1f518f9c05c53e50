import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { PASSED_HEADER_CHARS_MAX } from '../../../schemas/inference/inference-limits.ts'
import type { Call } from '../define.ts'

/** Words with commas between them: no line end, no second header, nothing that a proxy would read. */
const WORDS = /^[\w.:-]+(?:[ \t]*,[ \t]*[\w.:-]+)*$/
const PASSED = ['anthropic-version', 'anthropic-beta'] as const

/**
 * The caller's headers that go to a provider of messages: a flat list of names and values. Features of
 * Anthropic's models are asked for there, and no other header of the caller is passed on. D4.
 * Failure: header_invalid.
 */
export function anthropicHeaders({ headers }: Pick<Call, 'headers'>): Outcome<readonly string[]> {
  const passed: string[] = []
  for (const name of PASSED) {
    const value = headers[name]
    if (value === undefined || value === '') continue
    if (value.length > PASSED_HEADER_CHARS_MAX || !WORDS.test(value)) return refused(name)
    passed.push(name, value)
  }
  return ok(passed)
}

function refused(name: string): Outcome<never> {
  const expected = `names of at most ${PASSED_HEADER_CHARS_MAX} characters, separated by commas`
  const issue = { path: `/${name}`, message: 'is not valid', expected }
  return fail('header_invalid', { metadata: { issues: [issue] } })
}
