import type { Failure } from '../../../../schemas/failures.ts'
import { SIGNATURE_FORMATS, type SignatureUse } from '../../../../dialects/signatures.ts'
import type { ContentBlock, MessageDelta } from './message-event.ts'
import type { OpenCall } from './open-call.ts'
import type { PartQueue } from '../../../../dialects/part-queue.ts'
import { writtenJson } from '../../../../dialects/walk/written-json.ts'

const format = SIGNATURE_FORMATS.messages

/** The block of a message that is open. Blocks of other types give no parts. */
export class OpenBlock {
  /** Null: the block calls no tool. */
  readonly call: OpenCall | null
  readonly #block: ContentBlock
  readonly #queue: PartQueue
  /** The client's library takes the last, too. */
  #signature: string
  #hasArguments = false

  constructor(block: ContentBlock, queue: PartQueue) {
    this.#block = block
    this.#queue = queue
    this.#signature = block.signature ?? ''
    this.call = block.type === 'tool_use' ? queue.begin() : null
  }

  /** Blocks mostly begin empty. */
  begin(): Failure | null {
    const { type, text, thinking, id, name } = this.#block
    if (this.call === null) return this.#say(type, type === 'text' ? text : thinking)
    this.call.id = id ?? null
    this.call.name = name ?? null
    return this.#queue.add(this.call, '')
  }

  add({ text, thinking, signature, partial_json: json }: MessageDelta): Failure | null {
    const { type } = this.#block
    if (type === 'thinking') this.#signature = signature ?? this.#signature
    if (this.call === null) return this.#say(type, type === 'text' ? text : thinking)
    this.#hasArguments ||= (json ?? '') !== ''
    return this.#queue.add(this.call, json ?? '')
  }

  end(): Failure | null {
    const { type, data } = this.#block
    if (this.call !== null) return this.#endCall(this.call)
    if (type === 'thinking') return this.#sign(this.#signature, 'reasoning')
    return type === 'redacted_thinking' ? this.#sign(data ?? '', 'redacted') : null
  }

  #endCall(call: OpenCall): Failure | null {
    const { input } = this.#block as ContentBlock & { readonly input?: unknown }
    // An empty object is the begin of arguments that follow in fragments.
    const failure = this.#hasArguments ? null : this.#queue.add(call, writtenJson(input) ?? '{}')
    call.isClosed = true
    return failure ?? this.#queue.advance()
  }

  #say(type: string, text: string | null | undefined): Failure | null {
    if ((text ?? '') === '' || (type !== 'text' && type !== 'thinking')) return null
    const kind = type === 'text' ? 'text' : 'reasoning'
    return this.#queue.say({ kind, choice: 0, text: text ?? '' })
  }

  /** In the provider's own format, whatever its bytes are: it gets those back. */
  #sign(data: string, of: SignatureUse): Failure | null {
    return data === ''
      ? null
      : this.#queue.say({ kind: 'signature', choice: 0, signature: { format, data }, of })
  }
}
