import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Success } from '../../operations/define.ts'
import type { ByteReader, Content } from '../../ports/byte-streams.ts'
import { attachment } from './disposition.ts'
import type { RequestHead } from '../call/head.ts'
import type { PulledBody } from './pull-writer.ts'
import type { Reply } from './reply-body.ts'
import { headersOf, statusLine, type ReplyFacts } from './reply.ts'
import { select } from './selection.ts'

const WHOLE = 200
const PART = 206
const NOT_MODIFIED = 304
const NOTHING = new Uint8Array(0)

export type ContentSuccess = Extract<Success, { kind: 'content' }>

/**
 * The reply to a download: the whole content, a part, or only that nothing has changed. RFC 9110 §13, §14.
 * The first piece is read before the reply begins, so that a failed read is still an error with a status. The
 * content is closed on every path, at the latest by the reply's `done`. Failures: range_unsatisfiable, and
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

function conditionsOf(head: Pick<RequestHead, 'kept'>): Parameters<typeof select>[0] {
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
