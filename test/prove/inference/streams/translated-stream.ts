/** A provider's stream in the caller's form, with the shape of a stream that is passed on natively. */
import type { Failure } from '../../../../src/schemas/failures.ts'
import type { Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { FAILURE_OF } from '../../../support/inference/provider-chunks.ts'
import { writerOf } from '../../../support/inference/written-answers.ts'
import type {
  FinalEvents,
  ShownUsage,
  TokenUsage,
  NativeRead,
  NativeStream,
  PartStream,
} from '../../../../src/dialects/parts.ts'
import type { TextEvents } from '../../../../src/dialects/answers.ts'
import { KeptParts } from '../../../../src/dialects/passed-parts.ts'
import { PART_PROTOCOLS } from '../../../../src/dialects/translate.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

/** The mark that the front writes after every whole stream of chat, and after a native one, too. */
const DONE = 'data: [DONE]\n\n'
/** The one figure of an answer that is the clock's. */
const COMPLETED_AT = /"completed_at":\d+/

export class TranslatedStream implements NativeStream {
  readonly #parts: PartStream
  readonly #events: TextEvents

  constructor(dialect: Dialect, protocol: TextProtocol) {
    const parts = PART_PROTOCOLS[protocol].stream(FAILURE_OF)
    this.#parts = dialect === 'responses' ? new KeptParts(parts) : parts
    this.#events = writerOf(dialect)
  }

  read(bytes: Uint8Array): NativeRead {
    const { parts, failure } = this.#parts.read(bytes)
    return { events: parts.length === 0 ? null : this.#events.eventsOf(parts), failure }
  }

  end(): Failure | null {
    return this.#parts.end()
  }

  get heldBytes(): number {
    return this.#parts.heldBytes
  }

  get hasOutput(): boolean {
    return this.#parts.hasOutput
  }

  get isDone(): boolean {
    return this.#parts.isDone
  }

  get awaitsUsage(): boolean {
    return this.#parts.awaitsUsage
  }

  get reported(): NativeStream['reported'] {
    return this.#parts.reported
  }

  get usage(): TokenUsage | null {
    return this.#parts.usage
  }

  get outputBytes(): number {
    return this.#parts.outputBytes
  }

  get finishReason(): string | null {
    return this.#parts.finishReason
  }

  get upstreamId(): string | null {
    return this.#parts.upstreamId
  }

  get finalEvents(): FinalEvents | null {
    return this.end() === null ? { withUsage: (usage) => this.#lastOf(usage) } : null
  }

  #lastOf(usage: ShownUsage): readonly Uint8Array[] {
    const parts = this.#events.eventsOf(this.#parts.finalParts ?? [])
    const last = Buffer.from(this.#events.lastOf(usage)).toString().replace(COMPLETED_AT, '"completed_at":0')
    return [parts, Buffer.from(last.endsWith(DONE) ? last.slice(0, -DONE.length) : last)]
  }
}
