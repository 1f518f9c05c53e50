import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { NATIVE_DIALECTS } from './dialects.ts'
import type { NativeRequest } from './protocol.ts'
import { TranslatedWire } from './translated-wire.ts'
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
          request: ({ request: counted, files, passedHeaders }) =>
            ok(
              request(
                {
                  request: counted,
                  ...(files !== undefined && { files }),
                  ...(passedHeaders !== undefined && { passedHeaders }),
                },
                endpoint,
                text,
              ),
            ),
          answer: (body) => (isTokenCount(body) ? Uint8Array.from(body) : null),
        }
  return {
    pathOf: () => path,
    request: (job) => {
      const asked = request(job, endpoint, text)
      return hasCarrier(dialect, job.request.source.bytes)
        ? withoutCarriers(asked, new TranslatedWire(dialect, dialect, { endpoint, text, jobs }).request(job))
        : ok(asked)
    },
    stream,
    whole: ({ body, head, caller, endsAt }) => readAnswer({ dialect, body, head }, { jobs, caller, endsAt }),
    count,
  }
}

/** A signature of another provider, which the caller got from a translated call. Part D, mapping table. */
const CARRIER = Buffer.from('"sl1.')

/** In chat foreign signatures stand beside the name of their format. */
function hasCarrier(dialect: Dialect, { buffer, byteOffset, length }: Uint8Array): boolean {
  return dialect !== 'chat' && Buffer.from(buffer, byteOffset, length).includes(CARRIER)
}

/** The request by the internal form, which leaves out what the provider would refuse. */
async function withoutCarriers(
  asked: NativeRequest,
  translating: Promise<Outcome<NativeRequest>>,
): Promise<Outcome<NativeRequest>> {
  const translated = await translating
  return translated.ok ? ok({ ...asked, ...bodyOf(translated.value) }) : translated
}

function bodyOf({ body, dropped }: NativeRequest): Pick<NativeRequest, 'body' | 'dropped'> {
  return { body, dropped }
}

function isTokenCount(json: Uint8Array): boolean {
  try {
    const { input_tokens: tokens } = membersOf(JSON.parse(Buffer.from(json).toString()))
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
  } catch {
    return false
  }
}
