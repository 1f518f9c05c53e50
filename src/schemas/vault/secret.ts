import { inspect } from 'node:util'
import { SECRET_NAME_CHARS_MAX } from './vault-limits.ts'

/** Text of every printed form of a secret. */
const REDACTED = '[secret]'

/**
 * Carries sensitive text (keys, passwords, URLs that contain them) so that no log line, JSON or stack shows
 * it by accident. Only `reveal()` returns the text, and every call of it is a place to review.
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

/** Lower-case letters, digits and single underscores; begins with a letter and does not end with an underscore. §4.4. */
export const SECRET_NAME_PATTERN = '^(?!.*__)[a-z]([a-z0-9_]*[a-z0-9])?$'
const SECRET_NAME = new RegExp(SECRET_NAME_PATTERN)

/** The expected form of a name, in words. */
export const SECRET_NAME_RULES =
  `1 to ${SECRET_NAME_CHARS_MAX} lower-case letters, digits and single underscores, ` +
  'beginning with a letter and ending with a letter or digit'

export function isSecretName(text: string): boolean {
  return text.length <= SECRET_NAME_CHARS_MAX && SECRET_NAME.test(text)
}
