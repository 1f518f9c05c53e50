import {
  LOOP_OTHERS_MS,
  LOOP_SHARE_PERCENT,
  UNREAD_ANSWERS_BYTES_MAX,
} from '../../schemas/limits/share-limits.ts'
import { KIB } from '../../schemas/limits/limits.ts'

/** Milliseconds of the loop by which an organization may exceed LOOP_SHARE_PERCENT. Decision. */
export const LOOP_BURST_MS = 50
/** Milliseconds after which a waiting call continues even if its organization has exceeded its share, one call for each tick. Decision. */
export const LOOP_WAIT_MS_MAX = 3_000
/**
 * Calls by one organization, to operations that list no 429, that a front runs at once while another
 * organization calls too: half of the front's connections to Postgres. A client that calls faster than it gets
 * answers would otherwise hold all connections. The other calls wait as for the loop. Decision.
 */
export const SHARED_CALLS_MAX = 2
/** Microseconds of the loop that a call costs beyond the measured time. Decision. */
export const LOOP_CALL_US = 200
/** Bytes of an answer that cost a millisecond of the loop. Decision. */
export const LOOP_WRITTEN_BYTES_PER_MS = 64 * KIB

const LOOP_SHARE = LOOP_SHARE_PERCENT / 100
const LOOP_CALL_MS = LOOP_CALL_US / 1_000
/** Largest debt: the amount that is worked off in the longest time that a call waits. */
const DEBT_MS_MAX = LOOP_BURST_MS + LOOP_SHARE * LOOP_WAIT_MS_MAX

export interface LoopClock {
  now(): number
  /** Fires once, after this many milliseconds. */
  later(ms: number, fire: () => void): void
}

const REAL: LoopClock = { now: () => performance.now(), later: (ms, fire) => void setTimeout(fire, ms) }

interface Waiter {
  readonly go: () => void
  /** Time from which the call starts whatever the debt is, one such call for each tick. */
  readonly latest: number
}

interface Account {
  /** Milliseconds of the loop that were used and not yet worked off; at most LOOP_BURST_MS while no other organization calls. */
  debtMs: number
  at: number
  /** Moving average of the cost of this organization's calls: a call is charged with it until its end. */
  callMs: number
  /** Number of calls that entered and have not yet ended. */
  underWay: number
  readonly waiting: Waiter[]
  /** When the waiting calls are checked again; Infinity while none waits. */
  tickAt: number
}

/** Milliseconds between two calls that start because they have waited too long. Decision. */
const LATE_CALL_MS = 50
/** Weight of the last call in the average of an organization's calls. Decision. */
const LAST_CALL_SHARE = 1 / 4
/** Accounts above which the ones without debt are removed. */
const ACCOUNTS_KEPT = 1_000

/**
 * Shares the event loop of a front, and its connections to Postgres, between organizations, for operations
 * without a rate limit. While other organizations call too, each may use LOOP_SHARE_PERCENT of the loop and
 * have SHARED_CALLS_MAX calls in flight. An organization above its share waits, call by call, until it has
 * worked off the excess or one of its calls has ended; it is never refused. An organization that calls alone
 * may have as many calls under way as take LOOP_BURST_MS of the loop, since the first call of another
 * organization has to wait for them.
 */
export class LoopShare {
  readonly #clock: LoopClock
  readonly #accounts = new Map<string, Account>()
  #last = { organizationId: '', at: -Infinity }
  #other = { organizationId: '', at: -Infinity }

  constructor(clock: LoopClock = REAL) {
    this.#clock = clock
  }

  /** Counts every call of an organization, whatever its operation. */
  saw(organizationId: string): void {
    if (this.#last.organizationId !== organizationId) {
      this.#other = this.#last
      this.#last = { organizationId, at: 0 }
    }
    this.#last.at = this.#clock.now()
  }

  /** @returns null when the call may start at once; otherwise a promise that resolves when it may */
  enter(organizationId: string): Promise<void> | null {
    const account = this.#accountOf(organizationId)
    if (account.waiting.length === 0 && !this.#mustWait(organizationId, account)) {
      this.#begin(organizationId, account)
      return null
    }
    return new Promise((go) => {
      account.waiting.push({ go, latest: this.#clock.now() + LOOP_WAIT_MS_MAX })
      this.#tick(organizationId, account)
    })
  }

  /** Books the cost of a call that entered. @param loopMs measured milliseconds of the loop @param bytes of the call's answer */
  leave(
    organizationId: string,
    { loopMs, bytes }: { readonly loopMs: number; readonly bytes: number },
  ): void {
    const account = this.#accountOf(organizationId)
    const cost = LOOP_CALL_MS + loopMs + bytes / LOOP_WRITTEN_BYTES_PER_MS
    this.#charge(organizationId, account, cost - account.callMs)
    account.callMs += (cost - account.callMs) * LAST_CALL_SHARE
    account.underWay--
    this.#letIn(organizationId, account)
    this.#tick(organizationId, account)
  }

  #begin(organizationId: string, account: Account): void {
    this.#charge(organizationId, account, account.callMs)
    account.underWay++
  }

  #charge(organizationId: string, account: Account, ms: number): void {
    const most = this.#hasOthers(organizationId) ? DEBT_MS_MAX : LOOP_BURST_MS
    account.debtMs = Math.min(account.debtMs + ms, most)
  }

