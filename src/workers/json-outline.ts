import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../schemas/values/json-bytes.ts'
import { endOfText } from './json-syntax.ts'
import { KIB } from '../schemas/limits/limits.ts'

/**
 * Objects, lists and members above which a JSON body is read in a short job, however few bytes it has.
 * Decision.
 */
export const INLINE_JSON_VALUES_MAX = 8 * KIB

/** `deep`: beyond the maximum. `many`: more objects, lists and members than INLINE_JSON_VALUES_MAX, or more commas than `commasMax`. */
export type Outline = 'plain' | 'deep' | 'many'

/**
 * Counts brackets, colons and commas before the loop parses: a few bytes each could become thousands of objects. Does
 * not detect invalid JSON.
 */
export function outlineOf(
  bytes: Buffer,
  { commasMax, depthMax }: { readonly commasMax: number; readonly depthMax: number },
): Outline {
  const { length } = bytes
  let depth = 0
  let values = 0
  let commas = 0
  for (let at = 0; at < length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      const end = endOfText(bytes, at + 1)
      if (end < 0) return 'plain'
      at = end - 1
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (++depth > depthMax) return 'deep'
      values++
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
    else if (byte === COLON) values++
    else if (byte === COMMA) commas++
    if (values > INLINE_JSON_VALUES_MAX || commas > commasMax) return 'many'
  }
  return 'plain'
}
