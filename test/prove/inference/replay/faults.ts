/** What goes wrong in an answer, as data. None of it depends on a clock. */
import { refusesChat, wholeJson } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer, FakeCall } from '../../../support/inference/fake-provider.ts'
import { bodyOf, streams, type FakeEvent, type StreamPlan } from '../../../support/inference/fake-stream.ts'
import type { ProviderForm } from './forms.ts'

/** What a provider would answer if all went well. */
export interface Told {
  readonly form: ProviderForm
  readonly events: readonly FakeEvent[]
  whole(call: FakeCall): object
  /** From 0 to below 1: where in the answer something happens. */
  readonly at: number
}

type Make = (told: Told) => FakeAnswer

const JSON_TYPE = 'application/json'
const OF_HTML = '<!doctype html><title>Bad gateway</title><p>Not here.</p>'
const HALF_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/js'
/** Bytes of each piece of a body in pieces. */
const PIECE_BYTES = 7

/** Streamed where it is asked for. */
function either(streamed: Make, whole: Make): Make {
  return (told) => {
    const [asStream, asWhole] = [streamed(told), whole(told)]
    return (call, reply) => (told.form.isStreamed(call) ? asStream : asWhole)(call, reply)
  }
}

const plainly: Make = ({ whole }) => {
  return (call, reply) => wholeJson(200, JSON.stringify(whole(call)))(call, reply)
}
const streamed =
  (plan: StreamPlan = {}, changed: (told: Told) => readonly FakeEvent[] = ({ events }) => events): Make =>
  (told) =>
    streams(changed(told), plan)
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
    streams(events, { cutAt: placeIn(bodyOf(events).length, at), ending })

const cutWhole =
  (ending: 'fin' | 'rst'): Make =>
  ({ whole, at }) =>
  async (call, reply) => {
    const bytes = Buffer.from(JSON.stringify(whole(call)))
    await reply.head(200, { 'content-type': JSON_TYPE, 'content-length': String(bytes.length) })
    await reply.write(bytes.subarray(0, placeIn(bytes.length, at)))
    reply[ending]()
  }

const shortened: Make = ({ whole, at }) => {
  return (call, reply) => {
    const json = JSON.stringify(whole(call))
    return wholeJson(200, json.slice(0, placeIn(json.length, at)))(call, reply)
  }
}

/** @param framing how the pieces end */
const inPieces =
  (framing: 'chunked' | 'close'): Make =>
  ({ whole }) =>
  async (call, reply) => {
    const bytes = Buffer.from(JSON.stringify(whole(call)))
    const closing = framing === 'close' ? { connection: 'close' } : {}
    await reply.head(200, { 'content-type': JSON_TYPE, ...closing })
    for (let from = 0; from < bytes.length; from += PIECE_BYTES) {
      await reply.write(bytes.subarray(from, from + PIECE_BYTES))
      await new Promise((next) => setImmediate(next))
    }
    await reply.end()
    if (framing === 'close') reply.fin()
  }

/** Puts an event in at its place. */
const among =
  (event: (told: Told) => FakeEvent, isLast = false) =>
  (told: Told): readonly FakeEvent[] => {
    const place = placeIn(told.events.length, told.at)
    const behind = isLast ? [] : told.events.slice(place)
    return [...told.events.slice(0, place), event(told), ...behind]
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
  'many small pieces': either(streamed({ splitAt: 'every byte' }), inPieces('chunked')),
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

export const FAULTS: Readonly<Record<string, Make>> = { ...EITHER, ...STREAMED }

/** Names of the faults of a call. */
export function faultsOf(isStream: boolean): readonly string[] {
  return Object.keys(isStream ? FAULTS : EITHER)
}
