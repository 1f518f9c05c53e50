import { markedNumber } from '../schemas/values/long-integers.ts'
import { isObject, type Members } from '../schemas/values/members.ts'
import { parsed } from './part-events.ts'
import { writtenJson } from './walk/written-json.ts'
import type { TextProtocol } from '../schemas/models/protocols.ts'

/** The most values of a large event that are passed to the loop, which takes about 20 ms. Decision. */
export const EVENT_VALUES_MAX = 65_536
/** Nesting levels of an event that are read; protocols use half as many. */
const LEVELS_MAX = 16

/** Members whose objects and lists are read. */
const READ: Readonly<Record<TextProtocol, ReadonlySet<string>>> = {
  chat: new Set([
    'choices',
    'delta',
    'content',
    'thinking',
    'reasoning_details',
    'tool_calls',
    'function',
    'function_call',
  ]),
  responses: new Set(['response', 'output', 'item', 'summary', 'content', 'incomplete_details']),
  messages: new Set(['message', 'content_block', 'delta']),
  gemini: new Set(['candidates', 'content', 'parts', 'functionCall', 'promptFeedback']),
}
/** Members that are read with all their contents. */
const WHOLE: ReadonlySet<string> = new Set(['error', 'usage', 'usageMetadata'])
/** The member with the arguments of a call as an object. */
const ARGUMENTS: Readonly<Record<TextProtocol, string | null>> = {
  chat: 'arguments',
  responses: null,
  messages: 'input',
  gemini: 'args',
}

/**
 * Parses an event on a worker thread and keeps only what the loop reads: arguments become bytes of JSON, and
 * unread objects and lists become empty. Null: not a JSON object, or too many values.
 */
export function largeEvent({ protocol, data }: LargeEvent): Members | null {
  const event = parsed(Buffer.from(data.buffer, data.byteOffset, data.length))
  if (event === null) return null
  try {
    return new ReadEvent(protocol).of(event)
  } catch {
    // Arguments are nested too deeply to be written, or there are too many values.
    return null
  }
}

interface LargeEvent {
  readonly protocol: TextProtocol
  readonly data: Uint8Array
}

class ReadEvent {
  readonly #read: ReadonlySet<string>
  readonly #arguments: string | null
  #values = 0

  constructor(protocol: TextProtocol) {
    this.#read = READ[protocol]
    this.#arguments = ARGUMENTS[protocol]
  }

  of(event: Members): Members {
    return this.#members(event, { isWhole: false, level: 1 })
  }

  #members(object: Members, at: Place): Members {
    return Object.fromEntries(
      Object.entries(object).map(([name, value]) => [name, this.#member(name, value, at)]),
    )
  }

  #member(name: string, value: unknown, { isWhole, level }: Place): unknown {
    if (name === this.#arguments && isObject(value)) return this.#written(value)
    const isAll = isWhole || WHOLE.has(name)
    const isRead = isAll || this.#read.has(name)
    return this.#value(value, { isWhole: isAll, level: isRead ? level + 1 : LEVELS_MAX })
  }

  #value(value: unknown, at: Place): unknown {
    if (++this.#values > EVENT_VALUES_MAX) throw new Error('the event has too many values')
    // The loop cannot read the number marks of this thread.
    if (typeof value !== 'object' || value === null) return markedNumber(value) ?? value
    const isRead = at.level < LEVELS_MAX
    if (!Array.isArray(value)) return isRead ? this.#members(value as Members, at) : {}
    const inside = { ...at, level: at.level + 1 }
    return isRead ? value.map((one) => this.#value(one, inside)) : []
  }

  #written(value: Members): Uint8Array {
    this.#values++
    return new TextEncoder().encode(writtenJson(value) ?? '')
  }
}

interface Place {
  /** Everything is read. */
  readonly isWhole: boolean
  readonly level: number
}
