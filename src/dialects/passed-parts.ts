import type { Failure } from '../schemas/failures.ts'
import type { ReportedTiers, TokenUsage, WrittenPart, PartRead, PartStream } from './parts.ts'
import { RESPONSE_KEPT_BYTES_MAX } from '../schemas/inference/stream-limits.ts'
import type { NamedOrigin } from './prompt/prompt.ts'
import { OriginalCalls } from './original-calls.ts'
import type { ThinksIn } from '../schemas/models/protocols.ts'

/** Bytes counted for each item of a stream translated to the Responses dialect, in addition to its text. Decision. */
export const RESPONSE_ITEM_BYTES = 256

/** Wraps a stream of parts and changes what it returns. */
export abstract class PassedParts implements PartStream {
  readonly #stream: PartStream

  constructor(stream: PartStream) {
    this.#stream = stream
  }

  read(bytes: Uint8Array): PartRead {
    return this.#passed(this.#stream.read(bytes))
  }

  /** Changes the parts that were read. */
  protected abstract pass(read: PartRead): PartRead

  #passed(read: PartRead): PartRead {
    const { rest } = read
    const passed = this.pass(read)
    if (rest === undefined || passed.failure !== null) return passed
    return { ...passed, rest: async () => this.#passed(await rest()) }
  }

  end(): Failure | null {
    return this.#stream.end()
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

  get awaitsUsage(): boolean {
    return this.#stream.awaitsUsage
  }

  get usage(): TokenUsage | null {
    return this.#stream.usage
  }

  get outputBytes(): number {
    return this.#stream.outputBytes
  }

  get finishReason(): string | null {
    return this.#stream.finishReason
  }

  get upstreamId(): string | null {
    return this.#stream.upstreamId
  }

  get reported(): ReportedTiers {
    return this.#stream.reported
  }

  get blocked(): string | undefined {
    return this.#stream.blocked
  }

  get thinksIn(): ThinksIn | null {
    return this.#stream.thinksIn ?? null
  }

  get finalParts(): readonly WrittenPart[] {
    return this.#stream.finalParts ?? []
  }
}

const TOO_LARGE: Failure = { name: 'upstream_too_large', fields: { limit: RESPONSE_KEPT_BYTES_MAX } }

/** Kinds of parts that begin no item. */
const WITHIN: readonly WrittenPart['kind'][] = ['arguments', 'finish']

/**
 * A stream of parts for a caller whose last event repeats the whole answer, which stays in memory until then:
 * the stream fails at the first part that exceeds the maximum.
 */
export class KeptParts extends PassedParts {
  #keptBytes = 0
  #lastKind: WrittenPart['kind'] | null = null
  /** Bytes of text that was read but is not passed on. */
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

  /** The parts before the one that exceeds the maximum. */
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

/** A stream whose calls are converted back to calls of the tools that the caller declared. */
export class OriginalParts extends PassedParts {
  readonly #calls: OriginalCalls

  constructor(stream: PartStream, origins: readonly NamedOrigin[]) {
    super(stream)
    this.#calls = new OriginalCalls(origins)
  }

  override get finalParts(): readonly WrittenPart[] {
    return this.#calls.of(super.finalParts)
  }

  protected override pass({ parts, failure }: PartRead): PartRead {
    return { parts: this.#calls.of(parts), failure }
  }
}
