import { ok, type Outcome } from '../../../schemas/failures.ts'
import { mayCarryForeign, withoutForeign } from '../../../schemas/inference/forms/foreign-signatures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX } from '../../../schemas/limits/limits.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { joined } from '../../../schemas/values/pieces.ts'
import type { InferenceJob } from '../../ports/inference/inference.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { NATIVE_DIALECTS } from './dialects.ts'
import { arePlain } from './inline/sent-body.ts'
import type { NativeRequest } from './protocol.ts'
import { readAnswer } from './whole-answer.ts'
import type { CountWire, Wire } from './wire.ts'

interface NativeWireDeps {
  readonly endpoint: Endpoint
  readonly text: EndpointText
  readonly jobs: ShortJobs
}

/**
 * Requests and answers pass as their bytes came, but for what D4, D13 and D14 name: the endpoint speaks the
 * caller's dialect.
 */
export function nativeWire(dialect: Dialect, { endpoint, text, jobs }: NativeWireDeps): Wire {
  const { path, countPath, request, stream } = NATIVE_DIALECTS[dialect]
  const count: CountWire | null =
    countPath === undefined
      ? null
      : {
          path: countPath,
          request: (job) => {
            const { request: counted, files, passedHeaders } = job
            const more = {
              ...(files !== undefined && { files }),
              ...(passedHeaders !== undefined && { passedHeaders }),
            }
            return native(request({ request: counted, ...more }, endpoint, text), job, jobs)
          },
          answer: (body) => (isTokenCount(body) ? Uint8Array.from(body) : null),
        }
  return {
    pathOf: () => path,
    request: (job) => native(request(job, endpoint, text), job, jobs),
    stream,
    whole: ({ body, head, caller, endsAt }) => readAnswer({ dialect, body, head }, { jobs, caller, endsAt }),
    count,
  }
}

type Asked = Pick<InferenceJob, 'request' | 'caller' | 'call' | 'deadlineAt'>

/**
 * The request without what other providers have signed. Where files are read into it while it is sent, it goes
 * out as it is.
 */
function native(
  asked: NativeRequest,
  { request: { dialect, source }, caller, call, deadlineAt: endsAt }: Asked,
  jobs: ShortJobs,
): Outcome<NativeRequest> | Promise<Outcome<NativeRequest>> {
  const { body } = asked
  if (!mayCarryForeign(dialect, source.bytes) || !arePlain(body)) return ok(asked)
  const input = { dialect, body: joined(body) }
  if (input.body.length <= INLINE_JSON_BYTES_MAX)
    return ok(without(asked, withoutForeign(dialect, input.body)))
  return jobs
    .run('without_foreign', input, { caller, signal: call.signal, endsAt })
    .then((done) => (done.ok ? ok(without(asked, done.value)) : done))
}

/** @param body null: the request has nothing of others */
function without(asked: NativeRequest, body: Uint8Array | null): NativeRequest {
  return body === null ? asked : { ...asked, body: [body], dropped: [...asked.dropped, 'reasoning'] }
}

function isTokenCount(json: Uint8Array): boolean {
  try {
    const { input_tokens: tokens } = membersOf(JSON.parse(Buffer.from(json).toString()))
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
  } catch {
    return false
  }
}
