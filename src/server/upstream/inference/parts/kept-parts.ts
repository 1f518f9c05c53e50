import type { Failure } from '../../../../schemas/failures.ts'
import { RESPONSE_ITEM_BYTES, RESPONSE_KEPT_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import type { TokenUsage, WrittenPart } from '../../../ports/inference/inference.ts'
import type { PartRead, PartStream } from '../protocol.ts'

const TOO_LARGE: Failure = { name: 'upstream_too_large', fields: { limit: RESPONSE_KEPT_BYTES_MAX } }
/** What begins no item. */
const WITHIN: readonly WrittenPart['kind'][] = ['arguments', 'finish']

/**
 * A stream of parts for a caller whose last event repeats the whole answer, which stays in memory until then:
 * the stream fails at the first part beyond the maximum. D12, D21.
 */
export class KeptParts implements PartStream {
  readonly #stream: PartStream
  #keptBytes = 0
  #lastKind: WrittenPart['kind'] | null = null
  /** Of text that was read, and is not passed on. */
  #cutBytes = 0
  #failure: Failure | null = null

  constructor(stream: PartStream) {
    this.#stream = stream
  }

  read(bytes: Uint8Array): PartRead {
    if (this.#failure !== null) return { parts: [], failure: this.#failure }
    const { parts, failure } = this.#stream.read(bytes)
    const kept = this.#kept(parts)
    return { parts: kept, failure: this.#failure ?? failure }
  }

  end(): Failure | null {
    return this.#failure ?? this.#stream.end()
  }

  get heldBytes(): number {
    return this.#stream.heldBytes
  }

  get hasOutput(): boolean {
    return this.#stream.hasOutput
  }

  get isDone(): boolean {
    return this.#stream.isDone
  }

  get usage(): TokenUsage | null {
    return this.#stream.usage
  }

  get outputBytes(): number {
    return this.#stream.outputBytes - this.#cutBytes
  }

  get finishReason(): string | null {
    return this.#failure === null ? this.#stream.finishReason : null
  }

  get upstreamId(): string | null {
    return this.#stream.upstreamId
  }

  /** The word for the end, which keeps nothing. */
  get finalParts(): readonly WrittenPart[] {
    return this.#stream.finalParts ?? []
  }

  /** The parts before the one that is too much. */
  #kept(parts: readonly WrittenPart[]): readonly WrittenPart[] {
    const over = parts.findIndex((part) => this.#isOver(part))
    if (over < 0) return parts
    this.#failure = TOO_LARGE
    for (const part of parts.slice(over)) this.#cutBytes += textBytes(part)
    return parts.slice(0, over)
  }

  #isOver(part: WrittenPart): boolean {
    const { kind } = part
    const begins = kind === 'tool' || (!WITHIN.includes(kind) && kind !== this.#lastKind)
    this.#lastKind = kind
    this.#keptBytes += keptBytes(part) + (begins ? RESPONSE_ITEM_BYTES : 0)
    return this.#keptBytes > RESPONSE_KEPT_BYTES_MAX
  }
}

function textBytes(part: WrittenPart): number {
  return 'text' in part ? Buffer.byteLength(part.text) : 0
}

function keptBytes(part: WrittenPart): number {
  switch (part.kind) {
    case 'tool':
      return Buffer.byteLength(part.id) + Buffer.byteLength(part.name)
    case 'signature':
      return Buffer.byteLength(part.signature.data)
    default:
      return textBytes(part)
  }
}
