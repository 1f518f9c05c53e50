import type { Failure } from '../../schemas/failures.ts'
import { SIGNATURE_FORMATS } from '../prompt/signatures.ts'
import { isObject, membersOf, type Members } from '../../schemas/values/members.ts'
import { INVALID } from '../native-events.ts'
import { responsesUsageOf } from './usage.ts'
import { NO_ANSWER, CLEANED_LATER, parsed, PartEvents, type ReadLarge } from '../part-events.ts'
import { PartQueue } from '../part-queue.ts'
import { ResponseItems, type TextKind } from './items.ts'
import type { FinishReason, TokenUsage, WholeParts, WholeRead, FailureOf } from '../parts.ts'
import type { OutputItem, ItemEvent } from './events.ts'
import { itemEventOf, outputItemOf } from './events.ts'

const COMPLETED = 'response.completed'
const INCOMPLETE = 'response.incomplete'
const FAILED = 'response.failed'

/** Events with text: the kind of part, and whether they contain a fragment or the whole text. */
const TEXTS: ReadonlyMap<string, readonly [TextKind, 'delta' | 'done']> = new Map([
  ['response.output_text.delta', ['text', 'delta']],
  ['response.output_text.done', ['text', 'done']],
  ['response.refusal.delta', ['refusal', 'delta']],
  ['response.refusal.done', ['refusal', 'done']],
  ['response.reasoning_summary_text.delta', ['summary', 'delta']],
  ['response.reasoning_summary_text.done', ['summary', 'done']],
  ['response.reasoning_text.delta', ['reasoning', 'delta']],
  ['response.reasoning_text.done', ['reasoning', 'done']],
])

/** Finish reasons by the provider's reason for an incomplete answer; any other reason means that the answer was cut off. */
const REASONS: ReadonlyMap<string, FinishReason> = new Map([['content_filter', 'content_filter']])

/** The stream of a provider that speaks responses, for callers of other dialects. */
export class ResponsesParts extends PartEvents {
  readonly #queue = new PartQueue({ write: (part) => this.write(part), answerId: () => this.upstreamId })
  readonly #items: ResponseItems
  /** Items that have begun and not ended. */
  #openItems = 0
  /** A message or a call has ended. */
  #isAnswered = false
  #usage: TokenUsage | null = null

  /** @param format of the provider's signatures @param readLarge as in `PartEvents` */
  constructor(
    failureOf: FailureOf,
    format: string = SIGNATURE_FORMATS.responses,
    readLarge?: ReadLarge | null,
  ) {
    super(failureOf, readLarge)
    this.#items = new ResponseItems(this.#queue, format)
  }

  override get heldBytes(): number {
    return super.heldBytes + this.#queue.heldBytes
  }

  /** Usage in the last event; null: missing, not credible, or zero output although there was output. */
  get usage(): TokenUsage | null {
    const usage = this.#usage
    return usage !== null && this.hasOutput && usage.output + usage.reasoning === 0 ? null : usage
  }

  /** The last event, which has the usage, comes after the items. */
  override get awaitsUsage(): boolean {
    return this.#isAnswered && this.#openItems === 0 && !this.isDone
  }

  protected override take(members: Members, name: string): Failure | 'failed' | null {
    const { type: declaredType, response, error } = members
    const type = typeof declaredType === 'string' && declaredType !== '' ? declaredType : name
    if (type === 'error' || ((error ?? null) !== null && !type.startsWith('response.'))) return 'failed'
    const { id } = membersOf(response)
    if (typeof id === 'string' && id !== '') this.upstreamId ??= id
    this.report(membersOf(response))
    if (type === FAILED) return this.failureIn(membersOf(response)['error'])
    if (type === COMPLETED || type === INCOMPLETE)
      return isObject(response) ? this.#end(type, response) : INVALID
    const isRead = TEXTS.has(type) || ITEM_EVENTS.has(type)
    if (!isRead) return null
    const event = itemEventOf(members)
    return event === null ? INVALID : this.#take(type, event)
  }

  #take(type: string, event: ItemEvent): Failure | null {
    const { output_index: index, delta, arguments: json } = event
    const text = TEXTS.get(type)
    if (text !== undefined) return this.#text(text, event)
    if (type === ARGUMENTS_DELTA) return this.#items.argue(index, delta ?? '')
    if (type === ARGUMENTS_DONE) return this.#items.argued(index, json ?? '')
    const item = outputItemOf(membersOf(event.item))
    if (item === null) return INVALID
    if (type === ITEM_ADDED) {
      this.#openItems++
      return this.#items.begin(index, item)
    }
    this.#openItems--
    const { type: kind } = membersOf(event.item)
    if (kind === 'message' || (typeof kind === 'string' && kind.endsWith('_call'))) this.#isAnswered = true
    return this.#items.end(index, item)
  }

  #text([kind, form]: readonly [TextKind, 'delta' | 'done'], event: ItemEvent): Failure | null {
    const { output_index: index, content_index, summary_index, delta, text, refusal } = event
    const part = (kind === 'summary' ? summary_index : content_index) ?? 0
    return form === 'delta'
      ? this.#items.say(index, kind, part, delta ?? '')
      : this.#items.completeText(index, kind, part, text ?? refusal ?? '')
  }

  #end(type: string, response: Members): Failure | null {
    const { output, usage, status, incomplete_details: details } = response
    const items = (Array.isArray(output) ? output : []).map((item) => outputItemOf(membersOf(item)))
    if (items.some((item) => item === null)) return INVALID
    const failure = this.#items.endAll(items as readonly OutputItem[])
    if (failure !== null) return failure
    if (isObject(usage)) this.#usage = responsesUsageOf(usage, false)
    this.isDone = true
    const { reason: word } = membersOf(details)
    const why = typeof word === 'string' ? word : null
    const native = why ?? (typeof status === 'string' ? status : type.slice('response.'.length))
    const whole: FinishReason = this.#queue.calls > 0 ? 'tool_calls' : 'stop'
    const reason = type === COMPLETED ? whole : (REASONS.get(native) ?? 'length')
    this.finishReason = native
    this.write({ kind: 'finish', choice: 0, reason, native, stopSequence: null })
    return null
  }
}

const ITEM_ADDED = 'response.output_item.added'
const ARGUMENTS_DELTA = 'response.function_call_arguments.delta'
const ARGUMENTS_DONE = 'response.function_call_arguments.done'
const ITEM_EVENTS: ReadonlySet<string> = new Set([
  ITEM_ADDED,
  'response.output_item.done',
  ARGUMENTS_DELTA,
  ARGUMENTS_DONE,
])

/** Failures: also upstream_invalid for an error without the status `failed`, and for a response without outputs. */
export function responseWhole(body: Buffer, format?: string): WholeRead<WholeParts> {
  const response = parsed(body)
  if (response === null) return NO_ANSWER
  const { status, error, output } = response
  const stream = new ResponsesParts(CLEANED_LATER, format)
  if (status === 'failed') return stream.whole([{ type: FAILED, response }])
  if ((error ?? null) !== null || !Array.isArray(output)) return NO_ANSWER
  return stream.whole([{ type: status === 'incomplete' ? INCOMPLETE : COMPLETED, response }])
}
