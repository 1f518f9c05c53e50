import type { Failure } from '../../schemas/failures.ts'
import { INVALID } from '../native-events.ts'
import type { PartQueue, OpenCall } from '../part-queue.ts'
import type { ItemPart, OutputItem } from './events.ts'

/** The most items of one answer, and the most parts in all its items. Decision. */
export const ITEMS_MAX = 4_096

/** The type of items that contain the answer. */
const MESSAGE = 'message'
/** The key of a call's only part. */
const ARGUMENTS = 'arguments'
/** Separator of two messages, and of two parts of a summary or of reasoning. */
const PARAGRAPH = '\n\n'

export type TextKind = 'text' | 'refusal' | 'summary' | 'reasoning'

interface SeenItem {
  readonly type: string
  readonly call: OpenCall | null
  /** Text passed on so far, by part. */
  readonly given: Map<string, GivenText>
  isDone: boolean
}

/**
 * The items of a response as they come: the same text occurs in fragments, in an event of its own, in its
 * item and in the last event, and small servers leave some of them out. Each text is passed on once. A stream
 * is damaged if its fragments differ from the start of the whole text, or come after it.
 */
export class ResponseItems {
  readonly #queue: PartQueue
  readonly #format: string
  readonly #items = new Map<number, SeenItem>()
  /** Indexes of items by id. */
  readonly #indexes = new Map<string, number>()
  #parts = 0
  /** Kinds of parts that messages have passed on so far: text, refusal. */
  readonly #givenKinds = new Set<string>()
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

  /** @param text the next fragment of the arguments; ignored for an unknown item */
  argue(index: number | null | undefined, text: string): Failure | null {
    const seen = this.#items.get(index ?? this.#lastIndex)
    if (seen === undefined || seen.call === null) return null
    return this.#add(seen, ARGUMENTS, text)
  }

  /** @param text the next fragment of a part */
  say(index: number | null | undefined, kind: TextKind, part: number, text: string): Failure | null {
    const key = `${kind} ${part}`
    return this.#within(index, kind, (seen) => {
      const isBehind = text !== '' && (seen.isDone || seen.given.get(key)?.isWhole === true)
      return isBehind ? INVALID : this.#add(seen, key, text)
    })
  }

  /** Completes a part with its whole text. */
  completeText(index: number | null | undefined, kind: TextKind, part: number, text: string): Failure | null {
    if (text === '') return null
    return this.#within(index, kind, (seen) => this.#completePart(seen, `${kind} ${part}`, text))
  }

  argued(index: number | null | undefined, text: string): Failure | null {
    const rest = restOf(this.#items.get(index ?? this.#lastIndex), ARGUMENTS, text)
    return rest === null ? INVALID : this.argue(index, rest)
  }

  /** Ends an item, given as a whole. */
  end(index: number | null | undefined, item: OutputItem): Failure | null {
    const at = index ?? this.#lastIndex
    const seen = this.#seen(at, item)
    if (seen === null) return INVALID
    if (seen.isDone) return null
    seen.isDone = true
    return this.#named(seen, item) ?? this.#rest(at, item) ?? this.#sign(item) ?? this.#close(seen)
  }

  /** The answer is complete: passes on everything that no earlier event contained. */
  endAll(items: readonly OutputItem[]): Failure | null {
    for (const [nth, item] of items.entries()) {
      const known = this.#indexes.get(item.id ?? '') ?? nth
      const type = this.#items.get(known)?.type ?? item.type
      // The list may leave items out, so another type at this index is not an error.
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
    const made = { type, call, given: new Map<string, GivenText>(), isDone: false }
    this.#items.set(index, made)
    return made
  }

  #named(seen: SeenItem, { id, call_id: callId, name, arguments: json }: OutputItem): Failure | null {
    const { call } = seen
    if (call === null) return null
    call.id ??= callId ?? id ?? null
    if ((name ?? '') !== '') call.name ??= name ?? null
    const rest = restOf(seen, ARGUMENTS, json ?? '')
    if (rest === null) return INVALID
    givenOf(seen, ARGUMENTS).add(rest)
    return this.#queue.add(call, rest)
  }

  #rest(index: number, { type, summary, content }: OutputItem): Failure | null {
    const isMessage = type === MESSAGE
    for (const [nth, { text }] of (isMessage ? [] : (summary ?? [])).entries()) {
      const failure = this.completeText(index, 'summary', nth, text ?? '')
      if (failure !== null) return failure
    }
    for (const [nth, part] of (content ?? []).entries()) {
      const failure = this.completeText(index, kindOf(part, isMessage), nth, part.text ?? part.refusal ?? '')
      if (failure !== null) return failure
    }
    return null
  }

  /** Keeps the signature in the provider's format, whatever its bytes are, since they are returned to that provider. */
  #sign({ type, encrypted_content: data }: OutputItem): Failure | null {
    if (type !== 'reasoning' || (data ?? '') === '') return null
    const signature = { format: this.#format, data: data ?? '' }
    return this.#queue.say({ kind: 'signature', choice: 0, signature, of: 'reasoning' })
  }

  #close({ call }: SeenItem): Failure | null {
    if (call === null) return null
    call.isClosed = true
    return this.#queue.advance()
  }

  /** Calls `each` with the item that contains the text. If no event has begun the item, the text begins it. */
  #within(
    index: number | null | undefined,
    kind: TextKind,
    each: (seen: SeenItem) => Failure | null,
  ): Failure | null {
    const at = index ?? this.#lastIndex
    const seen = this.#items.get(at) ?? this.#seen(at, { type: TYPE_OF[kind] })
    if (seen === null || seen.call !== null) return INVALID
    if (seen.type === TYPE_OF[kind]) return each(seen)
    // Items of other types may contain reasoning, which is skipped; answer text is valid only in messages.
    return TYPE_OF[kind] === MESSAGE ? INVALID : null
  }

  #completePart(seen: SeenItem, key: string, text: string): Failure | null {
    const rest = restOf(seen, key, text)
    const failure = rest === null ? INVALID : this.#add(seen, key, rest)
    const given = seen.given.get(key)
    if (given !== undefined) given.isWhole = true
    return failure
  }

  #add(seen: SeenItem, key: string, text: string): Failure | null {
    if (text === '') return null
    const isFirst = !seen.given.has(key)
    if (isFirst && this.#parts++ >= ITEMS_MAX) return INVALID
    const [kind = ''] = key.split(' ')
    const isNext = isFirst && this.#isNext(seen, kind)
    if (seen.type === MESSAGE) this.#givenKinds.add(kind)
    givenOf(seen, key).add(text)
    if (seen.call !== null) return this.#queue.add(seen.call, text)
    return this.#write(kind as TextKind, isNext ? PARAGRAPH + text : text)
  }

  /** Whether a text begins a new paragraph. The parts of one message are consecutive text, and callers receive all messages as one. */
  #isNext({ type, given }: SeenItem, kind: string): boolean {
    return type === MESSAGE
      ? given.size === 0 && this.#givenKinds.has(kind)
      : type === 'reasoning' && given.size > 0
  }

  #write(kind: TextKind, text: string): Failure | null {
    return this.#queue.say(
      kind === 'summary'
        ? { kind: 'reasoning', choice: 0, text, isSummary: true }
        : { kind, choice: 0, text },
    )
  }
}

