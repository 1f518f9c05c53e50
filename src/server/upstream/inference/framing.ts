import { ok, type Outcome, fail } from '../../../schemas/failures.ts'
import { owned } from '../../../schemas/values/lent-bytes.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { ByteReader } from '../../ports/byte-streams.ts'
import type { AnswerRoom, EgressAnswer, EgressExchange } from '../../ports/egress/egress.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { movable } from '../movable.ts'
import { isTranslatedHere } from './translated/translation-job.ts'
import { reframe } from '../../../dialects/reframe.ts'
import type { Reframed } from '../../../dialects/parts.ts'
import { STREAM_HELD_BYTES_MAX } from '../../../schemas/inference/stream-limits.ts'
import {
  UPSTREAM_WRITTEN_BYTES_MAX,
  UPSTREAM_ERROR_BYTES_MAX,
  UPSTREAM_ERROR_MS,
} from '../../../schemas/models/provider-limits.ts'
import { Gathered } from '../../../dialects/sse-reader.ts'
import { frameOf, type Frame } from '../../../dialects/native-events.ts'
import type { TextProtocol } from '../../../schemas/models/protocols.ts'

/** Milliseconds after the last event of a stream by which its response must end. Decision. */
export const UPSTREAM_END_MS = 1_000

interface FramingDeps {
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
}

/** Converts the bodies of a provider to the requested form, whole or streamed; small ones on the loop. */
export class Framing {
  readonly #protocol: TextProtocol
  readonly #deps: FramingDeps

  constructor(protocol: TextProtocol, deps: FramingDeps) {
    this.#protocol = protocol
    this.#deps = deps
  }

  /** The whole answer that a stream of events contains. Failures: those of the pool of short jobs. */
  answer(
    events: Uint8Array,
    more: { readonly caller: Caller; readonly endsAt: number },
  ): Promise<Outcome<Reframed>> {
    return this.#made('answer', events, more)
  }

  /**
   * A body that was requested as a stream.
   * @param roomOf takes room from the front's budget, for a body that turns out to be a whole answer
   */
  stream(body: ByteReader, caller: Caller, roomOf: (caller: Caller) => AnswerRoom): ByteReader {
    return new FramedBody(body, {
      room: () => roomOf(caller),
      // The work continues after the caller has disconnected, since the answer may be charged.
      events: (json) => this.#made('events', json, { caller }),
    })
  }

  async #made(
    to: 'answer' | 'events',
    bytes: Uint8Array,
    more: { readonly caller: Caller; readonly endsAt?: number },
  ): Promise<Outcome<Reframed>> {
    const { jobs, loop } = this.#deps
    const protocol = this.#protocol
    if (isTranslatedHere(bytes))
      return ok(loop.booked(more.caller.organizationId, () => reframe({ protocol, to, bytes })))
    const moved = owned(bytes)
    return jobs.run('reframe', { protocol, to, bytes: moved }, { ...more, transfer: movable(moved) })
  }
}

interface FramedBodyInput {
  readonly room: () => AnswerRoom
  /** Makes the events of a stream from a whole answer. */
  readonly events: (json: Uint8Array) => Promise<Outcome<Reframed>>
}

/** The usual cause of both is a wrong `base_url`. */
const PAGE = 'The provider sent an HTML page instead of an event stream.'

const NO_ANSWER = 'The provider sent JSON without an answer instead of an event stream.'

type Read = Outcome<Uint8Array | null>

/**
 * The body of a response that was requested as a stream. Events pass unchanged as they arrive; a whole answer is read
 * to its end, within the bounds of whole answers, and then returned as events. Failures, besides those of the body:
 * upstream_invalid, upstream_too_large, busy.
 */
export class FramedBody implements ByteReader {
  readonly #body: ByteReader
  readonly #input: FramedBodyInput
  #frame: Frame | null = null
  #isOver = false
  /** The bytes read before the form of the body, or its end, was known. */
  readonly #gathered = new Gathered()
  #room: AnswerRoom | null = null

