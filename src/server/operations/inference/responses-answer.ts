import type { Static } from 'typebox'
import { textOf, type Failure } from '../../../schemas/failures.ts'
import type { ResponsesUsage } from '../../../schemas/inference/responses.ts'
import { usdOfNano } from '../../../schemas/money/usd.ts'
import type { EventStream } from '../../ports/event-stream.ts'
import type {
  AnsweredBy,
  FinalEvents,
  InferenceEnd,
  ShownUsage,
  WrittenPart,
} from '../../ports/inference/inference.ts'
import type { TextHead, TextStream, WholeText } from './answer-text.ts'
import { Delivery } from './keep-generation.ts'
import { ResponseItems, type ResponseEvent } from './response-items.ts'

type Usage = Static<typeof ResponsesUsage>

/**
 * Usage in the form of responses, which counts cached tokens in the input and reasoning in the output. D24.
 * @param nano the charged part of its cost
 */
export function responsesUsage(
  { usage, isByok, isEstimated }: Pick<InferenceEnd, 'usage' | 'isByok' | 'isEstimated'>,
  nano: number,
): ShownUsage {
  const input = usage.input + usage.cacheRead + usage.cacheWrite
  const output = usage.output + usage.reasoning
  const ours = {
    cost: usdOfNano(nano),
    cost_details: {
      upstream_inference_cost: null,
      upstream_inference_input_cost: 0,
      upstream_inference_output_cost: 0,
    },
    is_byok: isByok,
    ...(isEstimated ? { is_estimated: true } : null),
  }
  const shown: Usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
    ...ours,
  }
  return { whole: JSON.stringify(shown), added: isEstimated ? null : JSON.stringify(ours).slice(1, -1) }
}

/** Written while the source is silent. D16. */
export const RESPONSES_SILENCE = Buffer.from(': SLUICE PROCESSING\n\n')
const LF = 0x0a

/** An answer of responses as server-sent events. D13. */
export class ResponsesStream implements TextStream {
  readonly delivery = new Delivery()
  readonly #head: TextHead
  readonly #open: (by: AnsweredBy | null) => EventStream
  readonly #items: ResponseItems
  #by: AnsweredBy | null = null
  #stream: EventStream | null = null
  /** Events so far: the number of the next one. */
  #events = 0

  /** @param open begins the reply; called with the first output, or without an endpoint before it */
  constructor(head: TextHead, open: (by: AnsweredBy | null) => EventStream) {
    this.#head = head
    this.#open = open
    this.#items = new ResponseItems(tailOf(head))
  }

  get isOpen(): boolean {
    return this.#stream !== null
  }

  openEarly(): void {
    if (this.#stream !== null) return
    this.#stream = this.#open(null)
    this.#stream.write(RESPONSES_SILENCE)
  }

  begin(by: AnsweredBy): void {
    this.#by = by
  }

  take(parts: readonly WrittenPart[]): boolean {
    const events = parts.flatMap((part) => this.#items.add(part))
    return this.#write([...(this.#events === 0 ? this.#begun() : []), ...events])
  }

  pass(events: Uint8Array): boolean {
    for (let at = events.indexOf(LF); at >= 0; at = events.indexOf(LF, at + 1))
      if (events[at + 1] === LF) this.#events++
    return this.#send(events)
  }

  async room(): Promise<void> {
    if (this.#stream !== null) await this.delivery.stall(this.#stream.room())
  }

  end(usage: ShownUsage, finalEvents: FinalEvents | null): void {
    if (finalEvents === null) this.#write([...(this.#events === 0 ? this.#begun() : []), this.#last(usage)])
    else this.#send(Buffer.concat(finalEvents.withUsage(usage)))
    this.#stream?.end()
  }

  breakOff(failure: Failure): void {
    const error = { code: failure.name, message: textOf(failure), param: null }
    this.#stream?.breakOff(Buffer.from(this.#textOf({ type: 'error', ...error })))
  }

  #begun(): readonly ResponseEvent[] {
    const response = responseOf(this.#headNow(), { status: 'in_progress' })
    return [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]
  }

  #last({ whole }: ShownUsage): ResponseEvent {
    const { status, ...more } = endOf(this.#items)
    const response = responseOf(this.#headNow(), { status, ...more, usage: JSON.parse(whole) as unknown })
    return { type: `response.${status}`, response }
  }

  /** Another model of the call may answer. D11. */
  #headNow(): TextHead {
    return { ...this.#head, model: this.#by?.model ?? this.#head.model }
  }

  #write(events: readonly ResponseEvent[]): boolean {
    return this.#send(Buffer.from(events.map((event) => this.#textOf(event)).join('')))
  }

  #send(events: Uint8Array): boolean {
    this.#stream ??= this.#open(this.#by)
    this.#stream.write(events)
    this.delivery.wrote()
    return this.#stream.hasRoom
  }

  #textOf({ type, ...more }: ResponseEvent): string {
    const data = JSON.stringify({ type, sequence_number: this.#events++, ...more })
    return `event: ${type}\ndata: ${data}\n\n`
  }
}

/** An answer of responses that is sent when it is whole. D14. */
export class ResponsesWhole implements WholeText {
  readonly #head: TextHead
  readonly #items: ResponseItems
  #model: string

  constructor(head: TextHead) {
    this.#head = head
    this.#model = head.model
    this.#items = new ResponseItems(tailOf(head))
  }

  begin({ model }: AnsweredBy): void {
    this.#model = model
  }

  take(parts: readonly WrittenPart[]): boolean {
    for (const part of parts) this.#items.add(part)
    return true
  }

  /** No provider streams an answer that is wanted whole. */
  pass(): boolean {
    return true
  }

  room(): Promise<void> {
    return Promise.resolve()
  }

  answer({ whole }: ShownUsage): object {
    const head = { ...this.#head, model: this.#model }
    return responseOf(head, { ...endOf(this.#items), usage: JSON.parse(whole) as unknown })
  }
}

function tailOf({ id }: TextHead): string {
  return id.replace(/^gen_/, '')
}

interface ResponseEnd {
  readonly status: string
  readonly completed_at?: number
  readonly incomplete_details?: object | null
  readonly output?: readonly object[]
  readonly usage?: unknown
}

function endOf({ items, isCut }: ResponseItems): ResponseEnd {
  return {
    status: isCut ? 'incomplete' : 'completed',
    completed_at: Math.floor(Date.now() / 1_000),
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    output: items,
  }
}

/** Every member that clients which validate require, null where there is nothing. D13. */
function responseOf(head: TextHead, end: ResponseEnd): object {
  return {
    id: `resp_${tailOf(head)}`,
    object: 'response',
    created_at: head.createdS,
    completed_at: end.completed_at ?? null,
    status: end.status,
    background: false,
    error: null,
    incomplete_details: end.incomplete_details ?? null,
    instructions: null,
    max_output_tokens: null,
    metadata: {},
    model: head.model,
    output: end.output ?? [],
    parallel_tool_calls: true,
    presence_penalty: null,
    frequency_penalty: null,
    previous_response_id: null,
    reasoning: null,
    service_tier: 'default',
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    truncation: 'disabled',
    usage: end.usage ?? null,
    user: null,
  }
}
