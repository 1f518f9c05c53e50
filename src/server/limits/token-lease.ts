import {
  RATE_BLOCK_MS,
  RATE_PREFETCH_MIN,
  RATE_RETURN_MS,
  RATE_SHARE_WAIT_MS_MAX,
  RATE_STEADY_BLOCKS,
  RATE_USE_MS,
  RATE_WAIT_MS_MAX,
} from '../../schemas/limits/rate-limits.ts'
import { burstShare } from '../../schemas/values/rate-burst.ts'
import type { Meters } from '../ports/observe.ts'
import type { FrontCount, RateAuthority, RateGrant, LocalBalance } from '../ports/rates.ts'
import { add, freeOf, levelOf, takeOne, waitFor, windowOf, type Window } from './gcra.ts'
import { admittedOf, refusedOf, type Admitted, type LocalShare, type WindowState } from './admitted.ts'

export interface LeaseDeps {
  readonly authority: RateAuthority
  readonly fronts: FrontCount
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly epochNow: () => number
  readonly meters: Pick<Meters, 'rateDecision'>
  /** Calls `flush` of this lease once, together with the other leases that request tokens in this turn of the loop. */
  readonly request: (lease: TokenLease) => void
  /** Calls a function after this many milliseconds. */
  readonly later: (run: () => void, ms: number) => void
  /** Monotonic milliseconds: the local window of a new lease counts as full until then. */
  readonly forgotAt: () => number
}

/** The limit of one key, from which a lease borrows. */
export interface LeaseOf {
  /** Hash of the key. */
  readonly key: string
  readonly limitRpm: number
  /** Requests that are allowed at once; may be a fraction. */
  readonly burst: number
}

interface Waiter {
  readonly since: number
  settle(answer: Admitted): void
}

/** A refusal that calls share while it is valid. */
interface Refused {
  readonly atS: number
  readonly until: number
  /** True when this front's share caused the refusal. */
  readonly isLocal: boolean
  readonly answer: Admitted
}

/** A number of tokens, and the instant at which they were counted: used tokens become free with time. */
interface Owed {
  readonly tokens: number
  readonly at: number
}

/**
 * A front's lease of one key's rate tokens. Design §6. An admitted call uses a token, whatever its outcome.
 * The bound limit × (W + 100 ms) + burst holds because a borrowed token is used within RATE_USE_MS of its
 * loan, returned within RATE_RETURN_MS, or lost.
 */
export class TokenLease implements LocalBalance<number, Admitted> {
  readonly #deps: LeaseDeps
  readonly #key: string
  readonly limitRpm: number
  readonly burst: number
  #balance = 0
  /** When the request for the tokens was sent: no later than the authority lent them. */
  #lentAt = 0
  /** Milliseconds that the last request to the authority took. */
  #tripMs = 0
  #admitted: Admitted | null = null
  #deniedUntil = 0
  #refused: Refused | null = null
  #waiters: Waiter[] = []
  #isRequesting = false
  /** Start of the current slot of RATE_BLOCK_MS. */
  #slotAt = 0
  /** Admissions of the current slot. */
  #used = 0
  /** Admissions of the slot before. */
  #usedBefore = 0
  /** Number of successive slots with an admission; a slot without one reduces it by two. */
  #steady = 0
  /** The window that replaces the authority while it is unavailable. */
  #local: Window | null = null
  /** State of the local window when its use was last reported. */
  #reported: Pick<Window, 'levelMs' | 'at'> = { levelMs: 0, at: 0 }
  /** The window that replaced the authority until it was reachable again, kept because the authority may answer heartbeats and still fail to lend. */
  #left: Window | null = null
  /** Tokens that were used without the authority; the next request reports them. */
  #owed: Owed = { tokens: 0, at: 0 }

  constructor(deps: LeaseDeps, { key, limitRpm, burst }: LeaseOf) {
    this.#deps = deps
    // Nodes of an older version have windows under the bare hash. Sharing a window with them would free tokens
    // each time that they reduce it to their smaller burst.
    this.#key = `key:${key}`
    this.limitRpm = limitRpm
    this.burst = burst
  }

