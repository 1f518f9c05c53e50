import { fail, ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import type { Caller } from '../../schemas/values/callers.ts'
import type { AnswerRoom, EgressAnswer } from '../ports/egress/egress.ts'
import type { CountedPrompt, CountJob, InferenceJob } from '../ports/inference/inference.ts'
import type { CallableModel, Endpoint, EndpointText } from '../ports/models/models.ts'
import type { LoopBudget } from '../structures/loop-budget.ts'
import { WRITTEN, type PostKind, type ProviderLink } from '../upstream/link.ts'
import { blockedPrompt, failureOf, failureOfWhole, failuresOfEvents } from '../upstream/provider-failure.ts'
import type { CallMedia } from '../upstream/inference/inline/call-media.ts'
import { arePlain, openBody, PlainBody, type SentBody } from '../upstream/inference/inline/sent-body.ts'
import type {
  ProviderRequest,
  WritingAttempt,
  WritingProtocol,
  Written,
} from '../upstream/inference/protocol.ts'
import { Relay, type Drains } from './relay.ts'
import { translatedTo } from '../upstream/inference/spoken.ts'
import { unquoted } from '../upstream/inference/unquoted.ts'
import type { WholeInput, Wire, WireOf } from '../upstream/inference/wire.ts'
import type {
  AnswerFigures,
  NativeAnswer,
  NativeHead,
  WholeParts,
  WholeRead,
  FailureOf,
} from '../../dialects/parts.ts'
import { NOTHING_REPORTED } from '../../dialects/usage.ts'
import { lostOf, unsupported } from '../upstream/inference/translated/translation-job.ts'
import { readRefusal } from '../upstream/inference/framing.ts'
import { frameOf } from '../../dialects/native-events.ts'

/** Bytes of a provider's token count, which is one figure and a few other members. Decision. */
export const COUNT_BYTES_MAX = 65_536

interface WritingEndpointDeps {
  readonly endpoint: Endpoint
  readonly text: EndpointText
  readonly wireOf: WireOf
  readonly link: ProviderLink
  readonly drains: Drains
  readonly loop: LoopBudget
  readonly roomOf: (caller: Caller) => AnswerRoom
}

const NOTHING_WRITTEN = {
  reportedUsage: null,
  isExact: false,
  outputBytes: 0,
  answer: null,
  finalEvents: null,
  upstreamId: null,
  reported: NOTHING_REPORTED,
  finishReason: null,
  pausedMs: 0,
  isDrained: false,
} as const

/** An endpoint of a provider of text models, in the caller's dialect or in a protocol of its own. */
export class WritingEndpoint implements WritingProtocol {
  readonly #endpoint: Endpoint
  readonly #text: EndpointText
  readonly #link: ProviderLink
  readonly #failureOf: FailureOf
  readonly #drains: Drains
  readonly #loop: LoopBudget
  readonly #wireOf: WireOf
  readonly #roomOf: (caller: Caller) => AnswerRoom

  constructor({ endpoint, text, wireOf, link, drains, loop, roomOf }: WritingEndpointDeps) {
    this.#endpoint = endpoint
    this.#text = text
    this.#link = link
    this.#failureOf = failuresOfEvents(link.redacted)
    this.#drains = drains
    this.#loop = loop
    this.#wireOf = wireOf
    this.#roomOf = roomOf
  }

  async write(attempt: WritingAttempt): Promise<Outcome<Written>> {
    const wire = this.#wireOf(attempt.job.request.dialect)
    if (wire === null) return fail('model_unfit')
    const first = await this.#write(attempt, wire)
    const takeBack = first.ok ? null : wire.refused(first.failure)
    if (takeBack === null) return first
    const again = await this.#write(attempt, wire)
    // A refusal may only quote its request: the member was the cause only if the repetition succeeds.
    if (!again.ok || again.value.failure !== null) takeBack()
    return again
  }

  async #write(attempt: WritingAttempt, wire: Wire): Promise<Outcome<Written>> {
    const { isStream } = attempt.job.request
    const writing = wire.request(attempt.job, attempt.media)
    const request = writing instanceof Promise ? await writing : writing
    if (!request.ok) return request
    const { body, dropped, headers, origins } = request.value
    const lost = lostOf(attempt.job.request, dropped)
    if (lost.length > 0) return unsupported(lost)
    const opening = opened(body, attempt.job)
    const sent = opening instanceof Promise ? await opening : opening
    if (!sent.ok) return sent
    const sending = { wire, startedAt: attempt.ready(), dropped, headers, origins }
    return isStream
      ? this.#stream(attempt, sending, sent.value).finally(() => sent.value.close())
      : this.#whole(attempt, sending, sent.value)
  }

  async count(job: CountJob, media: CallMedia): Promise<Outcome<CountedPrompt>> {
    const { request, caller, call, hops, deadlineAt } = job
    const count = this.#wireOf(request.dialect)?.count ?? null
    if (count === null) return fail('count_unavailable')
    const asked = await count.request(job, media)
    if (!asked.ok) return asked
    const sent = await opened(asked.value.body, job)
    if (!sent.ok) return sent
    const { headers, dropped } = asked.value
    const { bytes: bodyBytes } = sent.value
    const attempt = { caller, call, hops, headers, bodyBytes, endsAt: deadlineAt }
    const outcome = posted(sent.value, await this.#link.post(count.path, sent.value.take(), attempt, COUNTED))
    if (!outcome.ok) return outcome
    const answer = outcome.value
    const failure = NOT_COUNTED.includes(answer.status)
      ? { name: 'count_unavailable' as const }
      : answer.isSuccess
        ? null
        : this.#visible(failureOf(answer, this.#link), request, sent.value)
    const json = failure === null ? count.answer(answer.body) : null
    answer.release()
    if (failure !== null) return { ok: false, failure }
    return json === null ? fail('upstream_invalid') : ok({ json, dropped })
  }

  async #whole(
    attempt: WritingAttempt,
    { dropped, headers, origins, wire }: Sending,
    sent: SentBody,
  ): Promise<Outcome<Written>> {
    const { job, model } = attempt
    const { caller, call, hops, deadlineAt } = job
    const { bytes: bodyBytes } = sent
    const { tierHeader: wantedHeader } = wire
    const asked = { caller, call, hops, headers, bodyBytes, wantedHeader, endsAt: deadlineAt }
    const outcome = posted(sent, await this.#link.post(wire.pathOf(false), sent.take(), asked, WRITTEN))
    if (!outcome.ok) return outcome
    const answer = outcome.value
    if (!answer.isSuccess) {
      const failure = this.#visible(failureOf(answer, this.#link), job.request, sent)
      return { ok: false, failure }
    }
    const head = this.#head(job, model)
    let read: WholeRead<NativeAnswer | WholeParts>
    try {
      const reading = readWhole(wire, {
        body: answer.body,
        ...{ head, caller, tier: answer.wanted ?? null },
        isEncryptedAsked: job.request.isEncryptedAsked === true,
        endsAt: deadlineAt,
        ...(origins && { origins }),
      })
      read = reading instanceof Promise ? await reading : reading
    } catch (bug) {
      answer.release()
      throw bug
    }
    if (!read.ok) {
      const failure = failureOfWhole(read, this.#failureOf)
      answer.release()
      return { ok: false, failure: this.#visible(failure, job.request, sent) }
    }
    const { value } = read
    const { blocked } = value
    if (blocked !== undefined && attempt.mayChangeModel()) {
      answer.release()
      return { ok: false, failure: blockedPrompt(blocked) }
    }
    wire.answered(value.thinksIn ?? null)
    const { release } = answer
    if ('withUsage' in value)
      return ok(wholly(value, { dropped, answer: { withUsage: value.withUsage, release } }))
    attempt.begin(dropped, value)
    attempt.sink.take(value.parts)
    return ok(wholly(value, { dropped, answer: null, release }))
  }

  /** Takes only the request without its body, which would otherwise stay in memory while the answer streams. */
  async #stream(
    attempt: WritingAttempt,
    { dropped, headers, origins, wire, startedAt }: Sending,
    sent: SentBody,
  ): Promise<Outcome<Written>> {
    const { job, model } = attempt
    const { caller, hops, call } = job
    const { firstOutputMs, stallMs, onLeave } = this.#text
    const beginsBy = Math.min(startedAt + firstOutputMs, job.deadlineAt)
    const written = { dropped, ...NOTHING_WRITTEN }
    let isSent = false
    const outcome = await this.#link.stream(wire.pathOf(true), sent.take(), {
      beginsBy,
      // The relay has the time limits of D17; this one must not end the wait for the first output.
      stallMs: Math.max(firstOutputMs, stallMs),
      caller,
      hops,
      headers,
      bodyBytes: sent.bytes,
      // The relay cuts the stream, or reads on for its usage.
      isCutByLeaving: false,
      call: { signal: call.signal, sent: (has) => (isSent = has) },
    })
    if (!outcome.ok) {
      const failure = sent.failure ?? outcome.failure
      // A provider that has received the request charges its input, even when the caller disconnects.
      const isLeft = isSent && sent.failure === null && failure.name === 'client_gone'
      return isLeft ? ok({ failure, ...written }) : { ok: false, failure }
    }
    if (!outcome.value.isSuccess) {
      const refusal = failureOf(await readRefusal(outcome.value), this.#link)
      return { ok: false, failure: this.#visible(refusal, job.request, sent) }
    }
    const { tierHeader } = wire
    const stream = wire.stream(this.#head(job, model), this.#failureOf, {
      caller,
      tier: tierHeader === undefined ? null : outcome.value.header(tierHeader),
      ...(origins && { origins }),
    })
    const {
      failure: ended,
      hasBegun,
      pausedMs,
      isDrained,
    } = await new Relay({
      body: wire.framing.stream(outcome.value.body, caller, this.#roomOf),
      stream,
      attempt,
      dropped,
      signal: call.signal,
      firstOutputMs: beginsBy - performance.now(),
      stallMs,
      onLeave,
      drains: this.#drains,
      room: this.#roomOf(caller),
      budget: this.#loop.stream(caller.organizationId),
    }).run()
    const visible =
      ended === null ? null : hasBegun ? unquoted(ended, null) : this.#visible(ended, job.request, sent)
    const failure = visible === null ? null : (sent.failure ?? visible)
    if (failure !== null && !hasBegun && failure.name !== 'client_gone') return { ok: false, failure }
    wire.answered(stream.thinksIn ?? null)
    const { usage: reportedUsage, outputBytes, upstreamId, reported, finishReason } = stream
    const finalEvents = failure === null && 'finalEvents' in stream ? stream.finalEvents : null
    const figures = { reportedUsage, outputBytes, upstreamId, reported, finishReason, pausedMs, isDrained }
    return ok({ failure, ...written, ...figures, finalEvents })
  }

  /** A failure as the caller may see it. If Sluice wrote the request, its paths are left out, since the caller does not know them. */
  #visible(failure: Failure, request: TextRequest, sent: SentBody): Failure {
    const visible = unquoted(failure, searchedIn(request, sent))
    const param = visible.metadata?.provider_param
    const isNative = translatedTo(this.#text, request.dialect) === null
    return param === undefined || !isNative ? visible : { ...visible, param }
  }

  #head({ head }: InferenceJob, model: CallableModel): NativeHead {
    const { id, createdS } = head
    return { id, createdS, model: model.id, provider: this.#endpoint.provider.slug }
  }
}

/** The result of a whole answer; written out, since each call has one. */
function wholly(
  { usage, outputBytes, upstreamId, reported, finishReason }: AnswerFigures,
  { dropped, answer, release }: Pick<Written, 'dropped' | 'answer' | 'release'>,
): Written {
  return {
    failure: null,
    reportedUsage: usage,
    isExact: false,
    outputBytes,
    answer,
    release,
    finalEvents: null,
    dropped,
    upstreamId,
    reported,
    finishReason,
    pausedMs: 0,
    isDrained: false,
  }
}

/** The outcome of a request that was sent; its body is no longer needed. */
function posted(sent: SentBody, outcome: Outcome<EgressAnswer>): Outcome<EgressAnswer> {
  sent.close()
  return outcome.ok || sent.failure === null ? outcome : { ok: false, failure: sent.failure }
}

/** Reads a whole answer: some providers stream even if a whole answer was requested. */
function readWhole(wire: Wire, input: WholeInput): ReturnType<Wire['whole']> {
  return frameOf(input.body) === 'events' ? readEvents(wire, input) : wire.whole(input)
}

async function readEvents(wire: Wire, input: WholeInput): Promise<WholeRead<NativeAnswer | WholeParts>> {
  const made = await wire.framing.answer(input.body, input)
  if (!made.ok) return made
  return made.value.ok ? wire.whole({ ...input, body: made.value.bytes }) : made.value
}

/** A request that is ready to be sent, without its body. */
interface Sending extends Pick<ProviderRequest, 'dropped'> {
  readonly headers: ProviderRequest['headers']
  readonly origins: ProviderRequest['origins']
  readonly wire: Wire
  /** `performance.now()` at which the endpoint's time began. */
  readonly startedAt: number
}

/** Opens the body; without files it needs neither a promise nor a signal. Failures: those of `openBody`. */
function opened(
  body: ProviderRequest['body'],
  { caller, call }: Pick<InferenceJob, 'caller' | 'call'>,
): Outcome<SentBody> | Promise<Outcome<SentBody>> {
  return arePlain(body) ? ok(new PlainBody(body)) : openBody(body, { caller, signal: call.signal })
}

/**
 * The bytes in which quotations of a provider's message are searched. Null with files or fetched media: their
 * content is not in the caller's request, but the message could quote it.
 */
function searchedIn({ source }: TextRequest, sent: SentBody): Uint8Array | null {
  return sent instanceof PlainBody ? source.bytes : null
}

/** A count has no side effect and may be repeated. */
const COUNTED: PostKind = { answerBytesMax: COUNT_BYTES_MAX, mayRepeat: true, isLong: false }
/** Statuses of a server that does not have this path. */
const NOT_COUNTED: readonly number[] = [404, 405, 501]
