import type { Failure } from '../schemas/failures.ts'
import type { ThinksIn } from '../schemas/models/text-models.ts'
import type { ReportedTiers, TokenUsage, WrittenPart, PartRead, PartStream } from './parts.ts'

/** A stream of parts that another one is read through. */
export abstract class PassedParts implements PartStream {
  readonly #stream: PartStream

  constructor(stream: PartStream) {
    this.#stream = stream
  }

  read(bytes: Uint8Array): PartRead {
    return this.#passed(this.#stream.read(bytes))
  }

  /** What becomes of the parts that were read. */
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
