import { ok, type Failure, type Outcome } from '../../schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX } from '../../schemas/limits/limits.ts'
import { bytesOf } from '../../schemas/values/json-bytes.ts'
import { withoutMarks } from '../../schemas/values/long-integers.ts'
import type { FailureFacts, TextEvents, TextHead, WholeText } from '../../dialects/answers.ts'
import type { FinalEvents, ShownUsage, WrittenPart } from '../../dialects/parts.ts'
import type { TextCaller, EventStream } from '../ports/inference/inference.ts'
import type { ModelReply } from '../ports/model-calls.ts'
import type { Charge } from './payment.ts'
import { Delivery, keepGeneration, type AnsweredBy, type InferenceEnd } from './record.ts'
import { TextCall, type TextCallInput } from './text-call.ts'

/** A streamed answer: its reply begins with the first output, or earlier. */
export class StreamedText extends TextCall {
  readonly delivery = new Delivery()
  readonly #events: TextEvents
  #by: AnsweredBy | null = null
  /** Null: the head of the answer has not been sent. */
  #stream: EventStream | null = null
  #silence: NodeJS.Timeout | undefined

  constructor(input: TextCallInput) {
    super(input)
    this.#events = this.form.events(this.head, this.job.request)
  }

  protected override beforeAttempts(): void {
    // A silent provider must not continue for a caller who has disconnected.
    this.call.watch()
    this.#silence = setTimeout(() => this.openEarly(), this.shared.streamHoldMs)
  }

  protected override afterAttempts(outcome: Outcome<InferenceEnd> | null): void {
    clearTimeout(this.#silence)
    if (outcome === null || outcome.ok || this.#stream === null) return
    // After the head was sent, only the stream can report a failure.
    this.#breakOff(outcome.failure)
    keepGeneration(this, { end: null, failure: outcome.failure, chargedNano: 0 }, this.ports)
  }

  /** Begins the reply before any output. */
  openEarly(): void {
    if (this.#stream !== null) return
    this.#stream = this.#open(null)
    this.#stream.write(this.#events.silence)
  }

  protected override firstOutput(by: AnsweredBy): void {
    this.#by = by
    this.#events.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    return this.#write(this.#events.eventsOf(parts))
  }

  pass(events: Uint8Array): boolean {
    this.#events.passed?.(events)
    return this.#write(events)
  }

  async room(): Promise<void> {
    if (this.#stream !== null) await this.delivery.stall(this.#stream.room())
  }

  protected override reply(end: InferenceEnd, { nano }: Charge): Outcome<ModelReply> {
    const { failure } = end
    if (failure !== null) {
      this.#breakOff(failure)
      return { ok: false, failure }
    }
    this.#end(this.form.usageOf(end, nano), end.finalEvents)
    return ok({ kind: 'streamed' })
  }

  /** @param finalEvents the provider's last events, held back until the usage is known */
  #end(usage: ShownUsage, finalEvents: FinalEvents | null): void {
    this.#stream ??= this.#open(this.#by)
    const last = finalEvents === null ? [this.#events.lastOf(usage)] : finalEvents.withUsage(usage)
    // Joined into one write, unless copying would block the loop: the last event may have 16 MiB.
    if (bytesOf(last) <= INLINE_JSON_BYTES_MAX)
      return this.#stream.end(last.length === 1 ? last[0] : Buffer.concat(last))
    for (const bytes of last) this.#stream.write(bytes)
    this.#stream.end()
  }

  #breakOff(failure: Failure): void {
    const facts: FailureFacts = { statuses: this.form.statuses, requestId: this.call.requestId }
    this.#stream?.breakOff(this.#events.failureOf(failure, facts))
  }

  #write(events: Uint8Array): boolean {
    this.#stream ??= this.#open(this.#by)
    this.#stream.write(events)
    this.delivery.wrote()
    return this.#stream.hasRoom
  }

  /** @param by null: no endpoint has answered */
  #open(by: AnsweredBy | null): EventStream {
    if (by !== null) noteFirstOutput(this.call)
    const events = this.#events
    return this.call.events({ headers: headersOf(this.head, by), silence: () => events.silence })
  }
}

export class CollectedText extends TextCall {
  readonly delivery = null
  readonly #text: WholeText

  constructor(input: TextCallInput) {
    super(input)
    this.#text = this.form.whole(this.head, this.job.request)
  }

  protected override firstOutput(by: AnsweredBy): void {
    this.#text.begin(by)
  }

  take(parts: readonly WrittenPart[]): boolean {
    for (const part of parts) this.#text.add(part)
    return true
  }

  /** Never called: no provider streams an answer that is requested whole. */
  pass(): boolean {
    return true
  }

  room(): Promise<void> {
    return Promise.resolve()
  }

  protected override reply(end: InferenceEnd, { nano, isCapped }: Charge): Outcome<ModelReply> {
    const usage = this.form.usageOf(end, nano)
    const headers = headersOf(this.head, end, usageWord(end, isCapped))
    const { answer, release } = end
    noteFirstOutput(this.call)
    if (answer === null && release === undefined)
      return ok({ kind: 'json', value: this.#text.answer(usage), headers })
    const parts = answer?.withUsage(usage) ?? [
      Buffer.from(withoutMarks(JSON.stringify(this.#text.answer(usage)))),
    ]
    const done = answer?.release ?? release
    return ok({
      kind: 'bytes',
      parts,
      contentType: 'application/json',
      headers,
      ...(done !== undefined && { done }),
    })
  }
}

/** @param by null: no endpoint has answered so far @param usage figures to report; null: none */
function headersOf(
  { id }: TextHead,
  by: AnsweredBy | null,
  usage: string | null = null,
): Readonly<Record<string, string>> {
  if (by === null) return { 'x-generation-id': id }
  const headers: Record<string, string> = {
    'x-generation-id': id,
    'x-sluice-provider': by.provider,
    'x-sluice-attempts': String(by.attempts),
  }
  if (by.dropped.length > 0) headers['x-sluice-dropped'] = by.dropped.join(',')
  if (by.isUnpriced) headers['x-sluice-unpriced'] = 'true'
  else if (by.unpricedTier !== null) headers['x-sluice-unpriced'] = 'tier'
  if (usage !== null) headers['x-sluice-usage'] = usage
  return headers
}

function usageWord({ isEstimated }: InferenceEnd, isCapped: boolean): string | null {
  if (isEstimated) return 'estimated'
  return isCapped ? 'capped' : null
}

/** Notes the time of the first output, for the head that is sent with it. */
function noteFirstOutput({ notes, startedAt }: TextCaller): void {
  notes.ttftMs = performance.now() - startedAt
}
