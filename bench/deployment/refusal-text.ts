/** What an answer other than 200 says of itself. */
import { membersOf } from '../../src/schemas/values/members.ts'

const MESSAGE_CHARS_MAX = 200

/** A text of a server may repeat the key that it was given. */
export function withoutKey(text: string, key: string): string {
  return text.replaceAll(new RegExp(key.replaceAll(/[^\w]/g, '\\$&'), 'gi'), '…')
}

/** The message of a refusal in one line; null: it has none, as a page of a proxy. */
export function refusalText(body: string): string | null {
  try {
    const parsed = membersOf(JSON.parse(body))
    return messageOf('error' in parsed ? parsed['error'] : parsed)
  } catch {
    return null
  }
}

/** The message of an error envelope, or of its inner part; its code or type where it has none. */
export function messageOf(error: unknown): string | null {
  const { message, code, type } = membersOf(error)
  const found = [error, message, code, type].find((text) => typeof text === 'string' && text !== '')
  return typeof found === 'string' ? found.replace(/\s+/g, ' ').slice(0, MESSAGE_CHARS_MAX) : null
}
