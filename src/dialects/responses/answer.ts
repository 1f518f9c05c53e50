import type { Static } from 'typebox'
import { textOf, type Failure } from '../../schemas/failures.ts'
import type { ResponsesUsage } from '../../schemas/inference/responses.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import { ResponseItems, type GoingOn, type ResponseEvent, JsonWriter, PreparedJson } from './answer-items.ts'
import type { ShownUsage, WrittenPart } from '../parts.ts'
import {
  SILENCE,
  type PaidUsage,
  type TextEvents,
  type Author,
  type TextHead,
  type WholeText,
} from '../answers.ts'
import { inputTokens, outputTokens, usdOfNano } from '../../schemas/money/costs.ts'
import { shownTier, USUAL_TIER } from '../../schemas/models/price-conditions.ts'

type Usage = Static<typeof ResponsesUsage>

/**
 * Usage in the form of responses, which counts cached tokens in the input and reasoning in the output.
 * @param nano the charged part of its cost
 */
export function responsesUsage(
  { usage, isByok, isEstimated, reported }: PaidUsage,
  nano: number,
): ShownUsage {
  const [input, output] = [inputTokens(usage), outputTokens(usage)]
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
  const added = isEstimated ? null : JSON.stringify(ours).slice(1, -1)
  return { whole: JSON.stringify(shown), added, ...shownTier(reported) }
}

const LF = 0x0a
/** Text length in UTF-16 units above which serializing it again costs more than preparing its JSON once. */
const PREPARED_UNITS_MIN = 16_384

/** The server-sent events of an answer of responses. */
export class ResponsesEvents implements TextEvents {
  readonly silence = SILENCE
  #head: TextHead
  readonly #items: ResponseItems
  /** Number of events so far, which is the sequence number of the next one. */
  #events = 0
  #hasPrepared = false

  constructor(head: TextHead, { isEncryptedAsked }: Pick<TextRequest, 'isEncryptedAsked'>) {
    this.#head = head
    this.#items = new ResponseItems({
      tail: tailOf(head),
      isEncryptedAsked: isEncryptedAsked === true,
      textOf: this.#preparedOf,
    })
  }

  begin({ model }: Author): void {
    const { id, createdS } = this.#head
    this.#head = { id, createdS, model }
  }

  eventsOf(parts: readonly WrittenPart[]): Uint8Array {
    const [part] = parts
    const going = part === undefined || parts.length > 1 ? null : this.#items.goingOn(part)
    if (going !== null) return this.#goneOn(going)
    return this.#bytesOf([...this.#begun(), ...parts.flatMap((part) => this.#items.add(part))])
  }

  #goneOn({ type, members }: GoingOn): Uint8Array {
    const begin = `{"type":"${type}","sequence_number":${this.#events++},`
    return Buffer.from(`event: ${type}\ndata: ${begin}${members}}${AFTER_DATA}`)
  }

  passed(events: Uint8Array): void {
    for (let at = events.indexOf(LF); at >= 0; at = events.indexOf(LF, at + 1))
      if (events[at + 1] === LF) this.#events++
  }

  lastOf({ whole, tier }: ShownUsage): Uint8Array {
    const { status, ...more } = endOf(this.#items)
    const response = responseOf(this.#head, { status, ...more, tier, usage: JSON.parse(whole) as unknown })
    return this.#bytesOf([...this.#begun(), { type: `response.${status}`, response }])
  }

  failureOf(failure: Failure): Uint8Array {
    const error = { code: failure.name, message: textOf(failure), param: null }
    return this.#bytesOf([{ type: 'error', ...error }])
  }

  /** A long text is prepared, since four events repeat the text of an item. */
  readonly #preparedOf = (text: string): string | PreparedJson => {
    if (text.length < PREPARED_UNITS_MIN) return text
    this.#hasPrepared = true
    return new PreparedJson(text)
  }

  /** The events before the first output; empty after it. */
  #begun(): readonly ResponseEvent[] {
    if (this.#events > 0) return []
    const response = responseOf(this.#head, { status: 'in_progress' })
    return [
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]
  }

  #bytesOf(events: readonly ResponseEvent[]): Uint8Array {
    if (!this.#hasPrepared) return Buffer.from(events.map((event) => this.#textOf(event)).join(''))
    const writer = new JsonWriter()
    for (const event of events) writer.add(beforeData(event)).value(this.#numbered(event)).add(AFTER_DATA)
    return writer.whole()
  }

  #textOf(event: ResponseEvent): string {
    return `${beforeData(event)}${JSON.stringify(this.#numbered(event))}${AFTER_DATA}`
  }

  #numbered({ type, ...more }: ResponseEvent): object {
    return { type, sequence_number: this.#events++, ...more }
  }
}

export class WholeResponse implements WholeText {
  #head: TextHead
  readonly #items: ResponseItems

  constructor(head: TextHead, { isEncryptedAsked }: Pick<TextRequest, 'isEncryptedAsked'>) {
    this.#head = head
    this.#items = new ResponseItems({
      tail: tailOf(head),
      isEncryptedAsked: isEncryptedAsked === true,
      textOf: (text) => text,
    })
  }

  begin({ model }: Author): void {
    const { id, createdS } = this.#head
    this.#head = { id, createdS, model }
  }

  add(part: WrittenPart): void {
    this.#items.add(part)
  }

  answer({ whole, tier }: ShownUsage): object {
    return responseOf(this.#head, { ...endOf(this.#items), tier, usage: JSON.parse(whole) as unknown })
  }
}

const AFTER_DATA = '\n\n'

function beforeData({ type }: ResponseEvent): string {
  return `event: ${type}\ndata: `
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
  readonly tier?: string | undefined
}

function endOf({ items, incomplete: reason }: ResponseItems): ResponseEnd {
  return {
    status: reason === null ? 'completed' : 'incomplete',
    completed_at: Math.floor(Date.now() / 1_000),
    incomplete_details: reason === null ? null : { reason },
    output: items,
  }
}

/** All members that validating clients require; null where there is no value. */
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
    service_tier: end.tier ?? USUAL_TIER,
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
