import type { Failure } from '../../../../schemas/failures.ts'
import { signatureOf } from '../../../../schemas/inference/forms/carried-signatures.ts'
import { INVALID } from '../native-events.ts'
import type { OpenCall } from './open-call.ts'
import type { PartQueue } from './part-queue.ts'
import type { ItemPart, OutputItem } from './response-event.ts'

/** Items of one answer, and parts of all items. Decision. */
export const ITEMS_MAX = 4_096

/** Between two parts of a summary, or of reasoning. */
const PARAGRAPH = '\n\n'

export type SaidKind = 'text' | 'refusal' | 'summary' | 'reasoning'

/** How far an item was given on. */
interface SeenItem {
  readonly type: string
  readonly call: OpenCall | null
  /** UTF-16 units that were given, by part. */
  readonly units: Map<string, number>
  isDone: boolean
}

/**
 * The items of a response as they come: the same text stands in fragments, in an event of its own, in its item
 * and in the last event. Each is given once; small servers leave some of them out.
 */
export class ResponseItems {
  readonly #queue: PartQueue
  readonly #format: string
  readonly #items = new Map<number, SeenItem>()
  /** Places of the items whose ids were told. */
  readonly #indexes = new Map<string, number>()
  #parts = 0
  #lastIndex = 0

  /** @param format of the provider's signatures */
  constructor(queue: PartQueue, format: string) {
    this.#queue = queue
    this.#format = format
  }

  begin(index: number | null | undefined, item: OutputItem): Failure | null {
    this.#lastIndex = index ?? this.#items.size
    const seen = this.#seen(this.#lastIndex, item)
    if (seen === null) return INVALID
    return this.#named(seen, item)
  }

  /** @param text the next fragment of the arguments; of an unknown item they are not given */
  argue(index: number | null | undefined, text: string): Failure | null {
    const seen = this.#items.get(index ?? this.#lastIndex)
    if (seen === undefined || seen.call === null) return null
    return this.#add(seen, 'arguments', text)
  }

  say(index: number | null | undefined, kind: SaidKind, part: number, text: string): Failure | null {
    const at = index ?? this.#lastIndex
    const seen = this.#items.get(at) ?? this.#seen(at, { type: TYPE_OF[kind] })
    if (seen === null || seen.call !== null) return INVALID
    return seen.type === TYPE_OF[kind] ? this.#add(seen, `${kind} ${part}`, text) : null
  }

  /** The text of a part is whole. */
  said(index: number | null | undefined, kind: SaidKind, part: number, text: string): Failure | null {
    const units = this.#items.get(index ?? this.#lastIndex)?.units.get(`${kind} ${part}`) ?? 0
    return text.length > units ? this.say(index, kind, part, text.slice(units)) : null
  }

  argued(index: number | null | undefined, text: string): Failure | null {
    const units = this.#items.get(index ?? this.#lastIndex)?.units.get('arguments') ?? 0
    return text.length > units ? this.argue(index, text.slice(units)) : null
  }

  /** An item is whole. */
  end(index: number | null | undefined, item: OutputItem): Failure | null {
    const at = index ?? this.#lastIndex
    const seen = this.#seen(at, item)
    if (seen === null) return INVALID
    if (seen.isDone) return null
    seen.isDone = true
    return this.#named(seen, item) ?? this.#rest(at, item) ?? this.#sign(item) ?? this.#close(seen)
  }

  /** The answer is whole: what has not come by itself is given. */
  endAll(items: readonly OutputItem[]): Failure | null {
    for (const [nth, item] of items.entries()) {
      const known = this.#indexes.get(item.id ?? '') ?? nth
      const type = this.#items.get(known)?.type ?? item.type
      // Lists that leave items out cannot be told apart from those.
      const failure = type === item.type ? this.end(known, item) : null
      if (failure !== null) return failure
    }
    return this.#queue.flush()
  }

  #seen(index: number, { type, id }: OutputItem): SeenItem | null {
    const known = this.#items.get(index)
    if (known !== undefined) return known.type === type ? known : null
    if (this.#items.size >= ITEMS_MAX) return null
    const call = type === 'function_call' ? this.#queue.begin() : null
    if ((id ?? '') !== '') this.#indexes.set(id ?? '', index)
    const made = { type, call, units: new Map<string, number>(), isDone: false }
    this.#items.set(index, made)
    return made
  }

  #named(
    { call, units }: SeenItem,
    { id, call_id: callId, name, arguments: json }: OutputItem,
  ): Failure | null {
    if (call === null) return null
    call.id ??= callId ?? id ?? null
    if ((name ?? '') !== '') call.name ??= name ?? null
    const more = (json ?? '').slice(units.get('arguments') ?? 0)
    units.set('arguments', (units.get('arguments') ?? 0) + more.length)
    return this.#queue.add(call, more)
  }

  #rest(index: number, { type, summary, content }: OutputItem): Failure | null {
    const isMessage = type === 'message'
    for (const [nth, { text }] of (isMessage ? [] : (summary ?? [])).entries()) {
      const failure = this.said(index, 'summary', nth, text ?? '')
      if (failure !== null) return failure
    }
    for (const [nth, part] of (content ?? []).entries()) {
      const failure = this.said(index, kindOf(part, isMessage), nth, part.text ?? part.refusal ?? '')
      if (failure !== null) return failure
    }
    return null
  }

  #sign({ type, encrypted_content: data }: OutputItem): Failure | null {
    if (type !== 'reasoning' || (data ?? '') === '') return null
    return this.#queue.say({
      kind: 'signature',
      choice: 0,
      ...signatureOf(data ?? '', { format: this.#format }),
    })
  }

  #close({ call }: SeenItem): Failure | null {
    if (call === null) return null
    call.isClosed = true
    return this.#queue.advance()
  }

  #add(seen: SeenItem, key: string, text: string): Failure | null {
    if (text === '') return null
    const before = seen.units.get(key)
    if (before === undefined && this.#parts++ >= ITEMS_MAX) return INVALID
    const isNext = before === undefined && seen.type === 'reasoning' && seen.units.size > 0
    seen.units.set(key, (before ?? 0) + text.length)
    if (seen.call !== null) return this.#queue.add(seen.call, text)
    const [kind] = key.split(' ')
    return this.#write(kind as SaidKind, isNext ? PARAGRAPH + text : text)
  }

  #write(kind: SaidKind, text: string): Failure | null {
    return this.#queue.say(
      kind === 'summary'
        ? { kind: 'reasoning', choice: 0, text, isSummary: true }
        : { kind, choice: 0, text },
    )
  }
}

/** Of the items in which the parts stand. */
const TYPE_OF: Readonly<Record<SaidKind, string>> = {
  text: 'message',
  refusal: 'message',
  summary: 'reasoning',
  reasoning: 'reasoning',
}

function kindOf({ type }: ItemPart, isMessage: boolean): SaidKind {
  if (!isMessage) return 'reasoning'
  return type === 'refusal' ? 'refusal' : 'text'
}
