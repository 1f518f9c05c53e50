import { HASH_BEGIN, hashed } from '../conversation.ts'

/** What a provider takes as the id of a call. */
export interface CallIdRule {
  readonly fits: RegExp
  /** Characters of an id that stands for another one. */
  readonly length: number
}

/** Messages: letters, digits, `_` and `-`. */
export const MESSAGES_CALL_ID: CallIdRule = { fits: /^[\w-]+$/, length: 9 }
/** OpenAI takes 40 characters in chat, and 64 in responses. */
export const CHAT_CALL_ID: CallIdRule = { fits: /^[^]{1,40}$/, length: 9 }
export const RESPONSES_CALL_ID: CallIdRule = { fits: /^[^]{1,64}$/, length: 9 }
/** Mistral takes nine letters and digits. */
export const STRICT_CALL_ID: CallIdRule = { fits: /^[A-Za-z0-9]{9}$/, length: 9 }

const BASE = 36
const SECOND = 'second'

/** The id itself where it fits, else the same other one wherever it stands. */
export function fittingId(id: string, { fits, length }: CallIdRule): string {
  if (fits.test(id)) return id
  const one = hashed(HASH_BEGIN, id) >>> 0
  const other = hashed(hashed(HASH_BEGIN, SECOND), id) >>> 0
  return (one.toString(BASE).padStart(7, '0') + other.toString(BASE).padStart(7, '0')).slice(-length)
}
