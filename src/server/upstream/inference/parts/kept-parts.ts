import type { Failure } from '../../../../schemas/failures.ts'
import { RESPONSE_ITEM_BYTES, RESPONSE_KEPT_BYTES_MAX } from '../../../../schemas/inference/stream-limits.ts'
import { PassedParts } from '../../../../dialects/passed-parts.ts'
import type { WrittenPart, PartRead } from '../../../../dialects/parts.ts'

const TOO_LARGE: Failure = { name: 'upstream_too_large', fields: { limit: RESPONSE_KEPT_BYTES_MAX } }
/** What begins no item. */
const WITHIN: readonly WrittenPart['kind'][] = ['arguments', 'finish']

/**
 * A stream of parts for a caller whose last event repeats the whole answer, which stays in memory until then:
 * the stream fails at the first part beyond the maximum. D12, D21.
 */
export class KeptParts extends PassedParts {
  #keptBytes = 0
  #lastKind: WrittenPart['kind'] | null = null
  /** Of text that was read, and is not passed on. */
  #cutBytes = 0
  #failure: Failure | null = null

  override read(bytes: Uint8Array): PartRead {
    return this.#failure === null ? super.read(bytes) : { parts: [], failure: this.#failure }
  }

  protected override pass({ parts, failure }: PartRead): PartRead {
    const kept = this.#kept(parts)
    return { parts: kept, failure: this.#failure ?? failure }
  }

  override end(): Failure | null {
    return this.#failure ?? super.end()
  }

  override get outputBytes(): number {
    return super.outputBytes - this.#cutBytes
  }

  override get finishReason(): string | null {
    return this.#failure === null ? super.finishReason : null
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
