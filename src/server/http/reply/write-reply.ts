import { statusLine as lineOf } from './reply.ts'
import { beginOf, isEmpty, lengthOf, type Reply } from './reply-body.ts'
import type { WireResponse } from './wire.ts'

const NOT_MODIFIED = 304
const OK_LINE = lineOf(200)

/*
 * These functions write a reply to the wire in one step; `PartsWriter`, `PullWriter` and `RelayWriter` write
 * in several. The response is lent for the call: the exchange decides whether and when it may be used.
 */

/**
 * Writes all headers in one call: each call of the library costs as much as a whole line, and since it writes
 * values as text, a value can contain further lines.
 */
export function writeHead(res: WireResponse, { statusLine, headers }: Reply, isLast: boolean): void {
  // The library writes this line by default.
  if (statusLine !== OK_LINE) res.writeStatus(statusLine)
  const [first, value = ''] = headers
  if (first === undefined) {
    if (isLast) res.writeHeader('connection', 'close')
    return
  }
  let lines = value
  for (let at = 2; at + 1 < headers.length; at += 2) lines += lineBegin(headers[at] ?? '') + headers[at + 1]
  res.writeHeader(first, isLast ? `${lines}\r\nconnection: close` : lines)
}

/** Names of headers for which the beginning of the line is cached; limited, since relayed headers may have any name. */
const BEGINNINGS_MAX = 64
const BEGINNINGS = new Map<string, string>()

/** The cached beginning of a header line. Each appended text allocates an object: a line then needs two instead of four. */
function lineBegin(name: string): string {
  const known = BEGINNINGS.get(name)
  if (known !== undefined) return known
  const begin = `\r\n${name}: `
  if (BEGINNINGS.size < BEGINNINGS_MAX) BEGINNINGS.set(name, begin)
  return begin
}

/**
 * Writes the head, the length and the first bytes of the body; the caller corks the socket.
 * @param bytes of the whole body
 * @returns whether the answer ended; a last answer never does: it stays open so that its connection can be cut
 */
export function writeBegin(res: WireResponse, reply: Reply, bytes: number, isLast: boolean): boolean {
  writeHead(res, reply, isLast)
  const begin = isLast ? '' : beginOf(reply.body)
  return begin !== undefined && res.tryEnd(begin, bytes)[1]
}

/** Writes an answer that has no body or omits it, completely. @param isLast only for an empty body, not for an omitted one */
export function writeWithoutBody(res: WireResponse, reply: Reply, isLast: boolean): void {
  const { body } = reply
  res.cork(() => {
    writeHead(res, reply, false)
    if (isLast) return void res.end('', true)
    // The library's length argument leaves the request open, so the length is written as a header.
    if (body !== null) res.writeHeader('content-length', String(lengthOf(body)))
    res.endWithoutBody()
  })
}

/**
 * Writes a last answer of unknown length, which ends when its connection closes. The library cannot close
 * after an answer without a length. But it writes headers as text, so an empty line in a header ends the head.
 */
export function writeHeadAlone(res: WireResponse, reply: Reply): void {
  res.cork(() => {
    writeHead(res, reply, true)
    res.writeHeader('date', `${new Date().toUTCString()}\r\n`)
  })
}

/** True if the reply states only the length of its body: a 304, or an answer to HEAD. */
export function isBodiless({ status, body }: Reply, isHead: boolean): boolean {
  return isHead || status === NOT_MODIFIED || isEmpty(body)
}
