import type { EventStream } from '../../ports/event-stream.ts'
import type { Reply } from './reply-body.ts'
import { append, headersOf, statusLine, type ReplyFacts } from './reply.ts'

const OK = 200
const EVENTS_TYPE = 'text/event-stream'
/** Proxies neither store the events nor wait for more of them. D13. */
const UNBUFFERED = ['cache-control', 'no-cache, no-transform', 'x-accel-buffering', 'no'] as const

/** The head of a streamed reply. D13. */
export function replyOfEvents(headers: Readonly<Record<string, string>>, facts: ReplyFacts): Reply {
  const list = headersOf(EVENTS_TYPE, facts)
  list.push(...UNBUFFERED)
  append(list, headers)
  return { status: OK, statusLine: statusLine(OK), headers: list, body: null }
}

/** The stream of a client that left before its head: what is written goes nowhere. */
export const GONE: EventStream = {
  isOpen: false,
  hasRoom: true,
  room: () => Promise.resolve(),
  write: () => undefined,
  end: () => undefined,
  breakOff: () => undefined,
}
