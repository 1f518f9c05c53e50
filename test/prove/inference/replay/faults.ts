/** What goes wrong in an answer, as data. None of it depends on a clock. */
import { refusesChat, wholeJson } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import { bodyOf, streams, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'
import type { ProviderForm } from './forms.ts'

/** What a provider would answer if all went well. */
export interface Answer {
  readonly form: ProviderForm
  readonly events: readonly FakeEvent[]
  whole(call: FakeCall): object
  /** From 0 to below 1: where in the answer something happens. */
  readonly at: number
}

export type Make = (reported: Answer) => FakeAnswer

const JSON_TYPE = 'application/json'
const OF_HTML = '<!doctype html><title>Bad gateway</title><p>Not here.</p>'
const HALF_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/js'
/** Bytes of each piece of a body in pieces, unless these would be too many. */
const PIECE_BYTES = 7
const PIECES_MAX = 2_000
/** A reset drops what the other side has no room for: bytes that it has for sure. */
const CUT_MAX_BYTES = 32_000

/** Streamed where it is asked for. */
function either(streamed: Make, whole: Make): Make {
  return (reported) => {
    const [asStream, asWhole] = [streamed(reported), whole(reported)]
    return (call, reply) => (reported.form.isStreamed(call) ? asStream : asWhole)(call, reply)
  }
}

const plainly: Make = ({ whole }) => {
  return (call, reply) => wholeJson(200, JSON.stringify(whole(call)))(call, reply)
}
const streamed =
  (
    plan: StreamPlan = {},
    changed: (reported: Answer) => readonly FakeEvent[] = ({ events }) => events,
  ): Make =>
  (shown) =>
    streams(changed(shown), plan)
const honest = either(streamed(), plainly)

const sends =
  (status: number, body: string, type = JSON_TYPE): Make =>
  () =>
    wholeJson(status, body, { 'content-type': type })

const refuses =
  (status: number, headers: Readonly<Record<string, string>> = {}): Make =>
  ({ form }) =>
    form.refuses(status, headers)

/** Every attempt ends before its answer, or within the head of it. */
const hangsUp =
  (how: 'fin' | 'rst', head = ''): Make =>
  () =>
  async (_call, reply) => {
    await reply.raw(head)
    reply[how]()
  }

/** A place in a text, and never its begin or its end. */
function placeIn(length: number, at: number): number {
  return Math.max(1, Math.min(length - 1, Math.floor(length * at)))
}

const cut =
  (ending: 'fin' | 'rst' | 'whole'): Make =>
  ({ events, at }) =>
    streams(events, { cutAt: placeIn(Math.min(bodyOf(events).length, CUT_MAX_BYTES), at), ending })

const cutWhole =
  (ending: 'fin' | 'rst'): Make =>
  ({ whole, at }) =>
  async (call, reply) => {
    const bytes = Buffer.from(JSON.stringify(whole(call)))
    await reply.head(200, { 'content-type': JSON_TYPE, 'content-length': String(bytes.length) })
    await reply.write(bytes.subarray(0, placeIn(Math.min(bytes.length, CUT_MAX_BYTES), at)))
    reply[ending]()
  }

const shortened: Make = ({ whole, at }) => {
  return (call, reply) => {
    const json = JSON.stringify(whole(call))
    return wholeJson(200, json.slice(0, placeIn(json.length, at)))(call, reply)
  }
}

function pieceBytes(length: number, usual: number): number {
  return Math.max(usual, Math.ceil(length / PIECES_MAX))
}

/** Events in pieces of one byte where they are short. */
const inBytes: Make = ({ events }) => {
  const { length } = bodyOf(events)
  const size = pieceBytes(length, 1)
  return streams(events, {
    splitAt: Array.from({ length: Math.ceil(length / size) }, (_, nth) => nth * size),
  })
}

/** @param framing how the pieces end */
const inPieces =
  (framing: 'chunked' | 'close'): Make =>
  ({ whole }) =>
  async (call, reply) => {
    const bytes = Buffer.from(JSON.stringify(whole(call)))
    const closing = framing === 'close' ? { connection: 'close' } : {}
    await reply.head(200, { 'content-type': JSON_TYPE, ...closing })
    const size = pieceBytes(bytes.length, PIECE_BYTES)
    for (let from = 0; from < bytes.length; from += size) {
      await reply.write(bytes.subarray(from, from + size))
      await new Promise((next) => setImmediate(next))
    }
    await reply.end()
    if (framing === 'close') reply.fin()
  }

/** Removes the reported tokens. */
function withoutUsage(json: string): string {
  const isUsage = (name: string): boolean => name === 'usage' || name === 'usageMetadata'
  return JSON.stringify(JSON.parse(json), (name, value: unknown) => (isUsage(name) ? undefined : value))
}

const withoutUsages = ({ events }: Answer): readonly FakeEvent[] =>
  events.map((event) => (event.data.startsWith('{') ? { ...event, data: withoutUsage(event.data) } : event))

const wholeWithoutUsages: Make = ({ whole }) => {
  return (call, reply) => wholeJson(200, withoutUsage(JSON.stringify(whole(call))))(call, reply)
}

/** Puts an event in at its place. */
const among =
  (event: (reported: Answer) => FakeEvent, isLast = false) =>
  (shown: Answer): readonly FakeEvent[] => {
    const place = placeIn(shown.events.length, shown.at)
    const behind = isLast ? [] : shown.events.slice(place)
    return [...shown.events.slice(0, place), event(shown), ...behind]
  }

const UNKNOWN: FakeEvent = {
  event: 'other.event',
  data: '{"type":"other.event","object":"other","x":[1.0,"é"]}',
}

/** Statuses with which providers refuse. */
const REFUSED = [400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529]

export const NONE = 'none'

/** Of every answer, whether it is streamed or not. */
const EITHER: Readonly<Record<string, Make>> = {
  [NONE]: honest,
  ...Object.fromEntries(REFUSED.map((status) => [`refused with ${status}`, refuses(status)])),
  'refused with 429, and a time': refuses(429, { 'retry-after': '7', 'x-ratelimit-remaining': '0' }),
  'refused with 502 in HTML': sends(502, OF_HTML, 'text/html'),
  'refused with 400 and half an object': sends(400, '{"error":{"message":"Ref'),
  'refused with 503 and nothing': sends(503, ''),
  'refused in a form of another provider': () => refusesChat(400, '{"detail":[{"msg":"é","loc":["body"]}]}'),
  redirected: () => wholeJson(307, '', { location: 'http://127.0.0.1:1/elsewhere' }),
  'ended before the head by FIN': hangsUp('fin'),
  'ended before the head by RST': hangsUp('rst'),
  'ended within the head': hangsUp('fin', HALF_HEAD),
  'an empty answer': either(
    streamed({}, () => []),
    sends(200, ''),
  ),
  'HTML with 200': sends(200, OF_HTML, 'text/html'),
  'null with 200': sends(200, 'null'),
  'an error with 200': sends(200, '{"error":{"message":"Oh.","type":"server_error","code":500}}'),
  'invalid JSON': either(
    streamed(
      {},
      among(() => ({ data: '{"choices":[{"delta":' })),
    ),
    sends(200, '{"id":"x","choices":[{]}'),
  ),
  'a whole answer for a stream, or a stream for a whole answer': either(plainly, streamed()),
  'an end with the connection': either(streamed({ framing: 'close' }), inPieces('close')),
  'many small pieces': either(inBytes, inPieces('chunked')),
  'no usage': either(streamed({}, withoutUsages), wholeWithoutUsages),
  'cut by FIN': either(cut('fin'), cutWhole('fin')),
  'cut by RST': either(cut('rst'), cutWhole('rst')),
  'cut in order': either(cut('whole'), shortened),
}

/** Of streams alone. */
const STREAMED: Readonly<Record<string, Make>> = {
  'an error event': streamed(
    {},
    among(({ form }) => form.error, true),
  ),
  'an error event at once': streamed({}, ({ form }) => [form.error]),
  'an event of an unknown type': streamed(
    {},
    among(() => UNKNOWN),
  ),
  'an event without data': streamed(
    {},
    among(() => ({ event: 'ping', data: '' })),
  ),
  'comments, fields and CRLF': streamed({ lineEnd: '\r\n', comment: 'alive', fields: ['id: 1', 'retry: 9'] }),
  'CR, and a byte order mark': streamed({ lineEnd: '\r', hasMark: true }),
  'one write': streamed({ isMerged: true }),
  'no line behind the last event': streamed({ isTerminated: false }),
  'no last event': streamed({}, ({ events }) => events.slice(0, -1)),
  'an event twice': streamed(
    {},
    among(({ events, at }) => events[placeIn(events.length, at)] ?? UNKNOWN),
  ),
}

const FAULTS: Readonly<Record<string, Make>> = { ...EITHER, ...STREAMED }

/** Names of the faults of a call. */
export function faultsOf(isStream: boolean): readonly string[] {
  return Object.keys(isStream ? FAULTS : EITHER)
}

export function makeOf(fault: string): Make {
  const make = FAULTS[fault]
  if (make === undefined) throw new Error(`there is no fault ${fault}`)
  return make
}

/** Of those with an answer of which the caller gets something. */
const TOLD_TIMESOnce: Readonly<Record<string, number>> = {
  [NONE]: 9,
  'no usage': 3,
  'many small pieces': 3,
  'a whole answer for a stream, or a stream for a whole answer': 3,
  'an end with the connection': 2,
  'cut by FIN': 2,
  'CR, and a byte order mark': 2,
  'an error event': 2,
  'no last event': 2,
  'one write': 2,
  'comments, fields and CRLF': 2,
  'an event of an unknown type': 2,
}

/** How often a fault is in the table. */
export function timesOf(fault: string): number {
  return TOLD_TIMESOnce[fault] ?? 1
}
