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
  /** Fires once, after this many milliseconds. */
  later(ms: number, fire: () => void): void
}

const REAL: LoopClock = { now: () => performance.now(), later: (ms, fire) => void setTimeout(fire, ms) }

interface Waiter {
  readonly go: () => void
  /** When the call starts whatever the debt is. */
  readonly latest: number
}

interface Account {
  /**
   * Milliseconds of the loop that the organization has used and not worked off, less those by which it may
   * always be ahead.
   */
  debtMs: number
  at: number
  /** Moving average of the cost of this organization's calls: a call is charged with it until its end. */
  callMs: number
  /** Calls that entered and have not left. */
  underWay: number
  readonly waiting: Waiter[]
  isTicking: boolean
}

/** Weight of the last call in the average of an organization's calls. Decision. */
const LAST_CALL_SHARE = 1 / 4
/** Accounts above which the ones without debt are removed. */
const ACCOUNTS_KEPT = 1_000

/**
 * Shares the event loop of a front, and its connections to Postgres, between organizations, for operations
 * without a rate limit. While other organizations call too, each may use LOOP_SHARE_PERCENT of the loop and
 * have SHARED_CALLS_MAX calls in flight. An organization above its share waits, call by call, until it has
 * worked off the excess or one of its calls has ended; it is never refused. An organization that calls alone
 * does not wait.
 */
export class LoopShare {
  readonly #clock: LoopClock
  readonly #accounts = new Map<string, Account>()
  /** The organization that called last. */
  #last = { organizationId: '', at: -Infinity }
  /** The last other organization that called. */
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
      begin(account)
      return null
    }
    return new Promise((go) => {
      account.waiting.push({ go, latest: this.#clock.now() + LOOP_WAIT_MS_MAX })
      this.#tick(organizationId, account)
    })
  }

  /**
   * Books the cost of a call that entered.
   * @param loopMs measured milliseconds of the loop
   * @param bytes of the call's answer
   */
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

  /** Starts the calls whose turn has come. */
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

  /** Checks again when the next call's turn comes; the end of a call checks by itself. */
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
