import {
  LOOP_BURST_MS,
  LOOP_CALL_US,
  LOOP_OTHERS_MS,
  LOOP_SHARE_PERCENT,
  LOOP_WAIT_MS_MAX,
  LOOP_WRITTEN_BYTES_PER_MS,
  SHARED_CALLS_MAX,
} from '../../schemas/limits/share-limits.ts'

const LOOP_SHARE = LOOP_SHARE_PERCENT / 100
const LOOP_CALL_MS = LOOP_CALL_US / 1_000

export interface LoopClock {
  now(): number
  /** Fires once, so many milliseconds from now. */
  later(ms: number, fire: () => void): void
}

const REAL: LoopClock = { now: () => performance.now(), later: (ms, fire) => void setTimeout(fire, ms) }

interface Waiter {
  readonly go: () => void
  /** When it goes on whatever the debt is. */
  readonly latest: number
}

interface Account {
  /**
   * Milliseconds of the loop that were used and are not worked off, less those that it may always be ahead.
   */
  debtMs: number
  at: number
  /** What a call of this organization came to, as a moving average: what is charged until one has ended. */
  callMs: number
  /** Calls that entered and did not leave. */
  underWay: number
  readonly waiting: Waiter[]
  isTicking: boolean
}

/** Weight of the last call in the average of an organization's calls. Decision. */
const LAST_CALL_SHARE = 1 / 4
/** Accounts beyond which those without debt are forgotten. */
const ACCOUNTS_KEPT = 1_000

/**
 * Shares the event loop of a front, and its connections to Postgres, between organizations, for operations
 * that no rate limits. While others call too, each may use LOOP_SHARE_PERCENT of the loop and have
 * SHARED_CALLS_MAX calls under way; one that has used more waits, call by call, until it has worked that off
 * or a call has ended, and is never refused. Alone it waits for nothing.
 */
export class LoopShare {
  readonly #clock: LoopClock
  readonly #accounts = new Map<string, Account>()
  /** The organization that called last, and the last one other than it. */
  #last = { organizationId: '', at: -Infinity }
  #other = { organizationId: '', at: -Infinity }

  constructor(clock: LoopClock = REAL) {
    this.#clock = clock
  }

  /** Every call of an organization, whatever it calls. */
  saw(organizationId: string): void {
    if (this.#last.organizationId !== organizationId) {
      this.#other = this.#last
      this.#last = { organizationId, at: 0 }
    }
    this.#last.at = this.#clock.now()
  }

  /** @returns null when the call may go on at once; else what resolves when it may */
  enter(organizationId: string): Promise<void> | null {
    const account = this.#accountOf(organizationId)
    if (account.waiting.length === 0 && !this.#mustWait(organizationId, account)) {
      begin(account)
      return null
    }
    return new Promise((go) => {
      account.waiting.push({ go, latest: this.#clock.now() + LOOP_WAIT_MS_MAX })
      this.#tick(organizationId, account)
    })
  }

  /** What a call that entered came to. @param loopMs that it was seen to run; @param bytes of its answer */
  leave(
    organizationId: string,
    { loopMs, bytes }: { readonly loopMs: number; readonly bytes: number },
  ): void {
    const account = this.#accountOf(organizationId)
    const cost = LOOP_CALL_MS + loopMs + bytes / LOOP_WRITTEN_BYTES_PER_MS
    account.debtMs += cost - account.callMs
    account.callMs += (cost - account.callMs) * LAST_CALL_SHARE
    account.underWay--
    this.#letIn(organizationId, account)
  }

  #mustWait(organizationId: string, { debtMs, underWay }: Account): boolean {
    return (debtMs > LOOP_BURST_MS || underWay >= SHARED_CALLS_MAX) && this.#hasOthers(organizationId)
  }

  #hasOthers(organizationId: string): boolean {
    const other = this.#last.organizationId === organizationId ? this.#other : this.#last
    return this.#clock.now() - other.at < LOOP_OTHERS_MS
  }

  /** Lets those go on whose turn it is. */
  #letIn(organizationId: string, account: Account): void {
    for (;;) {
      const [first] = account.waiting
      if (
        first === undefined ||
        (this.#mustWait(organizationId, account) && first.latest > this.#clock.now())
      )
        return
      account.waiting.shift()
      begin(account)
      first.go()
    }
  }

  /** Looks again when the next one's turn comes; a call that ends looks by itself. */
  #tick(organizationId: string, account: Account): void {
    if (account.isTicking || account.waiting.length === 0) return
    account.isTicking = true
    const aheadMs = account.debtMs - LOOP_BURST_MS
    const ms = aheadMs > 0 ? Math.max(1, Math.min(aheadMs / LOOP_SHARE, LOOP_OTHERS_MS)) : LOOP_OTHERS_MS
    this.#clock.later(ms, () => {
      account.isTicking = false
      this.#workOff(account)
      this.#letIn(organizationId, account)
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
      isTicking: false,
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

function begin(account: Account): void {
  account.debtMs += account.callMs
  account.underWay++
}
