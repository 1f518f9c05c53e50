import { withoutMarks } from '../../schemas/values/long-integers.ts'
import { isObject, objectOf } from '../../schemas/values/members.ts'
import { JsonReader } from './json-reader.ts'
import { JSON_VALUES_MAX } from '../../schemas/limits/limits.ts'

/**
 * JSON of an object that Sluice only passes on, such as the arguments of a call. In a large event it is
 * already UTF-8 bytes, which a parsed JSON value never is. Null: not an object. Throws if it is nested too
 * deeply.
 */
export function writtenJson(value: unknown): string | null {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString()
  return isObject(value) ? withoutMarks(JSON.stringify(value)) : null
}

/**
 * Parses an object that a walk over its bytes could not handle, changes it, and rewrites it: for names with
 * escapes, repeated members, bytes that are not UTF-8, several lines. Parsing blocks the thread for its whole
 * duration.
 * @returns one line of JSON; null: not an object, not JSON, or over JSON_VALUES_MAX values
 */
export function writtenAnew(bytes: Buffer, change: (top: Record<string, unknown>) => void): Buffer | null {
  const text = bytes.toString('utf8')
  const reader = new JsonReader(Buffer.from(text))
  // Deeper nesting would exceed the serializer's stack, and more values would exceed the heap.
  if (!reader.isWhole() || reader.values > JSON_VALUES_MAX) return null
  const top = objectOf(JSON.parse(text))
  if (top === null) return null
  change(top)
  return Buffer.from(JSON.stringify(top))
}
