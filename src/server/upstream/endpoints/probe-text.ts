import {
  PROBE_ANSWER_BYTES_MAX,
  PROBE_MS_MAX,
  PROBE_TOKENS_MAX,
} from '../../../schemas/endpoints/endpoint-limits.ts'
import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { UPSTREAM_ERROR_MS } from '../../../schemas/models/provider-limits.ts'
import type { NativeStream } from '../../../dialects/parts.ts'
import { NATIVE_DIALECTS } from '../../../dialects/native-answer.ts'
import { chatTokensMember, MAKER } from '../../../schemas/models/openai-maker.ts'
import { VERSION_HEADER } from '../../../dialects/messages/native-request.ts'
import type { EgressExchange } from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import { headerOf } from '../credential.ts'
import { ProviderLink, type LinkOrigin } from '../link.ts'
import { failureOf, failuresOfEvents } from '../provider-failure.ts'
import { readRefusal } from '../inference/framing.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import type { FormAnswer, Seen } from './probe-verdict.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { SseReader } from '../../../dialects/sse-reader.ts'

/** The smallest sensible prompt, and input of an embedding. */
export const PROBE_TEXT = 'Hello'

export interface FormProbing {
  readonly endpoint: PrivateEndpoint
  /** The provider at the endpoint's address. */
  readonly provider: Provider
  readonly origin: LinkOrigin
  readonly key: string
  readonly caller: Caller
  readonly call: { readonly signal: AbortSignal }
  /** `performance.now()` of the probe's end. */
  readonly endsAt: number
  /** Milliseconds on the same clock. */
  readonly now: () => number
}

export interface FormProbe {
  readonly answer: Outcome<FormAnswer>
  /** Null when there was no response. */
  readonly seen: Seen | null
}

/** The response was not an event stream, or its stream broke off. */
const BROKEN = { models: [], hasUsage: false, isWhole: false } as const

/** Makes a model write a few tokens as a stream, in one form. */
export async function probeText(form: Dialect, probing: FormProbing): Promise<FormProbe> {
  const { provider, endpoint, origin, key, caller, call, endsAt, now } = probing
  const link = new ProviderLink(provider, { origin, key, credentialHeader: headerOf(provider.protocol) })
  const { path } = NATIVE_DIALECTS[form]
  const response = await link.stream(path, probeBody(form, provider, endpoint.upstreamModelId), {
    beginsBy: endsAt,
    stallMs: PROBE_MS_MAX,
    caller,
    call,
    headers: headersOf(form),
    isCutByLeaving: true,
  })
  if (!response.ok) {
    // The upstream did not answer with events.
    const isNone = response.failure.name === 'upstream_invalid'
    return { answer: isNone ? ok(BROKEN) : response, seen: null }
  }
  const { status, isSuccess } = response.value
  if (!isSuccess) {
    const withinMs = Math.max(0, Math.min(UPSTREAM_ERROR_MS, endsAt - now()))
    const refusal = await readRefusal(response.value, withinMs)
    return {
      answer: { ok: false, failure: failureOf(refusal, link) },
      seen: { status, body: refusal.body },
    }
  }
  const notes = new StreamNotes(form)
  const head = { id: 'probe', createdS: 0, model: endpoint.upstreamModelId, provider: provider.slug }
  const stream = NATIVE_DIALECTS[form].stream(head, failuresOfEvents(link.redacted))
  const failure = await readStream(response.value, { stream, notes, leftMs: endsAt - now() })
  const seen = { status, body: notes.lastData }
  if (failure !== null) return { answer: { ok: false, failure }, seen }
  const isWhole = stream.end() === null
  return { answer: ok({ models: notes.models, hasUsage: stream.usage !== null, isWhole }), seen }
}

interface ReadStream {
  readonly stream: NativeStream
  readonly notes: StreamNotes
  /** Milliseconds until the probe's end. */
  readonly leftMs: number
}

/** Reads a stream to its end. @returns null also for a stream that is damaged or breaks off; it then counts as not whole */
async function readStream(
  { body }: EgressExchange,
  { stream, notes, leftMs }: ReadStream,
): Promise<Failure | null> {
  let [isLate, bytes] = [false, 0]
  const timer = setTimeout(() => {
    isLate = true
    body.close()
  }, leftMs)
  try {
    while (!stream.isDone && bytes <= PROBE_ANSWER_BYTES_MAX) {
      const piece = await body.next()
      if (isLate) return { name: 'upstream_slow' }
      // A connection that breaks off leaves a stream without its end.
      if (!piece.ok)
        return piece.failure.name === 'upstream_failed' || isDamage(piece.failure) ? null : piece.failure
      if (piece.value === null) return null
      bytes += piece.value.length
      notes.read(piece.value)
      const { failure } = stream.read(piece.value)
      if (failure !== null) return isDamage(failure) ? null : failure
    }
    return null
  } finally {
    clearTimeout(timer)
    body.close()
  }
}

/** Whether the events or their encoding are damaged. The upstream itself reports all other failures. */
function isDamage({ name }: Failure): boolean {
  return name === 'upstream_invalid' || name === 'upstream_too_large'
}

const MESSAGES = [{ role: 'user', content: PROBE_TEXT }]

/** The smallest call whose answer is streamed with its usage. */
function probeBody(form: Dialect, provider: Provider, model: string): string {
  return JSON.stringify({ model, stream: true, ...addedMembers(form, provider) })
}

function addedMembers(form: Dialect, provider: Provider): object {
  switch (form) {
    case 'chat':
      return {
        messages: MESSAGES,
        stream_options: { include_usage: true },
        [chatTokensMember(provider.slug === MAKER)]: PROBE_TOKENS_MAX,
      }
    case 'responses':
      return { input: PROBE_TEXT, max_output_tokens: PROBE_TOKENS_MAX, store: false }
    case 'messages':
      return { messages: MESSAGES, max_tokens: PROBE_TOKENS_MAX }
    default:
      return form satisfies never
  }
}

/** Flat list of names and values. */
function headersOf(form: Dialect): readonly string[] {
  return form === 'messages' ? VERSION_HEADER : []
}

/** The member of an event that contains the model's name; null: the event itself. */
const MODEL_IN: Readonly<Record<Dialect, string | null>> = {
  chat: null,
  responses: 'response',
  messages: 'message',
}

/** Facts that a native stream does not report: the provider's names of the model, and its error texts. */
class StreamNotes {
  readonly #within: string | null
  readonly #reader = new SseReader()
  readonly #models = new Set<string>()
  /** Data of the last event; in a failed stream, the provider's error. */
  lastData: Uint8Array = new Uint8Array()

  constructor(form: Dialect) {
    this.#within = MODEL_IN[form]
  }

  /** Each name once, in the order of arrival. */
  get models(): readonly string[] {
    return [...this.#models]
  }

  /** @param bytes the next bytes of the provider's body */
  read(bytes: Uint8Array): void {
    for (const { data } of this.#reader.read(bytes).events) {
      this.lastData = Uint8Array.from(data)
      this.#note(data.toString())
    }
  }

  #note(data: string): void {
    try {
      const event = membersOf(JSON.parse(data))
      const { model } = this.#within === null ? event : membersOf(event[this.#within])
      if (typeof model === 'string' && model !== '') this.#models.add(model)
    } catch {
      // The data is the mark `[DONE]`, or an event that fails the stream.
    }
  }
}
