import { JSON_VALUES_MAX } from '../../../../schemas/limits/json-limits.ts'
import { objectOf } from '../../../../schemas/values/members.ts'
import { JsonReader } from '../../../../dialects/walk/json-reader.ts'

/**
 * Parses an object that a walk over its bytes did not decide, changes it, and writes it anew: for names with
 * escapes, members that come twice, bytes that are not UTF-8, several lines. The thread is held for as long
 * as the value takes to be parsed.
 * @returns one line of JSON; null: it is no object, or no JSON, or has over JSON_VALUES_MAX values
 */
export function writtenAnew(bytes: Buffer, change: (top: Record<string, unknown>) => void): Buffer | null {
  const text = bytes.toString('utf8')
  const reader = new JsonReader(Buffer.from(text))
  // Deeper values would exceed the stack of the writer, and more of them the heap.
  if (!reader.isWhole() || reader.values > JSON_VALUES_MAX) return null
  const top = objectOf(JSON.parse(text))
  if (top === null) return null
  change(top)
  return Buffer.from(JSON.stringify(top))
}
