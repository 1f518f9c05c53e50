import { BODIES, type BodyForm, type BodyName } from '../../../schemas/bodies.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import type { Call } from '../../operations/define.ts'
import type { BodyVerdict, ShortJobs, ShortJobTypes } from '../../ports/short-jobs.ts'
import type { Body } from '../body/body.ts'

export interface ReadInput {
  readonly name: BodyName
  /** Only lent up to INLINE_JSON_BYTES_MAX; larger bodies are moved away. */
  readonly bytes: Uint8Array
  /** The body that holds the bytes; null when the client sent none. */
  readonly body: Body | null
  readonly call: Pick<Call, 'key' | 'signal'>
}

/**
 * Parses and validates a JSON body: at once when that is cheap, otherwise in a short job. Failures: also busy
 * and its kin.
 */
export function readJson(jobs: ShortJobs, request: ReadInput): BodyVerdict | Promise<BodyVerdict> {
  const { name, bytes } = request
  const input = { body: name, bytes, isOnLoop: bytes.length <= INLINE_JSON_BYTES_MAX }
  if (!input.isOnLoop) return readInJob(jobs, input, request)
  const verdict = jobs.here('read_body', input)
  if (verdict.ok || verdict.isForThread !== true) return verdict
  // The bytes are only lent.
  const copy = bytes.slice()
  const form: BodyForm = BODIES[name]
  if (form.isSecret === true) bytes.fill(0)
  return readInJob(jobs, { body: name, bytes: copy }, request)
}

async function readInJob(
  jobs: ShortJobs,
  input: ShortJobTypes['read_body']['in'],
  { body, call }: ReadInput,
): Promise<BodyVerdict> {
  const { key, signal } = call
  const job = jobs.run('read_body', input, {
    caller: callerOf(key),
    transfer: [input.bytes.buffer as ArrayBuffer],
    signal,
  })
  // A thread that has the bytes keeps them until its end, even when the client leaves.
  body?.lend()
  try {
    const read = await job
    return read.ok ? read.value : read
  } finally {
    body?.returned()
  }
}
