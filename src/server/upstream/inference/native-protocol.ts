import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { AnswerRoom } from '../../ports/egress/egress.ts'
import type { CountJob, InferenceJob } from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { WRITTEN, type PostKind, type ProviderLink } from '../link.ts'
import { failureOf } from '../provider-failure.ts'
import { NATIVE_DIALECTS } from './dialects.ts'
import type { NativeHead, WritingAttempt, WritingProtocol, Written } from './protocol.ts'
import { Relay, type Drains } from './relay.ts'
import { readRefusal } from './response-end.ts'
import { COUNT_BYTES_MAX } from '../../../schemas/inference/inference-limits.ts'
import { unquoted } from './unquoted.ts'
import { readAnswer } from './whole-answer.ts'

export interface NativeProtocolDeps {
  readonly endpoint: Endpoint
  readonly text: EndpointText
  readonly link: ProviderLink
  readonly drains: Drains
  readonly jobs: ShortJobs
  readonly roomOf: (caller: Caller) => AnswerRoom
}

const NOTHING_WRITTEN = {
  told: null,
  isExact: false,
  outputBytes: 0,
  answer: null,
  finalEvents: null,
  upstreamId: null,
  finishReason: null,
} as const

/**
 * An endpoint for callers of a form that it speaks: requests and answers pass as their bytes came, but for
 * what D4, D13 and D14 name.
 */
export class NativeProtocol implements WritingProtocol {
  readonly #endpoint: Endpoint
  readonly #text: EndpointText
  readonly #link: ProviderLink
  readonly #drains: Drains
  readonly #jobs: ShortJobs
  readonly #roomOf: (caller: Caller) => AnswerRoom

  constructor({ endpoint, text, link, drains, jobs, roomOf }: NativeProtocolDeps) {
    this.#endpoint = endpoint
    this.#text = text
    this.#link = link
    this.#drains = drains
    this.#jobs = jobs
    this.#roomOf = roomOf
  }

  write(attempt: WritingAttempt): Promise<Outcome<Written>> {
    return attempt.job.request.isStream ? this.#stream(attempt) : this.#whole(attempt)
  }

  async count({
    request,
    passedHeaders,
    caller,
    call,
    hops,
    deadlineAt,
  }: CountJob): Promise<Outcome<Uint8Array>> {
    const { dialect, source } = request
    const { countPath, request: requestOf } = NATIVE_DIALECTS[dialect]
    if (countPath === undefined) return fail('count_unavailable')
    const job = passedHeaders === undefined ? { request } : { request, passedHeaders }
    const { body, headers } = requestOf(job, this.#endpoint, this.#text)
    const attempt = { caller, call, hops, headers, endsAt: deadlineAt }
    const outcome = await this.#link.post(countPath, body, attempt, COUNTED)
    if (!outcome.ok) return outcome
    const answer = outcome.value
    const json = Uint8Array.from(answer.body)
    answer.release()
    if (NOT_COUNTED.includes(answer.status)) return fail('count_unavailable')
    if (!answer.isSuccess)
      return { ok: false, failure: unquoted(failureOf(answer, this.#link), source.bytes) }
    return isTokenCount(json) ? ok(json) : fail('upstream_invalid')
  }

  async #whole({ job, model }: WritingAttempt): Promise<Outcome<Written>> {
    const { dialect, source } = job.request
    const { path, request } = NATIVE_DIALECTS[dialect]
    const { body, dropped, headers } = request(job, this.#endpoint, this.#text)
    const { caller, call, hops, deadlineAt } = job
    const attempt = { caller, call, hops, headers, endsAt: deadlineAt }
    const outcome = await this.#link.post(path, body, attempt, WRITTEN)
    if (!outcome.ok) return outcome
    const answer = outcome.value
    if (!answer.isSuccess) {
      const failure = unquoted(failureOf(answer, this.#link), source.bytes)
      return { ok: false, failure }
    }
    const more = { jobs: this.#jobs, caller, endsAt: deadlineAt }
    const read = await readAnswer({ dialect, body: answer.body, head: this.#head(job, model) }, more)
    if (!read.ok) {
      answer.release()
      return read
    }
    const { usage, outputBytes, withUsage, upstreamId, finishReason } = read.value
    return ok({
      failure: null,
      told: usage,
      isExact: false,
      outputBytes,
      answer: { withUsage, release: answer.release },
      finalEvents: null,
      dropped,
      upstreamId,
      finishReason,
    })
  }

  async #stream({ job, model, sink, begin, startedAt }: WritingAttempt): Promise<Outcome<Written>> {
    const { dialect, source } = job.request
    const { path, request, stream: open } = NATIVE_DIALECTS[dialect]
    const { body, dropped, headers } = request(job, this.#endpoint, this.#text)
    const { caller, hops, call } = job
    const { firstOutputMs, stallMs, onLeave } = this.#text
    const beginsBy = Math.min(startedAt + firstOutputMs, job.deadlineAt)
    const written = { ...NOTHING_WRITTEN, dropped }
    let isSent = false
    const outcome = await this.#link.stream(path, body, {
      beginsBy,
      // The relay has the clocks of D17; this one must not end the wait for a first output.
      stallMs: Math.max(firstOutputMs, stallMs),
      caller,
      hops,
      headers,
      isCutByLeaving: onLeave === 'cancel',
      call: { signal: call.signal, sent: (has) => (isSent = has) },
    })
    if (!outcome.ok) {
      const { failure } = outcome
      // A provider that has the request charges its input, also when the caller leaves. D27.
      return isSent && failure.name === 'client_gone' ? ok({ ...written, failure }) : outcome
    }
    if (!outcome.value.isSuccess) {
      const refusal = failureOf(await readRefusal(outcome.value), this.#link)
      return { ok: false, failure: unquoted(refusal, source.bytes) }
    }
    const stream = open(this.#head(job, model), this.#link.redacted)
    const { failure: ended, hasBegun } = await new Relay({
      body: outcome.value.body,
      stream,
      sink,
      begin: () => begin(dropped, stream),
      signal: call.signal,
      firstOutputMs: beginsBy - performance.now(),
      stallMs,
      onLeave,
      drains: this.#drains,
      room: this.#roomOf(caller),
    }).run()
    const failure = ended === null ? null : unquoted(ended, hasBegun ? null : source.bytes)
    if (failure !== null && !hasBegun && failure.name !== 'client_gone') return { ok: false, failure }
    const { usage: told, outputBytes, upstreamId, finishReason } = stream
    const finalEvents = failure === null ? stream.finalEvents : null
    return ok({ ...written, failure, told, outputBytes, finalEvents, upstreamId, finishReason })
  }

  #head({ head }: InferenceJob, model: CallableModel): NativeHead {
    const { id, createdS } = head
    return { id, createdS, model: model.id, provider: this.#endpoint.provider.slug }
  }
}

/** A count has no effect, and may be asked for again. */
const COUNTED: PostKind = { answerBytesMax: COUNT_BYTES_MAX, mayRepeat: true, isLong: false }
/** Statuses of a server that has no such path. */
const NOT_COUNTED: readonly number[] = [404, 405, 501]

function isTokenCount(json: Uint8Array): boolean {
  try {
    const count: unknown = JSON.parse(Buffer.from(json).toString())
    const tokens: unknown =
      typeof count === 'object' && count !== null ? Reflect.get(count, 'input_tokens') : null
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
  } catch {
    return false
  }
}
