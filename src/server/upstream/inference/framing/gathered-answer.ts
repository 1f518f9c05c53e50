import type { Failure } from '../../../../schemas/failures.ts'
import type { TextProtocol } from '../../../../schemas/models/text-models.ts'
import { endOfSpace } from '../../../../schemas/values/json-bytes.ts'
import { withoutMarks } from '../../../../schemas/values/long-integers.ts'
import { isObject, membersOf, objectOf, type Members } from '../../../../schemas/values/members.ts'
import { INVALID, isDoneMark, UNFINISHED } from '../../../../dialects/native-events.ts'
import { parsed } from '../../../../dialects/part-events.ts'
import { SseReader } from '../../../../dialects/sse-reader.ts'
import { encoded, type GatheredAnswer } from '../../../../dialects/frame.ts'
import { GatheredChat } from '../../../../dialects/chat/framed.ts'
import { GatheredMessage } from '../../../../dialects/messages/framed.ts'
import type { Reframed } from '../../../../dialects/parts.ts'

const GATHERED: Readonly<Record<TextProtocol, () => GatheredAnswer>> = {
  chat: () => new GatheredChat(),
  responses: () => new GatheredResponse(),
  messages: () => new GatheredMessage(),
  gemini: () => new GatheredGemini(),
}

/**
 * The whole answer that the events of a stream say, for a provider that streams although it was asked for a whole
 * answer: the reader of its whole answers reads it. D14.
 */
export function answerOfEvents(protocol: TextProtocol, events: Buffer): Reframed {
  const gathered = GATHERED[protocol]()
  const read = new SseReader().read(events)
  for (const { name, data } of read.events) {
    const start = endOfSpace(data, 0)
    if (start === data.length || isDoneMark(data, start)) continue
    const event = name === 'error' ? null : parsed(data)
    if (name !== 'error' && event === null) return { ok: false, failure: INVALID }
    const failure = event === null ? 'failed' : gathered.take(event, name)
    if (failure === 'failed') return { ok: false, failure: UNFINISHED, error: Uint8Array.from(data) }
    if (failure !== null) return { ok: false, failure }
    if (gathered.isDone) break
  }
  const answer = gathered.answer()
  if (answer === null) {
    const failure = read.failure ?? (read.events.length === 0 ? INVALID : UNFINISHED)
    return { ok: false, failure }
  }
  return { ok: true, bytes: encoded(withoutMarks(JSON.stringify(answer))) }
}

/** The last event has the whole response; small servers leave its items out. */
class GatheredResponse implements GatheredAnswer {
  readonly #items = new Map<number, Members>()
  #response: Members | null = null

  get isDone(): boolean {
    return this.#response !== null
  }

  take(event: Members, name: string): Failure | 'failed' | null {
    const { type: told, response, item, output_index: index, error } = event
    const type = typeof told === 'string' && told !== '' ? told : name
    if (type === 'error' || (isObject(error) && !type.startsWith('response.'))) return 'failed'
    if (type === 'response.output_item.done' && isObject(item))
      this.#items.set(typeof index === 'number' ? index : this.#items.size, item)
    const end = FINAL.get(type)
    if (end === undefined) return null
    if (!isObject(response)) return INVALID
    const { output } = response
    const hasItems = Array.isArray(output) && output.length > 0
    const items = [...this.#items].sort(([one], [other]) => one - other).map(([, made]) => made)
    this.#response = { status: end, ...response, ...(!hasItems && { output: items }) }
    return null
  }

  answer(): Members | null {
    return this.#response
  }
}

/** Those that end a stream, and the status of their response. */
const FINAL: ReadonlyMap<string, string> = new Map([
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
])

/** The parts of all chunks, and the last of every other member. */
class GatheredGemini implements GatheredAnswer {
  /** The end of the body is the end. */
  readonly isDone = false
  readonly #parts: unknown[] = []
  #answer: Members = {}
  #candidate: Members | null = null

  take(chunk: Members): Failure | 'failed' | null {
    const { candidates, error, ...more } = chunk
    if ((error ?? null) !== null) return 'failed'
    this.#answer = { ...this.#answer, ...more }
    if ((candidates ?? null) === null) return null
    if (!Array.isArray(candidates)) return INVALID
    const [first, ...others] = candidates as readonly unknown[]
    if (first === undefined) return null
    const candidate = objectOf(first)
    // One answer was asked for.
    if (candidate === null || others.length > 0) return INVALID
    const { content, ...facts } = candidate
    const { parts } = membersOf(content)
    if (Array.isArray(parts)) for (const part of parts as readonly unknown[]) this.#parts.push(part)
    this.#candidate = { ...this.#candidate, ...facts }
    return null
  }

  answer(): Members | null {
    const candidate = this.#candidate
    const isBlocked = isObject(this.#answer['promptFeedback'])
    if (candidate === null) return isBlocked ? this.#answer : null
    if ((candidate['finishReason'] ?? '') === '' && !isBlocked) return null
    const content = { role: 'model', parts: this.#parts }
    return { ...this.#answer, candidates: [{ ...candidate, content }] }
  }
}
