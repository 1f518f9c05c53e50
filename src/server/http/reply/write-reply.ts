import { beginOf, isEmpty, lengthOf, type Reply } from './reply-body.ts'
import type { WireResponse } from './wire.ts'

const NOT_MODIFIED = 304

/*
 * The ways in which a reply goes to the wire in one stroke; those that take their time are `PartsWriter`, `PullWriter`
 * and `RelayWriter`. The response is lent for the call: whether and when it may be written to is the exchange's matter.
 */

export function writeHead(res: WireResponse, { statusLine, headers }: Reply, isLast: boolean): void {
  res.writeStatus(statusLine)
  for (let i = 0; i + 1 < headers.length; i += 2) res.writeHeader(headers[i] ?? '', headers[i + 1] ?? '')
  if (isLast) res.writeHeader('connection', 'close')
}

/**
 * Head, length, and what of the body is handed over at once; corked by the caller.
 * @param bytes of the whole body
 * @returns whether the answer ended; never that of a last one, which stays open to be cut
 */
export function writeBegin(res: WireResponse, reply: Reply, bytes: number, isLast: boolean): boolean {
  writeHead(res, reply, isLast)
  const begin = isLast ? '' : beginOf(reply.body)
  return begin !== undefined && res.tryEnd(begin, bytes)[1]
}

/**
 * All of an answer that has no body, or leaves it out. @param isLast only where the body is empty, not where
 * it is left out
 */
export function writeWithoutBody(res: WireResponse, reply: Reply, isLast: boolean): void {
  const { body } = reply
  res.cork(() => {
    writeHead(res, reply, false)
    if (isLast) return void res.end('', true)
    // The library's own length argument leaves the request open, so the length is a header like others.
    if (body !== null) res.writeHeader('content-length', String(lengthOf(body)))
    res.endWithoutBody()
  })
}

/**
 * A last answer of which nobody said how long its body is; it is over when its connection is closed. The
 * library cannot close behind one without naming a length; but it writes headers as text, so that an empty
 * line in one ends the head.
 */
export function writeHeadAlone(res: WireResponse, reply: Reply): void {
  res.cork(() => {
    writeHead(res, reply, true)
    res.writeHeader('date', `${new Date().toUTCString()}\r\n`)
  })
}

/** That of a 304 or to a HEAD request is only told about by its length. */
export function isBodiless({ status, body }: Reply, isHead: boolean): boolean {
  return isHead || status === NOT_MODIFIED || isEmpty(body)
}
