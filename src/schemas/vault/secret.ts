import { inspect } from 'node:util'

/** What every printed form of a secret reads. */
const REDACTED = '[secret]'

/**
 * Carries sensitive text (keys, passwords, URLs that hold them) so that no log line, JSON or stack shows it
 * by accident. Only `reveal()` gives the text back, and every call of it is a place to review.
 */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  toString(): string {
    return REDACTED
  }

  toJSON(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
