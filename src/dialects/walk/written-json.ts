import { withoutMarks } from '../../schemas/values/long-integers.ts'
import { isObject } from '../../schemas/values/members.ts'

/**
 * JSON of an object that is only written again, such as the arguments of a call; of a large event it is written
 * already, as UTF-8, which no JSON has. Null: it is no object. Throws where it is nested too deeply.
 */
export function writtenJson(value: unknown): string | null {
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.length).toString()
  return isObject(value) ? withoutMarks(JSON.stringify(value)) : null
}
