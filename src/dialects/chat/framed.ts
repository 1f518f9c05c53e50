import type { Failure } from '../../schemas/failures.ts'
import { CHOICES_MAX, TOOLS_MAX } from '../../schemas/inference/inference-limits.ts'
import { isObject, membersOf, objectOf, type Members } from '../../schemas/values/members.ts'
import { INVALID, type GatheredAnswer } from '../native-events.ts'
import { writtenJson } from '../walk/written-json.ts'
import { KnownCalls, type NamedCall } from './tool-calls.ts'

type Made = Record<string, unknown>

/** Members of an answer whose value is that of the first event. */
const FIRST: ReadonlySet<string> = new Set(['id', 'created', 'model'])
/** Members of a delta whose fragments are joined to one text, and those whose items are joined to one list. */
const TEXTS: ReadonlySet<string> = new Set(['reasoning', 'reasoning_content', 'refusal'])
const LISTS: ReadonlySet<string> = new Set(['annotations', 'images'])

export class GatheredChat implements GatheredAnswer {
  readonly #top: Made = {}
  readonly #choices = new Map<number, GatheredChoice>()

  /** `[DONE]` is neither needed nor enough. */
  readonly isDone = false

  take(event: Members): Failure | 'failed' | null {
    const { error, object, choices, ...top } = event
    if (isObject(error) || object === 'error' || typeof error === 'string') return 'failed'
    keepLast(this.#top, top, FIRST)
    if (choices === null || choices === undefined) return null
    if (!Array.isArray(choices)) return INVALID
    for (const [nth, one] of (choices as readonly unknown[]).entries()) {
      const choice = objectOf(one)
      if (choice === null) return INVALID
      if (choice['finish_reason'] === 'error') return 'failed'
      const gathered = this.#choiceOf(indexOf(choice) ?? nth)
      if (gathered === null || !gathered.add(choice)) return INVALID
    }
    return null
  }

  answer(): Members | null {
    const choices = [...this.#choices.values()]
    if (choices.length === 0 || choices.some(({ isOver }) => !isOver)) return null
    return { ...this.#top, object: 'chat.completion', choices: choices.map((choice) => choice.whole()) }
  }

  /** Null: the index exceeds the number of choices that a call can request. */
  #choiceOf(index: number): GatheredChoice | null {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    if (this.#choices.size === CHOICES_MAX) return null
    const made = new GatheredChoice(index)
    this.#choices.set(index, made)
    return made
  }
}

class GatheredCall implements NamedCall {
  index: number | null = null
  id: string | null = null
  name: string | null = null
  readonly nth: number
  readonly members: Made = {}
  readonly called: Made = {}

  constructor(nth: number) {
    this.nth = nth
  }

  whole(): Members {
    return { ...this.members, function: { ...this.called, arguments: this.called['arguments'] ?? '' } }
  }
}

class GatheredChoice {
  readonly #choice: Made
  readonly #message: Made = { role: 'assistant', content: null }
  readonly #known = new KnownCalls<GatheredCall>()
  readonly #calls: GatheredCall[] = []
  readonly #details: Made[] = []
  readonly #sounds: Buffer[] = []

  constructor(index: number) {
    this.#choice = { index }
  }

  get isOver(): boolean {
    return (this.#choice['finish_reason'] ?? '') !== ''
  }

  /** @returns false: a member that Sluice reads has a wrong type */
  add({ delta, index: _, logprobs, ...choice }: Members): boolean {
    keepLast(this.#choice, choice)
    if (isObject(logprobs))
      for (const [name, list] of Object.entries(logprobs))
        addItems(madeIn(this.#choice, 'logprobs'), name, list)
    if (delta === null || delta === undefined) return true
    return isObject(delta) && Object.entries(delta).every(([name, value]) => this.#addMember(name, value))
  }

  whole(): Members {
    const message = { ...this.#message }
    if (this.#details.length > 0) message['reasoning_details'] = this.#details
    if (this.#calls.length > 0) message['tool_calls'] = this.#calls.map((call) => call.whole())
    if (this.#sounds.length > 0)
      message['audio'] = {
        ...membersOf(message['audio']),
        data: Buffer.concat(this.#sounds).toString('base64'),
      }
    return { ...this.#choice, message }
  }

  #addMember(name: string, value: unknown): boolean {
    if (value === null || value === undefined || name === 'role') return true
    const message = this.#message
    if (name === 'content') return this.#content(value)
    if (name === 'tool_calls') return itemsOf(value).every((call) => this.#called(call))
    if (name === 'function_call') return addCalled(madeIn(message, name), value)
    if (name === 'reasoning_details')
      return itemsOf(value).every((detail) => addDetail(this.#details, detail))
    if (name === 'audio') return this.#sound(value)
    if (TEXTS.has(name)) addText(message, name, value)
    else if (LISTS.has(name)) addItems(message, name, value)
    else message[name] = value
    return true
  }

  /** Each piece of a sound is encoded as base64 separately. */
  #sound(value: unknown): boolean {
    if (!isObject(value)) return false
    const { data, transcript, ...more } = value
    const audio = madeIn(this.#message, 'audio')
    if (typeof data === 'string') this.#sounds.push(Buffer.from(data, 'base64'))
    addText(audio, 'transcript', transcript)
    keepLast(audio, more)
    return true
  }

  /** A text, unless the provider writes parts. */
  #content(value: unknown): boolean {
    const message = this.#message
    const before = message['content']
    if (typeof value === 'string' && !Array.isArray(before)) {
      addText(message, 'content', value)
      return true
    }
    const parts: Made[] = Array.isArray(before) ? (before as Made[]) : []
    if (typeof before === 'string' && before !== '') addPart(parts, { type: 'text', text: before })
    message['content'] = parts
    for (const part of typeof value === 'string' ? [value] : itemsOf(value))
      addPart(parts, typeof part === 'string' ? { type: 'text', text: part } : membersOf(part))
    return true
  }

  #called(fragment: unknown): boolean {
    if (!isObject(fragment)) return true
    const { index: _, function: called, id, ...members } = fragment
    const { name } = membersOf(called)
    const named = { index: indexOf(fragment), id: textOf(id), name: textOf(name) }
    const call = this.#known.of(named) ?? this.#begun()
    if (call === null) return false
    this.#known.remember(call, named)
    if (call.id !== null) call.members['id'] = call.id
    keepLast(call.members, { type: 'function', ...members })
    return called === null || called === undefined || addCalled(call.called, called)
  }

  #begun(): GatheredCall | null {
    if (this.#calls.length === TOOLS_MAX) return null
    const call = new GatheredCall(this.#calls.length)
    this.#calls.push(call)
    return call
  }
}

/** Null: it has none. */
function indexOf({ index }: Members): number | null {
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : null
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function itemsOf(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : []
}

function madeIn(into: Made, name: string): Made {
  const made = objectOf(into[name]) ?? {}
  into[name] = made
  return made
}

/** Nulls are ignored. @param first members whose first value counts */
function keepLast(into: Made, members: Members, first?: ReadonlySet<string>): void {
  for (const [name, value] of Object.entries(members))
    if (value !== null && value !== '' && !(first?.has(name) === true && name in into)) into[name] = value
}

function addText(into: Made, name: string, value: unknown): void {
  if (typeof value === 'string') into[name] = textOf(into[name]) + value
}

/** Lists grow with each fragment; of other values, the last one counts. */
function addItems(into: Made, name: string, value: unknown): void {
  if (!Array.isArray(value)) return keepLast(into, { [name]: value })
  const list: unknown[] = Array.isArray(into[name]) ? into[name] : []
  for (const item of value as readonly unknown[]) list.push(item)
  into[name] = list
}

/** The function of a call: arguments come in fragments, or as one object. */
function addCalled(into: Made, called: unknown): boolean {
  if (!isObject(called)) return false
  const { name, arguments: json, ...more } = called
  keepLast(into, more)
  if (textOf(name) !== '') into['name'] ??= name
  if (json === null || json === undefined) return true
  addText(into, 'arguments', typeof json === 'string' ? json : (writtenJson(json) ?? JSON.stringify(json)))
  return true
}

/** Fragments of an entry have its index. */
function addDetail(details: Made[], value: unknown): boolean {
  if (!isObject(value)) return true
  const { index, type, text, summary, ...more } = value
  const last = details.findLast((detail) => detail['index'] === index && detail['type'] === type)
  const isNew = last === undefined || typeof index !== 'number'
  const detail: Made = isNew ? { type, ...(index !== undefined && { index }) } : last
  if (isNew) details.push(detail)
  addText(detail, 'text', text)
  addText(detail, 'summary', summary)
  keepLast(detail, more)
  return details.length <= DETAILS_MAX
}

/** The most reasoning entries of a choice, so that the search through them for each fragment stays short. Decision. */
const DETAILS_MAX = 1_024

/** Consecutive parts of the same kind become one part. */
function addPart(parts: Made[], part: Members): void {
  const { type = 'text', text, thinking } = part
  const last = parts.at(-1)
  const before = last !== undefined && last['type'] === type ? last : null
  if (type === 'text') {
    if (before === null) parts.push({ type, text: textOf(text) })
    else addText(before, 'text', text)
  } else if (type === 'thinking') {
    const thoughts = Array.isArray(thinking) ? (thinking as readonly unknown[]) : [thinking]
    const joined = thoughts
      .map((one) => textOf(typeof one === 'string' ? one : membersOf(one)['text']))
      .join('')
    if (before === null) parts.push({ type, thinking: joined })
    else addText(before, 'thinking', joined)
  } else parts.push({ ...part })
}
