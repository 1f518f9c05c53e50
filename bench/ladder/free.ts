/**
 * What stands in the place of a part below its rung: the same interface, and as little work as there can be.
 */
import { ok, type Failure, type Outcome } from '../../src/schemas/failures.ts'
import type { Access } from '../../src/server/access/access.ts'
import { Timers, type Timer } from '../../src/server/http/timers.ts'
import type { Admission } from '../../src/server/limits/admission.ts'
import { UNLIMITED } from '../../src/server/limits/admitted.ts'
import type { ByteReader } from '../../src/server/ports/byte-streams.ts'
import type { AnswerRoom, Egress, EgressRequest } from '../../src/server/ports/egress/egress.ts'
import type { EpochFeed, KeyRecord } from '../../src/server/ports/keys/keys.ts'
import type { Journal } from '../../src/server/ports/money/journal.ts'
import type { Lender } from '../../src/server/ports/money/lending.ts'
import type { Meters, Observer } from '../../src/server/ports/observe.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { ShortJobs, ShortJobTypes } from '../../src/server/ports/short-jobs.ts'
import { takeAnswer } from '../../src/workers/scan-answer.ts'
import type { Pieces, Provider } from '../peers/provider.ts'
import { SILENT } from '../../test/support/log.ts'

/** Knows the caller before it asks. */
export function freeAccess(key: KeyRecord): Pick<Access, 'authenticate' | 'checkKey'> {
  const known = ok(key)
  return { authenticate: () => known, checkKey: () => null }
}

export const FREE_ADMISSION: Admission = { admit: () => UNLIMITED }

/** An epoch that nothing changes and that is never overdue. */
export const STILL_FEED: EpochFeed = {
  epoch: 1,
  lastGoodPollAtMs: Number.MAX_SAFE_INTEGER,
  subscribe: () => () => undefined,
}

type ReadBody = ShortJobTypes['read_body']
type ScanAnswer = ShortJobTypes['scan_answer']

export interface JobParts {
  readonly jobs: ShortJobs
  readonly hasBody: boolean
  readonly hasScan: boolean
  /** The body stays in the call as bytes, for a call that is passed on as it came. */
  readonly keepsBytes: boolean
}

/** Member of a read body with its bytes. */
export const RAW = 'raw'

/** Short jobs on the loop: bodies that are not read, and answers whose places are known after the first. */
export function freeJobs({ jobs, hasBody, hasScan, keepsBytes }: JobParts): ShortJobs {
  if (hasBody && hasScan && !keepsBytes) return jobs
  const readBody = (input: ReadBody['in']): ReadBody['out'] => {
    const read: ReadBody['out'] = hasBody
      ? jobs.here('read_body', input)
      : { ok: true, value: {}, bulk: null }
    // The bytes are lent; some forms keep their own.
    if (keepsBytes && read.ok && read.source === undefined) read.value[RAW] = Buffer.from(input.bytes)
    return read
  }
  const scan = knownScan()
  return {
    run: (name, input, more) => jobs.run(name, input, more),
    here(name, input) {
      // The names are keys of the types of inputs.
      if (name === 'read_body') return readBody(input as ReadBody['in'])
      if (name === 'scan_answer' && !hasScan) return scan(input as ScanAnswer['in'])
      return jobs.here(name, input)
    },
  }
}

/** The provider of the bench gives one answer: its places are found once. */
function knownScan(): (input: ScanAnswer['in']) => ScanAnswer['out'] {
  let [known, bytes]: [ScanAnswer['out'], number] = [null, -1]
  return (input) => {
    if (input.answer.length !== bytes) [known, bytes] = [takeAnswer(input), input.answer.length]
    return known
  }
}

