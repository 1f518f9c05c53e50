import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Success } from '../../operations/define.ts'
import type { ByteReader, Content } from '../../ports/byte-streams.ts'
import type { RequestHead } from '../call/head.ts'
import type { PulledBody } from './pull-writer.ts'
import type { Reply } from './reply-body.ts'
import { headersOf, statusLine, type ReplyFacts } from './reply.ts'

const WHOLE = 200
const PART = 206
const NOT_MODIFIED = 304
const NOTHING = new Uint8Array(0)

export type ContentSuccess = Extract<Success, { kind: 'content' }>

/**
 * The reply to a download: the whole content, a part of it, or a 304 when nothing has changed. RFC 9110 §13,
 * §14. The first piece is read before the reply begins, so that a failed read is still an error with a status.
 * The content is closed on every path, at the latest by the reply's `done`. Failures: range_unsatisfiable, and
 * those of reading.
 */
export async function replyOfContent(
  success: ContentSuccess,
  facts: ReplyFacts,
  head: Pick<RequestHead, 'method' | 'kept'>,
): Promise<Outcome<Reply>> {
  const { content } = success
  const isHead = head.method === 'head'
  const selection = select(conditionsOf(head), content, isHead)
  const headers = ['etag', `"${content.etag}"`, 'accept-ranges', 'bytes', 'cache-control', 'private']
  if (selection.kind === 'not_modified') {
    content.close()
    return ok({ ...statusOf(NOT_MODIFIED), headers: [...headers, ...headersOf(null, facts)], body: null })
  }
  if (selection.kind === 'unsatisfiable') {
    content.close()
    return fail('range_unsatisfiable', { fields: { size: content.sizeBytes } })
  }
  headers.push(...headersOf(success.contentType, facts))
  headers.push('content-disposition', attachment(success.filename), 'x-content-type-options', 'nosniff')
  const isPart = selection.kind === 'part'
  const from = isPart ? selection.from : 0
  const to = isPart ? selection.to : content.sizeBytes
  if (isPart) headers.push('content-range', `bytes ${from}-${to - 1}/${content.sizeBytes}`)
  const reply = { ...statusOf(isPart ? PART : WHOLE), headers }
  if (isHead || from === to) {
    content.close()
    return ok({ ...reply, body: { bytes: to - from, first: NOTHING, next: () => Promise.resolve(ok(null)) } })
  }
  const opened = await open(content, from, to)
  return opened.ok ? ok({ ...reply, body: opened.value, done: opened.value.close }) : opened
}

type OpenedBody = PulledBody & { readonly close: () => void }

async function open(content: Content, from: number, to: number): Promise<Outcome<OpenedBody>> {
  let reader: ByteReader | null = null
  const close = (): void => {
    reader?.close()
    content.close()
  }
  const first = await openFirst().catch((cause: unknown): Outcome<never> => fail('internal', { cause }))
  if (!first.ok) close()
  return first

  async function openFirst(): Promise<Outcome<OpenedBody>> {
    const opened = await content.read(from, to)
    if (!opened.ok) return opened
    reader = opened.value
    const piece = await reader.next()
    if (!piece.ok) return piece
    if (piece.value === null) return fail('content_damaged', { cause: new Error('the content is empty') })
    const { value } = opened
    const ready = (): Uint8Array | null => value.ready?.() ?? null
    return ok({ bytes: to - from, first: piece.value, next: () => value.next(), ready, close })
  }
}

function conditionsOf(head: Pick<RequestHead, 'kept'>): SelectionHeaders {
  const [range, ifRange, ifNoneMatch] = [
    head.kept('range'),
    head.kept('if-range'),
    head.kept('if-none-match'),
  ]
  return {
    ...(range !== undefined && { range }),
    ...(ifRange !== undefined && { 'if-range': ifRange }),
    ...(ifNoneMatch !== undefined && { 'if-none-match': ifNoneMatch }),
  }
}

function statusOf(status: number): { readonly status: number; readonly statusLine: string } {
  return { status, statusLine: statusLine(status) }
}

const NOT_PLAIN = /[^\x20-\x7e]|["\\%]/g
/** Characters that RFC 8187 requires to be encoded. */
const NOT_ATTRIBUTE = /[^A-Za-z0-9!#$&+.^_`|~-]/gu

/**
 * The value of `Content-Disposition` for a download. Source: RFC 6266, RFC 8187.
 * @param path the name of the file; its folders are dropped
 */
export function attachment(path: string): string {
  // Half of a surrogate pair cannot be encoded in UTF-8.
  const name = (path.split('/').at(-1) ?? '').toWellFormed()
  const plain = name.replace(NOT_PLAIN, '_')
  if (plain === name) return `attachment; filename="${name}"`
  return `attachment; filename="${plain}"; filename*=UTF-8''${name.replace(NOT_ATTRIBUTE, percented)}`
}

function percented(character: string): string {
  return [...Buffer.from(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`)
    .join('')
}

type Selection =
  | { readonly kind: 'whole' }
  /** Bytes from `from` up to `to`, exclusive. */
  | { readonly kind: 'part'; readonly from: number; readonly to: number }
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'unsatisfiable' }

interface SelectionHeaders {
  readonly range?: string
  readonly 'if-range'?: string
  readonly 'if-none-match'?: string
}

const RANGE = /^bytes=[ \t]*(\d*)-(\d*)[ \t]*$/i
/** Digits of an offset: enough for any file, and few enough for an exact number. */
const OFFSET_DIGITS_MAX = 15

/** @param etag a strong tag, without quotes @param isHead ranges apply only to GET */
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
  // A date in the condition never matches: contents have no exact modification date.
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
