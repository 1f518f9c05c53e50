/**
 * Names a text in UTF-16 or UTF-32 by its first bytes: by its mark, or by the zeros that Latin letters have at every
 * second place, or at three of four. Like the function below it is only for the refusal's text.
 * @param head the file's first bytes, one character for each byte
 */
export function nameWideEncoding(head: string): string | null {
  if (head.startsWith('\xff\xfe\0\0') || head.startsWith('\0\0\xfe\xff')) return 'UTF-32 text'
  const isMarked = head.startsWith('\xff\xfe') || head.startsWith('\xfe\xff')
  if (isMarked) return isMostly16(head) ? 'UTF-16 text' : null
  return head.length < WIDE_BYTES_MIN || CONTROLS.test(head) ? null : byZeros(head)
}

/** Names a text in a single-byte encoding, or a text with NUL bytes. Null: the bytes are not a text. */
export function nameNarrowEncoding(head: string, fault: 'nul' | 'invalid' | null): string | null {
  if (fault === null || CONTROLS.test(head)) return null
  return fault === 'nul'
    ? 'text with NUL bytes'
    : 'text that is not UTF-8 (Latin-1 or another older encoding)'
}

/** Control characters that texts do not contain; NUL is checked separately. */
const CONTROLS = /[\x01-\x07\x0e-\x1a\x1c-\x1f\x7f]/

/** A file may begin with these two bytes by chance, but a text in UTF-16 has no further control characters. */
function isMostly16(head: string): boolean {
  const isLittle = head.startsWith('\xff\xfe')
  let odd = 0
  for (let at = 2; at + 1 < head.length; at += 2) {
    const [first, second] = [head.charCodeAt(at), head.charCodeAt(at + 1)]
    const unit = isLittle ? first | (second << 8) : (first << 8) | second
    if (unit < 0x20 && unit !== 9 && unit !== 10 && unit !== 13) odd++
  }
  return odd * 50 <= head.length
}

/** Decides by the share of zeros at each of four alternating places. */
function byZeros(head: string): string | null {
  const [a = 0, b = 0, c = 0, d = 0] = [0, 1, 2, 3].map((place) => {
    let zeros = 0
    for (let at = place; at < head.length; at += 4) if (head[at] === '\0') zeros++
    return (4 * zeros) / head.length
  })
  if (b > MOST && c > MOST && (a > MOST ? d < FEW : d > MOST && a < FEW)) return 'UTF-32 text'
  if (b + d > 1 && a + c < FEW) return 'UTF-16 text'
  return a + c > 1 && b + d < FEW ? 'UTF-16 text' : null
}

const WIDE_BYTES_MIN = 8
const MOST = 0.9
const FEW = 0.1
