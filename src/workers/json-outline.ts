import { INLINE_JSON_VALUES_MAX } from '../schemas/limits/json-limits.ts'
import { JSON_DEPTH_MAX } from '../schemas/limits/limits.ts'
import { CLOSE_LIST, CLOSE_OBJECT, COLON, COMMA, OPEN_LIST, OPEN_OBJECT, QUOTE } from './json-bytes.ts'
import { endOfText } from './json-syntax.ts'

/**
 * `deep` beyond JSON_DEPTH_MAX, `many` objects, lists and members beyond INLINE_JSON_VALUES_MAX, or commas
 * beyond their own limit.
 */
export type Outline = 'plain' | 'deep' | 'many'

/**
 * Looks at brackets, colons and commas alone, before a body is parsed on the loop: what a few bytes each
 * would make thousands of objects. It says nothing of what is no JSON.
 */
export function outlineOf(bytes: Buffer, commasMax: number): Outline {
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
      if (++depth > JSON_DEPTH_MAX) return 'deep'
      values++
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth--
    else if (byte === COLON) values++
    else if (byte === COMMA) commas++
    if (values > INLINE_JSON_VALUES_MAX || commas > commasMax) return 'many'
  }
  return 'plain'
}
