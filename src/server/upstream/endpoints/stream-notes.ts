import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import { SseReader } from '../../../dialects/sse-reader.ts'

/** The member of an event that has the model; null: the event itself. */
const MODEL_IN: Readonly<Record<Dialect, string | null>> = {
  chat: null,
  responses: 'response',
  messages: 'message',
}

/** Facts that a native stream does not report: the provider's names of the model, and its error texts. */
export class StreamNotes {
  readonly #within: string | null
  readonly #reader = new SseReader()
  readonly #models = new Set<string>()
  /** Data of the last event: in a stream that failed, what the provider said. */
  lastData: Uint8Array = new Uint8Array()

  constructor(form: Dialect) {
    this.#within = MODEL_IN[form]
  }

  /** Each name once, in the order in which they came. */
  get models(): readonly string[] {
    return [...this.#models]
  }

  /** @param bytes the next of the provider's body */
  read(bytes: Uint8Array): void {
    for (const { data } of this.#reader.read(bytes).events) {
      this.lastData = Uint8Array.from(data)
      this.#note(data.toString())
    }
  }

  #note(data: string): void {
    try {
      const event = membersOf(JSON.parse(data))
      const { model } = this.#within === null ? event : membersOf(event[this.#within])
      if (typeof model === 'string' && model !== '') this.#models.add(model)
    } catch {
      // The mark `[DONE]`, or an event that fails the stream.
    }
  }
}
