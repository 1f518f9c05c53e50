/**
 * What stands in the place of a part below its rung: the same interface, and as little work as there can be.
 */
import { ok } from '../../src/schemas/failures.ts'
import type { Access } from '../../src/server/access/access.ts'
import { Timers, type Timer } from '../../src/server/http/timers.ts'
import type { Admission } from '../../src/server/limits/admission.ts'
import { UNLIMITED } from '../../src/server/limits/admitted.ts'
import type { Egress } from '../../src/server/ports/egress/egress.ts'
import type { EpochFeed, KeyRecord } from '../../src/server/ports/keys/keys.ts'
import type { Journal } from '../../src/server/ports/money/journal.ts'
import type { Lender } from '../../src/server/ports/money/lending.ts'
import type { Meters, Observer } from '../../src/server/ports/observe.ts'
import type { Ports } from '../../src/server/ports/ports.ts'
import type { ShortJobs, ShortJobTypes } from '../../src/server/ports/short-jobs.ts'
import { takeAnswer } from '../../src/workers/scan-answer.ts'
import type { Provider } from '../peers/provider.ts'
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

/** Calls of a key without limits of calls never get here. */
export const FREE_MODEL_CALLS: Ports['modelCalls'] = {
  admit: () => Promise.resolve({ failure: null, headers: null, end: () => undefined }),
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
    // The bytes are lent.
    if (keepsBytes && read.ok) read.value[RAW] = Buffer.from(input.bytes)
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
    throw new Error('the ladder calls one provider, and reads whole answers')
  }
  return {
    trusted: () => ({
      async call({ body }) {
        if (typeof body !== 'string') return none()
        const answer = await provider.embed(body)
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
      exchange: none,
    }),
    vetted: none,
    hold: none,
    room: none,
    load: { heldBytes: 0, calls: 0 },
    close: () => Promise.resolve(),
  }
}

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
  streams: { committed() {}, wrote() {}, ended() {}, answered() {}, called() {} },
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
