/** The part of a content that a request gets. Source: RFC 9110 §13, §14. */
export type Selection =
  | { readonly kind: 'whole' }
  /** Bytes from `from` up to, but without, `to`. */
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'unsatisfiable' }

export interface SelectionHeaders {
  readonly range?: string
  readonly 'if-range'?: string
  readonly 'if-none-match'?: string
}

const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i
/** Digits of an offset: enough for any file, and few enough to be exact. */
const OFFSET_DIGITS_MAX = 15

/**
 * @param etag a strong tag, without quotes
 * @param isHead ranges apply to GET alone
 */
export function select(
  headers: SelectionHeaders,
  content: { readonly sizeBytes: number; readonly etag: string },
  isHead: boolean,
): Selection {
  const tag = `"${content.etag}"`
  const known = headers['if-none-match']
  if (known !== undefined && isAmong(known, tag)) return { kind: 'not_modified' }
  const { range } = headers
  const condition = headers['if-range']
  // A date as the condition matches nothing: contents have no exact modification date.
  if (isHead || range === undefined || (condition !== undefined && condition.trim() !== tag))
    return { kind: 'whole' }
  return partOf(range, content.sizeBytes)
}

/** A weak comparison, as this header requires. */
function isAmong(list: string, tag: string): boolean {
  if (list.trim() === '*') return true
  return list.split(',').some((item) => item.trim().replace(/^W\//, '') === tag)
}

/** A header that is not a single range of bytes is ignored, as RFC 9110 §14.2 allows. */
function partOf(range: string, sizeBytes: number): Selection {
  const [, first = '', last = ''] = RANGE.exec(range) ?? []
  if (first === '' && last === '') return { kind: 'whole' }
  const [start, end] = [offsetOf(first), offsetOf(last)]
  if (first === '') {
    if (end === 0 || sizeBytes === 0) return { kind: 'unsatisfiable' }
    return { kind: 'part', from: Math.max(0, sizeBytes - end), to: sizeBytes }
  }
  if (last !== '' && end < start) return { kind: 'whole' }
  if (start >= sizeBytes) return { kind: 'unsatisfiable' }
  return { kind: 'part', from: start, to: last === '' ? sizeBytes : Math.min(end + 1, sizeBytes) }
}

function offsetOf(digits: string): number {
  const significant = digits.replace(/^0+/, '')
  return significant.length > OFFSET_DIGITS_MAX ? Number.MAX_SAFE_INTEGER : Number(significant)
}
