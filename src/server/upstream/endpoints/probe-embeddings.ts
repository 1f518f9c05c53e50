import { PROBE_ANSWER_BYTES_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import { ok } from '../../../schemas/failures.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { openRemote } from '../embeddings/remote.ts'
import type { LinkOrigin } from '../link.ts'
import { endpointAt } from './own-endpoint.ts'
import { PROBE_TEXT, type FormProbe, type FormProbing } from './probe-form.ts'
import type { Seen } from './probe-verdict.ts'

/** Asks for one embedding. */
export async function probeEmbeddings(
  { endpoint, provider, origin, key, caller, call, endsAt }: FormProbing,
  jobs: ShortJobs,
): Promise<FormProbe> {
  const recorder = new Recorder(origin)
  const protocol = openRemote(endpointAt(endpoint, provider), { origin: recorder, key, jobs })
  if (protocol === null) throw new Error('a probe of a protocol without embeddings')
  const reading = await protocol.embed({
    request: { model: endpoint.upstreamModelId, input: PROBE_TEXT },
    shape: { kind: 'string', count: 1, pictures: 0 },
    endsAt,
    deadlineAt: endsAt,
    caller,
    call,
  })
  const { seen } = recorder
  if (!reading.ok) return { answer: reading, seen }
  const { promptTokens, release } = reading.value
  release()
  // Gemini counts no tokens of embeddings.
  const hasUsage = promptTokens !== null || provider.protocol === 'google'
  const model = seen === null ? null : modelIn(seen.body)
  return { answer: ok({ models: model === null ? [] : [model], hasUsage, isWhole: null }), seen }
}

/** The name of the model in an answer; null: it has none. */
function modelIn(body: Uint8Array): string | null {
  try {
    const { model } = membersOf(JSON.parse(Buffer.from(body).toString()))
    return typeof model === 'string' && model !== '' ? model : null
  } catch {
    return null
  }
}

/** Records the parts of a response that the protocol does not return: its status and its body. */
class Recorder implements LinkOrigin {
  seen: Seen | null = null
  readonly #origin: LinkOrigin

  constructor(origin: LinkOrigin) {
    this.#origin = origin
  }

  async call(request: Parameters<LinkOrigin['call']>[0]): ReturnType<LinkOrigin['call']> {
    const outcome = await this.#origin.call({
      ...request,
      mayCutSent: true,
      answerBytesMax: PROBE_ANSWER_BYTES_MAX,
    })
    // The recorder copies the body: the parser of a response may move its bytes away.
    if (outcome.ok) this.seen = { status: outcome.value.status, body: outcome.value.body.slice() }
    return outcome
  }

  exchange(request: Parameters<LinkOrigin['exchange']>[0]): ReturnType<LinkOrigin['exchange']> {
    return this.#origin.exchange(request)
  }
}
