import { STREAM_MENDED_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import { JSON_VALUES_MAX } from '../../../../schemas/limits/json-limits.ts'
import { JsonReader } from '../json-reader.ts'
import type { ChatForm } from './delta-members.ts'

/**
 * Writes an event or an answer anew that the walk over its bytes did not decide: names with escapes, members
 * that come twice, bytes that are not UTF-8, several lines, nulls where lists and objects have to be. The
 * thread is held for as long as the value takes to be parsed: 200 ms for an event of 16 MiB, if it were.
 * @returns one line of JSON; null: it is no object, or no JSON, or has over JSON_VALUES_MAX values, or it is
 * an event above STREAM_MENDED_BYTES_MAX
 */
export function mend(bytes: Buffer, form: ChatForm): Buffer | null {
  if (form === 'event' && bytes.length > STREAM_MENDED_BYTES_MAX) return null
  const text = bytes.toString('utf8')
  const reader = new JsonReader(Buffer.from(text))
  // Deeper values would exceed the stack of the writer, and more of them the heap.
  if (!reader.isWhole() || reader.values > JSON_VALUES_MAX) return null
  const top = objectOf(JSON.parse(text))
  if (top === null) return null
  if (top['choices'] === null) delete top['choices']
  if (Array.isArray(top['choices'])) for (const choice of top['choices']) mendChoice(choice, form)
  return Buffer.from(JSON.stringify(top))
}

function mendChoice(choice: unknown, form: ChatForm): void {
  const members = objectOf(choice)
  if (members === null) return
  if (form === 'event') members['delta'] ??= {}
  const delta = objectOf(members[form === 'event' ? 'delta' : 'message'])
  if (delta === null || !Array.isArray(delta['tool_calls'])) return
  delta['tool_calls'] = delta['tool_calls'].filter((call) => objectOf(call) !== null)
}

function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null
}
