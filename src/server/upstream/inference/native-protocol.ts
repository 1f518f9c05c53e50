import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { COUNT_BYTES_MAX } from '../../../schemas/inference/inference-limits.ts'
import type { TextRequest } from '../../../schemas/inference/text-request.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { AnswerRoom, EgressAnswer } from '../../ports/egress/egress.ts'
import type { CountJob, InferenceJob } from '../../ports/inference/inference.ts'
import type { CallableModel, Endpoint, EndpointText } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { WRITTEN, type PostAttempt, type PostKind, type ProviderLink } from '../link.ts'
import { failureOf } from '../provider-failure.ts'
import { NATIVE_DIALECTS } from './dialects.ts'
import { arePlain, openBody, PlainBody, type SentBody } from './inline/sent-body.ts'
import type { NativeHead, NativeRequest, WritingAttempt, WritingProtocol, Written } from './protocol.ts'
import { Relay, type Drains } from './relay.ts'
import { readRefusal } from './response-end.ts'
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
  pausedMs: 0,
  isDrained: false,
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
    files,
    passedHeaders,
    caller,
    call,
    hops,
    deadlineAt,
  }: CountJob): Promise<Outcome<Uint8Array>> {
    const { dialect } = request
    const { countPath, request: requestOf } = NATIVE_DIALECTS[dialect]
    if (countPath === undefined) return fail('count_unavailable')
    const job = {
      request,
      ...(files !== undefined && { files }),
      ...(passedHeaders !== undefined && { passedHeaders }),
    }
    const outcome = await this.#post(requestOf(job, this.#endpoint, this.#text), {
      path: countPath,
      kind: COUNTED,
      attempt: { caller, call, hops, endsAt: deadlineAt },
    })
    if (!outcome.ok) return outcome
    const answer = outcome.value
    const json = Uint8Array.from(answer.body)
    answer.release()
    if (NOT_COUNTED.includes(answer.status)) return fail('count_unavailable')
    if (!answer.isSuccess)
      return { ok: false, failure: unquoted(failureOf(answer, this.#link), searchedIn(request)) }
    return isTokenCount(json) ? ok(json) : fail('upstream_invalid')
  }

  async #whole({ job, model }: WritingAttempt): Promise<Outcome<Written>> {
    const { dialect } = job.request
    const { path, request } = NATIVE_DIALECTS[dialect]
    const asked = request(job, this.#endpoint, this.#text)
    const { caller, call, hops, deadlineAt } = job
    const outcome = await this.#post(asked, {
      path,
      kind: WRITTEN,
      attempt: { caller, call, hops, endsAt: deadlineAt },
    })
    if (!outcome.ok) return outcome
    const answer = outcome.value
    if (!answer.isSuccess) {
      const failure = unquoted(failureOf(answer, this.#link), searchedIn(job.request))
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
      ...NOTHING_WRITTEN,
      failure: null,
      told: usage,
      outputBytes,
      answer: { withUsage, release: answer.release },
      dropped: asked.dropped,
      upstreamId,
      finishReason,
    })
  }

  /** Posts a request whose answer is read whole. */
  #post(request: NativeRequest, post: Post): Promise<Outcome<EgressAnswer>> {
    const { body, headers } = request
    const attempt = { ...post.attempt, headers }
    return arePlain(body)
      ? this.#link.post(post.path, body, attempt, post.kind)
      : this.#postFiles(body, { ...post, attempt })
  }

  async #postFiles(
    body: NativeRequest['body'],
    { path, attempt, kind }: Post,
  ): Promise<Outcome<EgressAnswer>> {
    const opened = await openBody(body, { caller: attempt.caller, signal: attempt.call.signal })
    if (!opened.ok) return opened
    const sent = opened.value
    const bodyBytes = sent.bytes
    const outcome = await this.#link.post(path, sent.take(), { ...attempt, bodyBytes }, kind)
    sent.close()
    return outcome.ok || sent.failure === null ? outcome : { ok: false, failure: sent.failure }
  }

  async #stream(attempt: WritingAttempt): Promise<Outcome<Written>> {
    const { job } = attempt
    const { request: requestOf } = NATIVE_DIALECTS[job.request.dialect]
    const { body, ...request } = requestOf(job, this.#endpoint, this.#text)
    if (arePlain(body)) return this.#streamed(attempt, request, new PlainBody(body))
    const opened = await openBody(body, { caller: job.caller, signal: job.call.signal })
    if (!opened.ok) return opened
    return this.#streamed(attempt, request, opened.value).finally(() => opened.value.close())
  }

  /** @param request without its body, which would stay in memory as long as the answer streams */

  async #streamed(
    { job, model, sink, begin, startedAt }: WritingAttempt,
    { dropped, headers }: Omit<NativeRequest, 'body'>,
    sent: SentBody,
  ): Promise<Outcome<Written>> {
    const { path, stream: open } = NATIVE_DIALECTS[job.request.dialect]
    const { caller, hops, call } = job
    const { firstOutputMs, stallMs, onLeave } = this.#text
    const beginsBy = Math.min(startedAt + firstOutputMs, job.deadlineAt)
    const written = { ...NOTHING_WRITTEN, dropped }
    let isSent = false
    const outcome = await this.#link.stream(path, sent.take(), {
      beginsBy,
      // The relay has the clocks of D17; this one must not end the wait for a first output.
      stallMs: Math.max(firstOutputMs, stallMs),
      caller,
      hops,
      headers,
      bodyBytes: sent.bytes,
      isCutByLeaving: onLeave === 'cancel',
      call: { signal: call.signal, sent: (has) => (isSent = has) },
    })
    if (!outcome.ok) {
      const failure = sent.failure ?? outcome.failure
      // A provider that has the request charges its input, also when the caller leaves. D27.
      const isLeft = isSent && sent.failure === null && failure.name === 'client_gone'
      return isLeft ? ok({ ...written, failure }) : { ok: false, failure }
    }
    if (!outcome.value.isSuccess) {
      const refusal = failureOf(await readRefusal(outcome.value), this.#link)
      return { ok: false, failure: unquoted(refusal, searchedIn(job.request)) }
    }
    const stream = open(this.#head(job, model), this.#link.redacted)
    const {
      failure: ended,
      hasBegun,
      pausedMs,
      isDrained,
    } = await new Relay({
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
    const told = ended === null ? null : unquoted(ended, hasBegun ? null : searchedIn(job.request))
    const failure = told === null ? null : (sent.failure ?? told)
    if (failure !== null && !hasBegun && failure.name !== 'client_gone') return { ok: false, failure }
    const { usage, outputBytes, upstreamId, finishReason } = stream
    const finalEvents = failure === null ? stream.finalEvents : null
    const figures = { told: usage, outputBytes, upstreamId, finishReason, pausedMs, isDrained }
    return ok({ ...written, ...figures, failure, finalEvents })
  }

  #head({ head }: InferenceJob, model: CallableModel): NativeHead {
    const { id, createdS } = head
    return { id, createdS, model: model.id, provider: this.#endpoint.provider.slug }
  }
}

interface Post {
  readonly path: string
  readonly kind: PostKind
  readonly attempt: PostAttempt
}

/** The content of a file is gone when its provider answers, and a message could quote it. D37. */
function searchedIn({ files, source }: TextRequest): Uint8Array | null {
  return files === undefined ? source.bytes : null
}

/** A count has no effect, and may be asked for again. */
const COUNTED: PostKind = { answerBytesMax: COUNT_BYTES_MAX, mayRepeat: true, isLong: false }
/** Statuses of a server that has no such path. */
const NOT_COUNTED: readonly number[] = [404, 405, 501]

function isTokenCount(json: Uint8Array): boolean {
  try {
    const { input_tokens: tokens } = membersOf(JSON.parse(Buffer.from(json).toString()))
    return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
  } catch {
    return false
  }
}
