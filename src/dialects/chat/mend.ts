import { STREAM_MENDED_BYTES_MAX } from '../../schemas/inference/stream-limits.ts'
import { objectOf } from '../../schemas/values/members.ts'
import { writtenAnew } from '../walk/written-json.ts'

/** An event of a stream, or a whole answer: what clients require of them differs. */
export type ChatForm = 'event' | 'answer'

/**
 * Rewrites an event or an answer that the walk over its bytes could not decide, and replaces nulls where
 * clients require lists or objects. Large events are refused: 16 MiB would hold the thread for 200 ms.
 * @returns as `writtenAnew`; null also for an event above STREAM_MENDED_BYTES_MAX
 */
export function mend(bytes: Buffer, form: ChatForm): Buffer | null {
  if (form === 'event' && bytes.length > STREAM_MENDED_BYTES_MAX) return null
  return writtenAnew(bytes, (top) => {
    if (top['choices'] === null) delete top['choices']
    if (Array.isArray(top['choices'])) for (const choice of top['choices']) mendChoice(choice, form)
  })
}

function mendChoice(choice: unknown, form: ChatForm): void {
  const members = objectOf(choice)
  if (members === null) return
  if (form === 'event') members['delta'] ??= {}
  const delta = objectOf(members[form === 'event' ? 'delta' : 'message'])
  if (delta === null || !Array.isArray(delta['tool_calls'])) return
  delta['tool_calls'] = delta['tool_calls'].filter((call) => objectOf(call) !== null)
}