/** The gate without its checks: every request to the one provider, by the cheapest use of undici. */
export function freeEgress(provider: Provider): Egress {
  const none = (): never => {
    throw new Error('the ladder calls one provider, with bodies in memory')
  }
  return {
    trusted: () => ({
      async call({ body }) {
        const answer = await provider.post(joined(body) ?? none())
        if (!answer.ok) return answer
        return ok({
          status: 200,
          isSuccess: true,
          retryAfter: null,
          body: answer.value,
          release: () => undefined,
        })
      },
      open: none,
      exchange: ({ body }) =>
        new Promise((resolve) => {
          const answer: FreeReader = new FreeReader((failure) => {
            if (failure !== null) return resolve({ ok: false, failure })
            resolve(ok({ status: 200, isSuccess: true, header: () => null, headers: [], body: answer }))
          })
          provider.stream(joined(body) ?? none(), answer)
        }),
    }),
    vetted: none,
    hold: none,
    room: () => FREE_ROOM,
    load: { heldBytes: 0, calls: 0 },
    close: () => Promise.resolve(),
  }
}

/** Null: it is no body in memory. */
function joined(body: EgressRequest['body']): string | Uint8Array | null {
  if (typeof body === 'string' || body instanceof Uint8Array) return body
  if (!Array.isArray(body)) return null
  const pieces = body as readonly Uint8Array[]
  return pieces.length === 1 ? (pieces[0] ?? null) : Buffer.concat(pieces)
}

const FREE_ROOM: AnswerRoom = {
  bytes: 0,
  grow: () => true,
  more: () => Promise.resolve(true),
  give() {},
}

/** The body of an answer as a reader pulls it, without bounds and clocks. */
class FreeReader implements ByteReader, Pieces {
  readonly #begun: (failure: Failure | null) => void
  readonly #pieces: Uint8Array[] = []
  #end: Outcome<null> | null = null
  #waiting: ((next: Outcome<Uint8Array | null>) => void) | null = null

  constructor(begun: (failure: Failure | null) => void) {
    this.#begun = begun
  }

  begin(): void {
    this.#begun(null)
  }

  take(bytes: Buffer): void {
    if (this.#waiting === null) this.#pieces.push(bytes)
    else this.#give(ok(bytes))
  }

  end(failure: Failure | null): void {
    this.#end = failure === null ? ok(null) : { ok: false, failure }
    // Without an effect where the answer has begun.
    if (failure !== null) this.#begun(failure)
    this.#give(this.#end)
  }

  next(): Promise<Outcome<Uint8Array | null>> {
    const piece = this.#pieces.shift()
    if (piece !== undefined) return Promise.resolve(ok(piece))
    if (this.#end !== null) return Promise.resolve(this.#end)
    return new Promise((resolve) => (this.#waiting = resolve))
  }

  close(): void {}

  #give(next: Outcome<Uint8Array | null>): void {
    this.#waiting?.(next)
    this.#waiting = null
  }
}

/** Records of calls are kept nowhere. */
export const FREE_GENERATIONS: Pick<Ports['generations'], 'keep'> = { keep() {} }

/** A journal that keeps nothing, and has nothing to flush. */
export function freeJournal(id: string): Journal {
  let takes = 0
  return {
    id,
    isBroken: false,
    take: () => ++takes,
    progress() {},
    settle() {},
    release() {},
    giveBack() {},
    write: () => true,
    next: () => null,
    applied() {},
    close() {},
  }
}

/** Lends as the real lender, and applies nothing. */
export function deafLender(lender: Lender): Lender {
  return { ...lender, flush: () => Promise.resolve('applied') }
}

export const FREE_METERS: Meters & MetersOfCalls = {
  call() {},
  unpriced() {},
  settled: { add() {} },
  keyLookup() {},
  rateDecision() {},
  upstream() {},
  streams: { of: () => ({ committed() {}, wrote() {}, ended() {}, answered() {}, called() {} }) },
}

interface MetersOfCalls {
  call(operation: string, call: object): void
  unpriced(operation: string, provider: string): void
  readonly settled: { add(call: object): void }
}

export const FREE_OBSERVER: Observer = { log: SILENT, settled() {}, trace() {} }

const STOPPED: Timer = { stop() {}, putOff() {} }

/** Timers that never fire and never wait. */
export class NoTimers extends Timers {
  override start(): Timer {
    return STOPPED
  }
}