  constructor(body: ByteReader, input: FramedBodyInput) {
    this.#body = body
    this.#input = input
  }

  /** Creates no promise of its own after the first bytes: a stream calls this thousands of times. */
  next(): Promise<Read> {
    return this.#frame === 'events' ? this.#body.next() : this.#begin()
  }

  close(): void {
    this.#room?.give()
    this.#body.close()
  }

  async #begin(): Promise<Read> {
    while (!this.#isOver) {
      const read = await this.#body.next()
      if (!read.ok) return read
      if (read.value === null) return this.#end()
      const taken = await this.#take(read.value)
      if (taken !== null) return taken
    }
    return ok(null)
  }

  /** @returns null when the body has to be read further */
  async #take(piece: Uint8Array): Promise<Read | null> {
    const gathered = this.#gathered
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    // Nearly all streams begin with an event, and then no copy is made.
    if (gathered.length === 0 && frameOf(bytes) === 'events') {
      this.#frame = 'events'
      return ok(piece)
    }
    gathered.add(bytes, 0, bytes.length)
    this.#frame ??= frameOf(gathered.peek())
    if (this.#frame === 'events') return ok(gathered.take())
    if (this.#frame === 'page') return fail('upstream_invalid', { detail: PAGE })
    if (gathered.length > UPSTREAM_WRITTEN_BYTES_MAX)
      return fail('upstream_too_large', { fields: { limit: UPSTREAM_WRITTEN_BYTES_MAX } })
    return (await this.#hasRoom(gathered.capacity)) ? null : fail('busy')
  }

  async #end(): Promise<Read> {
    this.#isOver = true
    if (this.#frame === null) return ok(null)
    const made = await this.#input.events(this.#gathered.take())
    if (!made.ok) return made
    const { value } = made
    if (!value.ok) return { ok: false, failure: { detail: NO_ANSWER, ...value.failure } }
    return (await this.#hasRoom(value.bytes.length)) ? ok(value.bytes) : fail('busy')
  }

  async #hasRoom(bytes: number): Promise<boolean> {
    if (bytes <= STREAM_HELD_BYTES_MAX) return true
    this.#room ??= this.#input.room()
    const missing = bytes - this.#room.bytes
    return missing <= 0 || this.#room.more(missing)
  }
}

/**
 * Reads the body of a response other than 2xx, for `failureOf`: at most UPSTREAM_ERROR_BYTES_MAX, and only what arrived
 * in time. A text that is cut off, late or damaged does not change the refusal, since its status is known. The body is
 * closed afterwards; after a body that arrived whole the connection is kept.
 * @param withinMs milliseconds
 */
export async function readRefusal(
  response: EgressExchange,
  withinMs: number = UPSTREAM_ERROR_MS,
): Promise<EgressAnswer> {
  const text = await readWithin(response.body, withinMs)
  return {
    status: response.status,
    isSuccess: response.isSuccess,
    retryAfter: response.header('retry-after'),
    body: text,
    release: () => undefined,
  }
}

/**
 * Reads what follows the last event of a stream, and closes the body. Usually only the end of the response follows and
 * has arrived already: the connection then serves the next call. A response that does not end is cut.
 * @param withinMs milliseconds
 */
export async function readOut(body: ByteReader, withinMs: number = UPSTREAM_END_MS): Promise<void> {
  await readWithin(body, withinMs)
}

async function readWithin(body: ByteReader, withinMs: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  const timer = setTimeout(() => body.close(), withinMs)
  while (bytes < UPSTREAM_ERROR_BYTES_MAX) {
    const piece = await body.next()
    if (!piece.ok || piece.value === null) break
    pieces.push(piece.value)
    bytes += piece.value.length
  }
  clearTimeout(timer)
  body.close()
  return Buffer.concat(pieces).subarray(0, UPSTREAM_ERROR_BYTES_MAX)
}
