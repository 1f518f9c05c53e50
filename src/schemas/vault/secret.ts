import { inspect } from 'node:util'

/** Text of every printed form of a secret. */
const REDACTED = '[secret]'

/**
 * Carries sensitive text (keys, passwords, URLs that contain them) so that no log line, JSON or stack shows
 * it by accident. Only `reveal()` returns the text, so every call of it needs a review.
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
