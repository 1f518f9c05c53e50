import { isUtf8 } from 'node:buffer'
import { endOfSpace, OPEN_OBJECT, WRONG, type Span } from '../../../../schemas/values/json-bytes.ts'
import { Output } from '../chat/delta-members.ts'
import { ODD, ObjectWalk } from '../chat/object-walk.ts'
import type { NativeHead, ReadAnswer } from '../protocol.ts'
import { writtenAnew } from '../written-anew.ts'
import { BlockMembers } from './block-members.ts'
import { MessageMembers } from './message-members.ts'
import { MessagesUsage } from './messages-usage.ts'
import { toldMembers } from './told-members.ts'

/**
 * A whole answer of a provider that speaks Anthropic's messages. An answer that the walk does not decide is
 * parsed and written anew. Null: no JSON object, an error, or no content. D14.
 */
export function readMessageAnswer(body: Buffer, head: NativeHead): ReadAnswer | null {
  const walk = new MessageWalk(head)
  const end = isUtf8(body) ? walk.over(body) : ODD
  if (end === WRONG) return null
  if (end === ODD) {
    const mended = writtenAnew(body, () => undefined)
    if (mended === null || walk.over(mended) < 0) return null
  }
  return walk.read
}

class MessageWalk {
  readonly #output = new Output()
  readonly #walk = new ObjectWalk()
  readonly #top: MessageMembers
  #bytes: Buffer = Buffer.alloc(0)
  #start = 0
  #end = 0

  constructor(head: NativeHead) {
    const blocks = new BlockMembers(this.#walk, this.#output)
    this.#top = new MessageMembers(this.#walk, { form: 'answer', head, blocks })
  }

  /** @returns a fault, or the end of the object */
  over(bytes: Buffer): number {
    this.#bytes = bytes
    this.#walk.begin(bytes)
    this.#output.clear()
    this.#start = endOfSpace(bytes, 0)
    if (bytes[this.#start] !== OPEN_OBJECT) return WRONG
    const end = this.#walk.object(this.#top, this.#start, 0, 1)
    if (end < 0) return end
    this.#end = end
    return endOfSpace(bytes, end) === bytes.length ? end : WRONG
  }

  /** Null: an error, or something else that is no message. */
  get read(): ReadAnswer | null {
    const { id, usage, stopReason, isMessage } = this.#top
    if (!isMessage) return null
    const counted = new MessagesUsage()
    const toldBytes = usage === null ? null : this.#bytes.subarray(usage.start, usage.end)
    const isTold = toldBytes?.[0] === OPEN_OBJECT && counted.told(toldBytes)
    const close = this.#end - 1
    return {
      usage: counted.tokens,
      outputBytes: this.#output.bytes,
      finishReason: this.#textOf(stopReason),
      upstreamId: this.#textOf(id),
      pieces: {
        // A message without a usage has the name of the member added before its closing brace.
        before: this.#pieces(this.#start, usage?.start ?? close),
        told: isTold && counted.isCredible(this.#output.isThere) ? toldMembers(toldBytes) : null,
        after: usage === null ? [this.#bytes.subarray(close, this.#end)] : this.#pieces(usage.end, this.#end),
      },
    }
  }

  #textOf(span: Span | null): string | null {
    return span === null ? null : (JSON.parse(this.#bytes.toString('utf8', span.start, span.end)) as string)
  }

  #pieces(from: number, to: number): readonly Uint8Array[] {
    const pieces: Uint8Array[] = []
    this.#walk.splices.apply(from, to, {
      bytes: (start, end) => pieces.push(this.#bytes.subarray(start, end)),
      text: (text) => pieces.push(Buffer.from(text)),
    })
    return pieces
  }
}