  /** Decides at once while tokens or a known refusal last. Null: call `refill`. */
  take(now: number): Admitted | null {
    const isReachable = this.#deps.authority.isReachable
    if (this.#local !== null && isReachable) this.#leaveLocal(this.#local, now)
    if (this.#balance > 0 && now - this.#lentAt < RATE_USE_MS && this.#admitted !== null) {
      this.#balance -= 1
      this.#count(now, 1)
      this.#deps.meters.rateDecision('admitted', 'purse')
      return this.#admitted
    }
    if (now < this.#deniedUntil) return this.#refuse(now, 'purse')
    return isReachable ? null : this.#takeLocal(now)
  }

  /**
   * Waits for the next block, with one request at a time; without the authority, for the next token of this
   * front's share. Never rejects and settles within RATE_WAIT_MS_MAX.
   */
  refill(now: number): Promise<Admitted> {
    return new Promise((settle) => {
      const waiter = { since: now, settle }
      if (!this.#deps.authority.isReachable) return this.#answerLocally(waiter)
      this.#waiters.push(waiter)
      if (this.#isRequesting) return
      this.#isRequesting = true
      this.#deps.request(this)
    })
  }

  /** Unused tokens that are young enough to be returned; the lease is empty afterwards. */
  giveBack(now: number): number {
    const unused = now - this.#lentAt <= RATE_RETURN_MS ? this.#balance : 0
    this.#balance = 0
    return unused
  }

  /** Requests tokens for the waiters, or a block when the key is busy. */
  async flush(): Promise<void> {
    const { authority, now } = this.#deps
    const sentAt = now()
    const owed = this.#owedAt(sentAt)
    this.#owed = { tokens: 0, at: sentAt }
    try {
      const want = Math.max(this.#waiters.length, this.#block(sentAt))
      const oldest = this.#waiters[0]?.since ?? sentAt
      const grant = await authority.lend({
        key: this.#key,
        limitRpm: this.limitRpm,
        burst: this.burst,
        want,
        giveBack: this.giveBack(sentAt) - Math.ceil(owed),
        waitMsMax: Math.max(1, RATE_WAIT_MS_MAX - (sentAt - oldest)),
      })
      this.#receive(grant, { sentAt, want })
    } catch {
      // The authority is unavailable or too slow: the waiters do not wait longer. Tokens that it may have lent
      // are counted as lost, which is the safe side. Tokens that were reported meanwhile, when the authority
      // became reachable again, are owed too.
      const at = now()
      this.#owed = { tokens: this.#owedAt(at) + this.#decayed({ tokens: owed, at: sentAt }, at), at }
      this.#isRequesting = false
      for (const waiter of this.#waiters.splice(0)) this.#answerLocally(waiter)
    }
  }

  #receive(grant: RateGrant, { sentAt, want }: { sentAt: number; want: number }): void {
    const now = this.#deps.now()
    this.#left = null
    const isShort = grant.granted < want
    const served = this.#waiters.splice(0, grant.granted)
    this.#admitted = admittedOf(this.#known(grant.remaining, grant.resetAfterMs))
    this.#balance = grant.granted - served.length
    this.#lentAt = sentAt
    this.#tripMs = now - sentAt
    this.#count(now, served.length)
    for (const waiter of served) {
      this.#deps.meters.rateDecision('admitted', 'authority')
      waiter.settle(this.#admitted)
    }
    if (isShort) {
      this.#deniedUntil = now + grant.retryAfterMs
      for (const waiter of this.#waiters.splice(0)) waiter.settle(this.#refuse(now, 'authority'))
    }
    this.#isRequesting = this.#waiters.length > 0
    if (this.#isRequesting) this.#deps.request(this)
  }

  #answerLocally({ since, settle }: Waiter): void {
    const now = this.#deps.now()
    const answer = this.#takeLocal(now, Math.max(0, RATE_SHARE_WAIT_MS_MAX - (now - since)))
    const window = this.#local
    if (answer !== null || window === null) return settle(answer ?? this.#refuse(now, 'fallback'))
    const waitMs = waitFor(window, now, 1)
    add(window, now, 1, RATE_SHARE_WAIT_MS_MAX)
    // The window is replaced at each decision, so that the answer shows what is free when the wait ends.
    this.#deps.later(() => settle(this.#admitLocally(this.#local ?? window)), waitMs)
  }

  /**
   * Decides by this front's share of the limit; its window counts as full at the start of the outage. Null: a
   * token will be free so soon that the call can wait.
   * @param waitMsMax milliseconds that the call may still wait
   */
  #takeLocal(now: number, waitMsMax = RATE_SHARE_WAIT_MS_MAX): Admitted | null {
    if (now < this.#deniedUntil) return this.#refuse(now, 'fallback')
    const { limitRpm, burst } = this.#share()
    const { intervalMs, toleranceMs } = windowOf(limitRpm, burst)
    const before = this.#local ?? this.#goOn(now)
    const startsAt = Math.min(now, Math.max(this.#deps.authority.lastAnswerAt, this.#deps.forgotAt()))
    if (before === null) this.#reported = { levelMs: toleranceMs, at: startsAt }
    const window =
      before === null
        ? { intervalMs, toleranceMs, ...this.#reported }
        : { ...before, intervalMs, toleranceMs, levelMs: Math.min(before.levelMs, fullMsOf({ toleranceMs })) }
    this.#local = window
    const { isTaken, retryAfterMs } = takeOne(window, now)
    if (isTaken) return this.#admitLocally(window)
    if (retryAfterMs <= waitMsMax) return null
    // A call that has not waited yet may wait for the token.
    if (retryAfterMs > RATE_SHARE_WAIT_MS_MAX) this.#deniedUntil = now + retryAfterMs
    return this.#refuse(now, 'fallback', now + retryAfterMs)
  }

  #share(): LocalShare {
    const fronts = Math.max(1, this.#deps.fronts.liveFronts)
    return { limitRpm: this.limitRpm / fronts, burst: burstShare(this.burst, fronts) }
  }

  #admitLocally(window: Window): Admitted {
    const now = this.#deps.now()
    this.#deps.meters.rateDecision('admitted', 'fallback')
    return admittedOf(this.#known(freeOf(window, now), window.levelMs))
  }

  #known(remaining: number, resetAfterMs: number): WindowState {
    const { limitRpm, burst } = this
    return { limitRpm, burst, remaining, resetAfterMs, epochMs: this.#deps.epochNow() }
  }

  /**
   * The authority is back and decides again. The next request reports the tokens that were used without it,
   * since its own window continued to empty. Their number is the difference between the level of the local
   * window and that of an unused window.
   */
  #leaveLocal(local: Window, now: number): void {
    const reportedMs = Math.min(this.#reported.levelMs, fullMsOf(local))
    const untouchedMs = Math.max(0, reportedMs - (now - this.#reported.at))
    const tokens = this.#owedAt(now) + Math.max(0, levelOf(local, now) - untouchedMs) / local.intervalMs
    this.#owed = { tokens, at: now }
    this.#local = null
    this.#left = local
    this.#deniedUntil = 0
  }

  /**
   * Resumes the last local window: a window that was created anew after every failed request would always be
   * full. The use of this window is already owed.
   */
  #goOn(now: number): Window | null {
    const left = this.#left
    this.#left = null
    if (left === null) return null
    this.#reported = { levelMs: levelOf(left, now), at: now }
    return { ...left, ...this.#reported }
  }

  #owedAt(now: number): number {
    return this.#decayed(this.#owed, now)
  }

  #decayed({ tokens, at }: Owed, now: number): number {
    if (tokens === 0) return 0
    const perMs = this.limitRpm / 60_000 / Math.max(1, this.#deps.fronts.liveFronts)
    return Math.max(0, tokens - Math.max(0, now - at) * perMs)
  }

  #refuse(now: number, source: Parameters<Meters['rateDecision']>[1], until = this.#deniedUntil): Admitted {
    this.#deps.meters.rateDecision('refused', source)
    const leftMs = until - now
    const atS = Math.max(1, Math.ceil(leftMs / 1000))
    const isLocal = source !== 'authority' && this.#local !== null
    const last = this.#refused
    if (last?.atS === atS && last.until === until && last.isLocal === isLocal) return last.answer
    const answer = refusedOf(this.#known(0, leftMs), isLocal ? this.#share() : null)
    this.#refused = { atS, until, isLocal, answer }
    return answer
  }

  /** Tokens of the key that this front used in the last RATE_BLOCK_MS; 1 when they are too few to borrow ahead. */
  #block(now: number): number {
    this.#count(now, 0)
    // A block that arrives late has expired already. After a long trip the waiting calls alone are enough for
    // a block.
    if (this.#tripMs > RATE_USE_MS / 2) return 1
    const recent = Math.max(this.#used, this.#usedBefore)
    if (recent >= RATE_PREFETCH_MIN) return recent
    // Tokens borrowed ahead would be lost after a short burst; a steady client uses them in time.
    return this.#steady < RATE_STEADY_BLOCKS
      ? 1
      : Math.max(1, Math.floor((recent * RATE_USE_MS) / RATE_BLOCK_MS))
  }

  #count(now: number, tokens: number): void {
    const slots = Math.floor((now - this.#slotAt) / RATE_BLOCK_MS)
    if (slots !== 0) {
      const idle = this.#used > 0 ? slots - 1 : slots
      this.#steady = Math.max(0, Math.min(this.#steady + slots - idle, 2 * RATE_STEADY_BLOCKS) - 2 * idle)
      this.#usedBefore = slots === 1 ? this.#used : 0
      this.#used = 0
      this.#slotAt = slots === 1 ? this.#slotAt + RATE_BLOCK_MS : now
    }
    this.#used += tokens
  }
}

/** The highest level of a local window in milliseconds: a call may take its token before the token is free. */
function fullMsOf({ toleranceMs }: Pick<Window, 'toleranceMs'>): number {
  return toleranceMs + RATE_SHARE_WAIT_MS_MAX
}
