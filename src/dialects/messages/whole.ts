import { OPEN_OBJECT } from '../../schemas/values/json-bytes.ts'
import { MessageMembers, BlockMembers, usageMembersOf } from './members.ts'
import { MessagesUsage } from './usage.ts'
import type { NativeHead, ReadAnswer } from '../parts.ts'
import { Output, WholeWalk } from '../walk/object-walk.ts'
import { writtenAnew } from '../walk/written-json.ts'

/** A whole answer of a provider that speaks Anthropic's messages. Null: not a JSON object, an error, or no content. */
export function readMessageAnswer(body: Buffer, head: NativeHead): ReadAnswer | null {
  const walk = new MessageWalk(head)
  return walk.run(body, true) ? walk.read : null
}

class MessageWalk extends WholeWalk {
  readonly #output = new Output()
  readonly #top: MessageMembers

  constructor(head: NativeHead) {
    super()
    const blocks = new BlockMembers(this.walk, this.#output)
    this.#top = new MessageMembers(this.walk, { form: 'answer', head, blocks })
  }

  /** Null: an error, or not a message. */
  get read(): ReadAnswer | null {
    const { id, usage, stopReason, isMessage } = this.#top
    if (!isMessage) return null
    const counted = new MessagesUsage()
    const usageJson = this.partOf(usage)
    const hasOutputCount = usageJson?.[0] === OPEN_OBJECT && counted.update(usageJson)
    const close = this.end - 1
    return {
      usage: counted.tokens,
      outputBytes: this.#output.bytes,
      finishReason: this.textOf(stopReason),
      upstreamId: this.textOf(id),
      reported: counted.reported,
      pieces: {
        // If the message has no usage, the name of the added member is written before the closing brace.
        before: this.walk.pieces(this.start, usage?.start ?? close),
        usageMembers:
          hasOutputCount && counted.isCredible(this.#output.isThere) ? usageMembersOf(usageJson) : null,
        after:
          usage === null ? [this.bytes.subarray(close, this.end)] : this.walk.pieces(usage.end, this.end),
      },
    }
  }

  protected override over(): number {
    this.#output.clear()
    return this.object(this.#top)
  }

  protected override anew(bytes: Buffer): Buffer | null {
    return writtenAnew(bytes, () => undefined)
  }
}