  #mustWait(organizationId: string, { debtMs, underWay, callMs }: Account): boolean {
    if (this.#hasOthers(organizationId)) return debtMs > LOOP_BURST_MS || underWay >= SHARED_CALLS_MAX
    // The next call may come from another organization, and then waits for the calls under way.
    return underWay > 0 && (underWay + 1) * callMs > LOOP_BURST_MS
  }

  #hasOthers(organizationId: string): boolean {
    const other = this.#last.organizationId === organizationId ? this.#other : this.#last
    return this.#clock.now() - other.at < LOOP_OTHERS_MS
  }

  /** Starts the waiting calls that may start now. */
  #letIn(organizationId: string, account: Account): void {
    while (account.waiting.length > 0 && !this.#mustWait(organizationId, account))
      this.#letInFirst(organizationId, account)
  }

  #letInFirst(organizationId: string, account: Account): void {
    this.#begin(organizationId, account)
    account.waiting.shift()?.go()
  }

  /** Schedules a check for when enough debt is worked off for the next call; the end of a call also causes a check. */
  #tick(organizationId: string, account: Account): void {
    const [oldest] = account.waiting
    if (oldest === undefined) return
    const now = this.#clock.now()
    const aheadMs = account.debtMs - LOOP_BURST_MS
    const forDebtMs = aheadMs > 0 ? aheadMs / LOOP_SHARE : LOOP_OTHERS_MS
    const untilLateMs = oldest.latest > now ? oldest.latest - now : LATE_CALL_MS
    const ms = Math.max(1, Math.min(forDebtMs, untilLateMs, LOOP_OTHERS_MS))
    const at = now + ms
    // A tick that was scheduled while the calls waited for a place, not for debt, would be too late.
    if (at >= account.tickAt) return
    account.tickAt = at
    this.#clock.later(ms, () => {
      if (account.tickAt !== at) return
      account.tickAt = Infinity
      this.#workOff(account)
      this.#letIn(organizationId, account)
      // One for each tick: all late calls at once would occupy the loop, and the connections to Postgres,
      // until they end.
      const [first] = account.waiting
      if (first !== undefined && first.latest <= this.#clock.now()) this.#letInFirst(organizationId, account)
      this.#tick(organizationId, account)
    })
  }

  #accountOf(organizationId: string): Account {
    const known = this.#accounts.get(organizationId)
    if (known !== undefined) {
      this.#workOff(known)
      return known
    }
    if (this.#accounts.size >= ACCOUNTS_KEPT) this.#forget()
    const made = {
      debtMs: 0,
      at: this.#clock.now(),
      callMs: LOOP_CALL_MS,
      underWay: 0,
      waiting: [],
      tickAt: Infinity,
    }
    this.#accounts.set(organizationId, made)
    return made
  }

  #workOff(account: Account): void {
    const now = this.#clock.now()
    account.debtMs = Math.max(0, account.debtMs - (now - account.at) * LOOP_SHARE)
    account.at = now
  }

  #forget(): void {
    for (const [organizationId, account] of this.#accounts) {
      this.#workOff(account)
      if (account.debtMs === 0 && account.underWay === 0 && account.waiting.length === 0)
        this.#accounts.delete(organizationId)
    }
  }
}

/**
 * Bytes of answers that clients have not read yet, by organization. Bytes that a socket accepts at once are
 * never counted, so that clients that read have no limit. Without this count, clients that do not read could
 * fill the memory of a front with an answer for each connection.
 */
export class UnreadAnswers {
  readonly #bytesMax: number
  readonly #held = new Map<string, number>()
  #bytes = 0

  constructor(bytesMax = UNREAD_ANSWERS_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  /** Of all organizations. */
  get bytes(): number {
    return this.#bytes
  }

  hasRoom(organizationId: string): boolean {
    return (this.#held.get(organizationId) ?? 0) < this.#bytesMax
  }

  /**
   * @param organizationId null: a call without a key
   * @returns a function that returns the bytes; it may be called repeatedly
   */
  hold(organizationId: string | null, bytes: number): () => void {
    const holder = organizationId ?? ''
    let held = bytes
    this.#bytes += bytes
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes)
    return () => {
      const left = (this.#held.get(holder) ?? 0) - held
      this.#bytes -= held
      held = 0
      if (left > 0) this.#held.set(holder, left)
      else this.#held.delete(holder)
    }
  }
}
