import type { Failure } from '../../../../schemas/failures.ts'
import { SIGNATURE_FORMATS } from '../../../../schemas/inference/forms/carried-signatures.ts'
import { TOOLS_MAX } from '../../../../schemas/inference/inference-limits.ts'
import { INVALID } from '../native-events.ts'
import type { CallFragment } from './chat-event.ts'
import type { ChatPart } from './chat-said.ts'
import type { OpenCall } from './open-call.ts'
import type { PartQueue } from './part-queue.ts'
import { writtenJson } from './written-json.ts'

type SignedPart = Extract<ChatPart, { id: string | null }>

/** The calls of a choice of chat, whose fragments name them by index, by id, or not at all. */
export class ChatCalls {
  readonly #queue: PartQueue
  readonly #byIndex = new Map<number, OpenCall>()
  readonly #byId = new Map<string, OpenCall>()
  /** Signatures of calls that have not begun, by the ids of the calls. */
  readonly #early = new Map<string, SignedPart['part']>()
  #count = 0
  #last: OpenCall | null = null

  constructor(queue: PartQueue) {
    this.#queue = queue
  }

  add(fragment: CallFragment): Failure | null {
    const name = fragment.function?.name ?? ''
    const call = this.#known(fragment, name) ?? this.#begun()
    if (call === null) return INVALID
    this.#remember(call, fragment)
    if (name !== '') call.name ??= name
    const json = fragment.function?.arguments ?? ''
    return this.#queue.add(call, typeof json === 'string' ? json : (writtenJson(json) ?? ''))
  }

  /**
   * A signature is that of the call whose id it has. Gemini's may come before its call.
   * @param next fragments that come with it
   */
  sign({ part, id }: SignedPart, next: readonly CallFragment[]): Failure | null {
    const call = id === null ? undefined : this.#byId.get(id)
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

  /** Null: the fragment begins a call. */
  #known({ index, id }: CallFragment, name: string): OpenCall | null {
    const hasId = (id ?? '') !== ''
    const named = this.#byId.get(id ?? '')
    if (named !== undefined) return named
    const isIndexed = typeof index === 'number'
    const at = isIndexed ? (this.#byIndex.get(index) ?? null) : this.#last
    if (at === null) return null
    // Some servers give each of several calls the same index, or none, but a name and mostly an id of its own.
    const isOther = name !== '' && at.name !== null && (hasId ? at.id !== null : !isIndexed)
    return isOther || (hasId && at.id !== null && !isIndexed) ? null : at
  }

  /** Null: too many calls. */
  #begun(): OpenCall | null {
    return this.#count < TOOLS_MAX ? this.#queue.begin(this.#count++) : null
  }

  #remember(call: OpenCall, { index, id }: CallFragment): void {
    this.#last = call
    if (typeof index === 'number') this.#byIndex.set(index, call)
    // Fragments that follow may have the index that the first one lacks.
    else if (!this.#byIndex.has(call.nth)) this.#byIndex.set(call.nth, call)
    if (typeof id !== 'string' || id === '' || call.id !== null) return
    call.id = id
    this.#byId.set(id, call)
    // Kept for the call from now on, with the same weight.
    call.signature = this.#early.get(id)?.signature ?? null
    this.#early.delete(id)
  }
}
