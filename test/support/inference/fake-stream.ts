/** Streams of events as providers send them, well and badly. It knows no protocol. */
import type { FakeAnswer, FakeCall, FakeReply } from './fake-provider.ts'

/** One event before it becomes bytes. */
export interface FakeEvent {
  /** Lines of data; line feeds part them. */
  readonly data: string
  /** The event's name; absent: no `event:` line. */
  readonly event?: string
  /** Tokens that the provider generated for it. */
  readonly tokens?: number
}

/** How the body ends. `whole`: as HTTP says; `silent`: never, the connection stays. */
export type FakeEnding = 'whole' | 'fin' | 'rst' | 'silent'

export interface StreamPlan {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Between lines, and twice between events. */
  readonly lineEnd?: '\n' | '\r\n' | '\r'
  /** Begins the body with a byte order mark. */
  readonly hasMark?: boolean
  /** A comment before each event. */
  readonly comment?: string
  /** Lines of other fields, before the data of each event. */
  readonly fields?: readonly string[]
  /** False: the last event ends without the empty line after it. */
  readonly isTerminated?: boolean
  /** All events in one write. */
  readonly isMerged?: boolean
  /**
   * Places in the body, in bytes, at which it goes out in a write and a chunk of its own. Overrides
   * `isMerged`.
   */
  readonly splitAt?: readonly number[] | 'every byte'
  /** Bytes of the body before `ending`; absent: all of them. */
  readonly cutAt?: number
  readonly ending?: FakeEnding
  /** Every write waits for a step, the ending too. */
  readonly steps?: Steps
  /** `chunked` unless given; `close`: the body ends with its connection. */
  readonly framing?: 'chunked' | 'close' | { readonly contentLength: number }
  readonly trailers?: string
}

/** Lets a script go on, step by step. */
export class Steps {
  #allowed = 0
  readonly #waiting: (() => void)[] = []

  /** Lets so many writes go. */
  allow(count = 1): void {
    this.#allowed += count
    while (this.#allowed > 0) {
      const go = this.#waiting.shift()
      if (go === undefined) return
      this.#allowed--
      go()
    }
  }

  next(): Promise<void> {
    if (this.#allowed > 0) {
      this.#allowed--
      return Promise.resolve()
    }
    return new Promise((go) => this.#waiting.push(go))
  }
}

/** Streams events. @param eventsOf the events of a call, or the same for each */
export function streams(
  eventsOf: readonly FakeEvent[] | ((call: FakeCall) => readonly FakeEvent[]),
  plan: StreamPlan = {},
): FakeAnswer {
  return async (call, reply) => {
    const events = typeof eventsOf === 'function' ? eventsOf(call) : eventsOf
    await reply.head(plan.status ?? 200, headersOf(plan))
    for (const { bytes, ended } of writesOf(events, plan)) {
      await step(call, plan)
      if (call.isClosed) return
      reply.generated(
        ended.length,
        ended.reduce((sum, { tokens = 0 }) => sum + tokens, 0),
      )
      await reply.write(bytes)
      // A turn of the loop: the other side may read a write before the next one follows.
      await new Promise((next) => setImmediate(next))
    }
    await step(call, plan)
    await end(call, reply, plan)
  }
}

/** The body of a stream, as one text. */
export function bodyOf(events: readonly FakeEvent[], plan: StreamPlan = {}): Buffer {
  return Buffer.concat(textsOf(events, plan))
}

async function step(call: FakeCall, { steps }: StreamPlan): Promise<void> {
  if (steps !== undefined) await Promise.race([steps.next(), call.closed])
}

async function end(call: FakeCall, reply: FakeReply, plan: StreamPlan): Promise<void> {
  switch (plan.ending ?? 'whole') {
    case 'whole':
      await reply.end(plan.trailers)
      if (plan.framing === 'close') reply.fin()
      return
    case 'fin':
      return reply.fin()
    case 'rst':
      return reply.rst()
    case 'silent':
      return call.closed
  }
}

function headersOf({ headers = {}, framing = 'chunked' }: StreamPlan): Readonly<Record<string, string>> {
  const all = { 'content-type': 'text/event-stream; charset=utf-8', ...headers }
  if (framing === 'chunked') return all
  if (framing === 'close') return { ...all, connection: 'close' }
  return { ...all, 'content-length': String(framing.contentLength) }
}

interface Write {
  readonly bytes: Uint8Array
  /** Events whose last byte is in it. */
  readonly ended: readonly FakeEvent[]
}

function writesOf(events: readonly FakeEvent[], plan: StreamPlan): readonly Write[] {
  const texts = textsOf(events, plan)
  const all = Buffer.concat(texts)
  const body = all.subarray(0, plan.cutAt ?? all.length)
  const ends = texts.map((_, nth) => texts.slice(0, nth + 1).reduce((sum, { length }) => sum + length, 0))
  const places = placesOf(plan, ends, body.length)
  return places.map((from, nth) => {
    const to = places[nth + 1] ?? body.length
    return {
      bytes: body.subarray(from, to),
      ended: events.filter((_, at) => (ends[at] ?? 0) > from && (ends[at] ?? 0) <= to),
    }
  })
}

/** Where each write begins. */
function placesOf(plan: StreamPlan, ends: readonly number[], bytes: number): readonly number[] {
  const { splitAt, isMerged = false } = plan
  if (bytes === 0) return []
  if (splitAt === 'every byte') return Array.from({ length: bytes }, (_, at) => at)
  const inner = splitAt ?? (isMerged ? [] : ends)
  return [0, ...inner.filter((at) => at > 0 && at < bytes)]
}

/** The bytes of each event. */
function textsOf(events: readonly FakeEvent[], plan: StreamPlan): readonly Buffer[] {
  const { lineEnd = '\n', hasMark = false, comment, fields = [], isTerminated = true } = plan
  return events.map(({ data, event }, nth) => {
    const lines = [
      ...(comment === undefined ? [] : [`: ${comment}`, '']),
      ...(event === undefined ? [] : [`event: ${event}`]),
      ...fields,
      ...data.split('\n').map((line) => `data: ${line}`),
    ]
    const isLast = nth === events.length - 1
    const after = isLast && !isTerminated ? '' : lineEnd + lineEnd
    return Buffer.from((hasMark && nth === 0 ? '\uFEFF' : '') + lines.join(lineEnd) + after)
  })
}