function givenOf({ given }: SeenItem, key: string): GivenText {
  const known = given.get(key)
  if (known !== undefined) return known
  const made = new GivenText()
  given.set(key, made)
  return made
}

/**
 * The rest of a part. It is empty for a call whose arguments have ended, since some servers write them again.
 * @returns null: the whole text does not begin with the text passed on
 */
function restOf(seen: SeenItem | undefined, key: string, whole: string): string | null {
  if (seen?.call?.isOver === true) return ''
  const given = seen?.given.get(key)
  return given === undefined ? whole : given.restOf(whole)
}

/** Type of the items that contain each kind of text. */
const TYPE_OF: Readonly<Record<TextKind, string>> = {
  text: MESSAGE,
  refusal: MESSAGE,
  summary: 'reasoning',
  reasoning: 'reasoning',
}

function kindOf({ type }: ItemPart, isMessage: boolean): TextKind {
  if (!isMessage) return 'reasoning'
  return type === 'refusal' ? 'refusal' : 'text'
}

const DIGEST_BEGIN = 0x811c9dc5

const DIGEST_PRIME = 0x01000193

/** A text that was passed on in fragments; only its length and a digest (FNV-1a) are kept. */
export class GivenText {
  /** The provider has sent the whole text, so no fragment may follow. */
  isWhole = false
  /** UTF-16 units so far. */
  #units = 0
  #digest = DIGEST_BEGIN

  add(text: string): void {
    this.#digest = digestOf(text, text.length, this.#digest)
    this.#units += text.length
  }

  /**
   * The rest of the same text, sent whole. It is empty, without a comparison, for a text that is not longer
   * than its fragments: small servers leave texts out of some events. @returns null: the whole text does not
   * begin with the fragments
   */
  restOf(whole: string): string | null {
    if (whole.length <= this.#units) return ''
    return digestOf(whole, this.#units, DIGEST_BEGIN) === this.#digest ? whole.slice(this.#units) : null
  }
}

/** @param units of the text to include @param before digest of the preceding text */
function digestOf(text: string, units: number, before: number): number {
  let digest = before
  for (let at = 0; at < units; at++) digest = Math.imul(digest ^ text.charCodeAt(at), DIGEST_PRIME)
  return digest
}
