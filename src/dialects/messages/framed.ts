import type { Failure } from '../../schemas/failures.ts'
import { parseMarked } from '../../schemas/values/long-integers.ts'
import { isObject, membersOf, objectOf, type Members } from '../../schemas/values/members.ts'
import { INVALID, type GatheredAnswer } from '../native-events.ts'

type Made = Record<string, unknown>

/** The most blocks of a message; no model writes more. Decision. */
const BLOCKS_MAX = 10_000

/** A block that has begun; its fragments are joined. */
class OpenBlock {
  readonly #block: Made
  #input = ''

  constructor(block: Members) {
    this.#block = { ...block }
  }

  add({ type, text, thinking, signature, partial_json: json, citation }: Members): void {
    const block = this.#block
    if (type === 'citations_delta') {
      if (Array.isArray(block['citations'])) block['citations'].push(citation)
      else block['citations'] = [citation]
    }
    join(block, 'text', text)
    join(block, 'thinking', thinking)
    // Anthropic's client library also uses the last signature.
    if (typeof signature === 'string') block['signature'] = signature
    if (typeof json === 'string') this.#input += json
  }

  /** Null: its arguments are not valid JSON. */
  whole(): Members | null {
    if (this.#input === '') return this.#block
    try {
      return { ...this.#block, input: parseMarked(this.#input) }
    } catch {
      return null
    }
  }
}

export class GatheredMessage implements GatheredAnswer {
  isDone = false
  #message: Members | null = null
  readonly #blocks = new Map<number, OpenBlock>()
  #delta: Members = {}
  #usage: Members = {}

  take(event: Members, name: string): Failure | 'failed' | null {
    const { type: declaredType, message, index, content_block: block, delta, usage, error } = event
    const type = typeof declaredType === 'string' && declaredType !== '' ? declaredType : name
    if (type === 'error' || (error ?? null) !== null) return 'failed'
    switch (type) {
      case 'message_start':
        this.#message ??= membersOf(message)
        this.#tell(membersOf(message)['usage'])
        return null
      case 'content_block_start':
        if (!isObject(block) || this.#blocks.size === BLOCKS_MAX) return INVALID
        this.#blocks.set(typeof index === 'number' ? index : this.#blocks.size, new OpenBlock(block))
        return null
      case 'content_block_delta':
        return this.#add(index, membersOf(delta))
      case 'message_delta':
        this.#delta = { ...this.#delta, ...membersOf(delta) }
        this.#tell(usage)
        return null
      case 'message_stop':
        // An end before the message has begun belongs to another stream.
        if (this.#message === null && this.#blocks.size === 0) return INVALID
        this.isDone = true
        return null
      default:
        return null
    }
  }

  answer(): Members | null {
    if (!this.isDone) return null
    const content = [...this.#blocks.values()].map((block) => block.whole())
    const hasUsage = Object.keys(this.#usage).length > 0
    return {
      type: 'message',
      role: 'assistant',
      ...this.#message,
      ...this.#delta,
      // One unreadable block makes the whole message invalid.
      content: content.includes(null) ? null : content,
      ...(hasUsage && { usage: this.#usage }),
    }
  }

  #add(index: unknown, delta: Members): Failure | null {
    const block = typeof index === 'number' ? this.#blocks.get(index) : [...this.#blocks.values()].at(-1)
    if (block === undefined) return INVALID
    block.add(delta)
    return null
  }

  /** Later figures replace earlier ones; null is ignored. */
  #tell(usage: unknown): void {
    const figures = Object.entries(objectOf(usage) ?? {}).filter(([, figure]) => figure !== null)
    this.#usage = { ...this.#usage, ...(Object.fromEntries(figures) as Members) }
  }
}

function join(block: Made, name: string, text: unknown): void {
  if (typeof text === 'string') block[name] = (typeof block[name] === 'string' ? block[name] : '') + text
}
