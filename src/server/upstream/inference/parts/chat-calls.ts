import type { Failure } from '../../../../schemas/failures.ts'
import { SIGNATURE_FORMATS } from '../../../../dialects/signatures.ts'
import { TOOLS_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { KnownCalls } from '../chat/known-calls.ts'
import { INVALID } from '../../../../dialects/native-events.ts'
import type { CallFragment } from './chat-event.ts'
import type { ChatPart } from './chat-said.ts'
import type { OpenCall } from './open-call.ts'
import type { PartQueue } from '../../../../dialects/part-queue.ts'
import { writtenJson } from '../../../../dialects/walk/written-json.ts'

type SignedPart = Extract<ChatPart, { id: string | null }>

/** The calls of a choice of chat, whose fragments come in any order. */
export class ChatCalls {
  readonly #queue: PartQueue
  readonly #known = new KnownCalls<OpenCall>()
  /** Signatures of calls that have not begun, by the ids of the calls. */
  readonly #early = new Map<string, SignedPart['part']>()
  #count = 0

  constructor(queue: PartQueue) {
    this.#queue = queue
  }

  add({ index, id, function: called }: CallFragment): Failure | null {
    const fragment = { index: index ?? null, id: id ?? '', name: called?.name ?? '' }
    const call = this.#known.of(fragment) ?? this.#begun()
    if (call === null) return INVALID
    const hadId = call.id !== null
    this.#known.remember(call, fragment)
    if (!hadId && call.id !== null) this.#signEarly(call, call.id)
    const json = called?.arguments ?? ''
    return this.#queue.add(call, typeof json === 'string' ? json : (writtenJson(json) ?? ''))
  }

  /**
   * A signature is that of the call whose id it has. Gemini's may come before its call.
   * @param next fragments that come with it
   */
  sign({ part, id }: SignedPart, next: readonly CallFragment[]): Failure | null {
    const call = id === null ? undefined : this.#known.withId(id)
    if (call !== undefined) return this.#queue.sign(call, part.signature)
    const isAwaited =
      part.signature.format === SIGNATURE_FORMATS.gemini || next.some((fragment) => fragment.id === id)
    if (id === null || !isAwaited) return this.#queue.say(part)
    const before = this.#early.get(id)
    if (before !== undefined) this.#queue.drop(before)
    this.#early.set(id, part)
    return this.#early.size > TOOLS_MAX ? INVALID : this.#queue.keep(part)
  }

  /** No fragment follows. */
  end(): Failure | null {
    for (const part of this.#early.values()) {
      this.#queue.drop(part)
      const failure = this.#queue.say(part)
      if (failure !== null) return failure
    }
    return this.#queue.flush()
  }

  /** Null: too many calls. */
  #begun(): OpenCall | null {
    return this.#count < TOOLS_MAX ? this.#queue.begin(this.#count++) : null
  }

  /** What was kept for the call is its own from now on, with the same weight. */
  #signEarly(call: OpenCall, id: string): void {
    call.signature = this.#early.get(id)?.signature ?? null
    this.#early.delete(id)
  }
}
