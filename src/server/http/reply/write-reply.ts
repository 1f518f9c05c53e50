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
 * Headers are written as one: the library writes values as text, so that a value can have further lines, and
 * each call of the library costs as much as a whole line.
 */
export function writeHead(res: WireResponse, { statusLine, headers }: Reply, isLast: boolean): void {
  // The library's own.
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

/** Names of headers whose beginning of a line is kept; the names of relayed headers are anybody's. */
const BEGINNINGS_MAX = 64
const BEGINNINGS = new Map<string, string>()

/** Each piece of a text that grows is an object: a line has two pieces instead of four. */
function lineBegin(name: string): string {
  const known = BEGINNINGS.get(name)
  if (known !== undefined) return known
  const begin = `\r\n${name}: `
  if (BEGINNINGS.size < BEGINNINGS_MAX) BEGINNINGS.set(name, begin)
  return begin
}

/**
 * Writes the head, the length and the first bytes of the body; the caller corks.
 * @param bytes of the whole body
 * @returns whether the answer ended; a last answer never does, since it stays open to be cut
 */
export function writeBegin(res: WireResponse, reply: Reply, bytes: number, isLast: boolean): boolean {
  writeHead(res, reply, isLast)
  const begin = isLast ? '' : beginOf(reply.body)
  return begin !== undefined && res.tryEnd(begin, bytes)[1]
}

/** Writes all of an answer that has no body, or omits it. @param isLast only for an empty body, not for an omitted one */
export function writeWithoutBody(res: WireResponse, reply: Reply, isLast: boolean): void {
  const { body } = reply
  res.cork(() => {
    writeHead(res, reply, false)
    if (isLast) return void res.end('', true)
    // The library's own length argument leaves the request open, so that the length is written as a header.
    if (body !== null) res.writeHeader('content-length', String(lengthOf(body)))
    res.endWithoutBody()
  })
}

/**
 * Writes a last answer of unknown length, which ends when its connection closes. The library cannot close
 * after an answer without a length; but it writes headers as text, so that an empty line in a header ends the
 * head.
 */
export function writeHeadAlone(res: WireResponse, reply: Reply): void {
  res.cork(() => {
    writeHead(res, reply, true)
    res.writeHeader('date', `${new Date().toUTCString()}\r\n`)
  })
}

/** The reply gives only the length of the body of a 304 or of an answer to HEAD. */
export function isBodiless({ status, body }: Reply, isHead: boolean): boolean {
  return isHead || status === NOT_MODIFIED || isEmpty(body)
}
