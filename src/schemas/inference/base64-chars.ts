/** Characters in which the head of a `data:` URL ends. */
const DATA_HEAD_CHARS_MAX = 256
/** A file of another type may be text, whose bytes count as tokens. */
const BASE64_HEAD = /^data:(?:(?:image|audio|video)\/[^,;]+|application\/pdf)(?:;[^,;]*)*;base64,/i

/**
 * Characters of base64 in a medium's data: they are no tokens of a text. D25.
 * @param isBare base64 may stand there without the head of a `data:` URL
 */
export function base64Chars(data: string | null, isBare: boolean): number {
  if (data === null) return 0
  const head = BASE64_HEAD.exec(data.slice(0, DATA_HEAD_CHARS_MAX))
  if (head !== null) return data.length - head[0].length
  return isBare && !data.startsWith('data:') ? data.length : 0
}
