import { LOOP_OTHERS_MS } from '../../schemas/limits/share-limits.ts'
import { KIB } from '../../schemas/limits/limits.ts'

/**
 * Bytes of a provider's stream that are read and passed on in one turn of a front's event loop; the rest is passed on
 * in the next turns, and the connection is not read meanwhile. Decision.
 */
export const STREAM_TURN_BYTES_MAX = 64 * KIB
/** Milliseconds of the loop that one stream uses in a turn of it. Decision. */
export const STREAM_TURN_MS_MAX = 2
/** Milliseconds of the loop that all streams of an organization use in a turn of it. Decision. */
export const ORGANIZATION_TURN_MS_MAX = 8
/**
 * As ORGANIZATION_TURN_MS_MAX, in microseconds, while another organization is active: calls of that organization wait
 * this long in each turn that they need. Decision.
 */
export const ORGANIZATION_TURN_AMONG_US = 500
/**
 * Milliseconds (up to one more) that the streams of an organization above its share of the loop wait after a turn: the
 * system schedules a front that is never idle after the other processes on its cores. Decision.
 */
export const ORGANIZATION_REST_MS = 1
/**
 * Milliseconds that the model calls of all other organizations used in the last second, below which no organization
 * pauses: a few calls are no reason to leave the loop idle. Decision.
 */
export const REST_OTHERS_MS_LEAST = 10
/**
 * Milliseconds of one turn of the loop above which turns are slow: while turns are slow and another organization is
 * active, the model calls of an organization above its share are held. Decision.
 */
export const LOOP_SLOW_MS = 20
/**
 * Smallest percentage of the loop for one organization's calls to models, however many organizations are active;
 * otherwise its share is the loop divided by their number. Decision.
 */
export const ORGANIZATION_PERCENT_MIN = 20
/** Milliseconds that a new call to a model is held at most. Decision. */
export const CALL_HELD_MS_MAX = 100

/** Milliseconds for which one slow turn counts. Decision. */
const SLOW_FOR_MS = 100
/** Milliseconds between two checks of a held call, and between two counts of active organizations. Decision. */
const CHECK_MS = 10
/** Fewest milliseconds that a waiting stream is expected to use. Decision. */
const EXPECTED_MS_MIN = 0.1

export interface BudgetClock {
  /** Monotonic milliseconds. */
  now(): number
  /** Calls `run` at the end of this turn of the loop. */
  afterTurn(run: () => void): void
  later(ms: number, run: () => void): void
}

const REAL: BudgetClock = {
  now: () => performance.now(),
  afterTurn: (run) => void setImmediate(run),
  // A timer counts from the start of the turn that sets it.
  later: (ms, run) => void setTimeout(run, ms + 1),
}

export interface HeldCounts {
  readonly calls: number
  readonly turns: number
}

interface Waiter {
  readonly go: () => void
  /** Milliseconds that the stream used in its last turn. */
  readonly ms: number
}

interface Account {
  /** The turn that `turnMs` and `isHeld` are about. */
  turn: number
  turnMs: number
  /** Milliseconds of the turn that its streams may use. */
  turnMsMax: number
  /** The streams skip this turn. */
  isHeld: boolean
  /** The streams skip turns until a timer ends. */
  isResting: boolean
  /** Milliseconds used until `usedAt`. Older use counts less and less, so that about a second of use remains. */
  usedMs: number
  usedAt: number
  /** The value of `usedMs` at the last count of active organizations. */
  countedMs: number
  seenAt: number
  /** Streams that wait for a turn, in order. */
  readonly waiting: Waiter[]
}

/**
 * Shares a front's event loop between the calls to models. In one turn of the loop a stream uses up to
 * STREAM_TURN_BYTES_MAX and STREAM_TURN_MS_MAX, and all streams of an organization ORGANIZATION_TURN_MS_MAX; the rest
 * waits for the next turns. While several organizations are active each uses ORGANIZATION_TURN_AMONG_US of a turn,
 * since a call of another one needs several turns, and an organization above its share of the loop then pauses, unless
 * the others use little. While turns are slow, the streams of such an organization skip every other turn, and its new
 * calls wait up to CALL_HELD_MS_MAX. Only measured time counts, and an organization alone is never held.
 */
export class LoopBudget {
  readonly #clock: BudgetClock
  readonly #accounts = new Map<string, Account>()
  /** Accounts with streams that wait for a turn. */
  readonly #waiting = new Set<Account>()
  #heldCalls = 0
  #heldTurns = 0
  #turn = 0
  /** The start of this turn: its first use; null before that. */
  #turnAt: number | null = null
  #slowUntil = -Infinity
  #active = 0
  /** Milliseconds that all organizations had used at the last count. */
  #countedMs = 0
  #countedAt = -Infinity
  #sweptAt = -Infinity

  constructor(clock: BudgetClock = REAL) {
    this.#clock = clock
  }

  /** New calls and turns of an organization's streams that had to wait for others, since the start. */
  get held(): HeldCounts {
    return { calls: this.#heldCalls, turns: this.#heldTurns }
  }

  /** Any call makes its organization an active one. */
  saw(organizationId: string): void {
    this.#accountOf(organizationId, this.#clock.now())
  }

  /** Runs synchronous work for a call, and books its time. */
  booked<T>(organizationId: string, work: () => T): T {
    const startedAt = this.#clock.now()
    try {
      return work()
    } finally {
      this.book(organizationId, this.#clock.now() - startedAt)
    }
  }

  /** Books measured milliseconds of the loop. */
  book(organizationId: string, ms: number): void {
    const now = this.#clock.now()
    const account = this.#inTurn(organizationId, now)
    account.turnMs += ms
    account.usedMs = usedOf(account, now) + ms
    account.usedAt = now
  }

  /** @returns null when a new call may start at once */
  enter(organizationId: string): Promise<void> | null {
    const now = this.#clock.now()
    const account = this.#accountOf(organizationId, now)
    if (!this.#holds(account, now)) return null
    this.#heldCalls++
    const latest = now + CALL_HELD_MS_MAX
    return new Promise((go) => {
      const check = (): void => {
        const at = this.#clock.now()
        if (at >= latest || !this.#holds(account, at)) go()
        else this.#clock.later(CHECK_MS, check)
      }
      this.#clock.later(CHECK_MS, check)
    })
  }

  /** The budget of a stream that begins. */
  stream(organizationId: string): StreamBudget {
    return new StreamBudget(this, organizationId)
  }

  /** The number of the current turn. */
  get turn(): number {
    if (this.#turnAt === null) this.#begin(this.#clock.now())
    return this.#turn
  }

  /** Whether the streams of the organization may use this turn. */
  hasTurn(organizationId: string): boolean {
    const { isHeld, isResting, turnMs, turnMsMax } = this.#inTurn(organizationId, this.#clock.now())
    return !isHeld && !isResting && turnMs < turnMsMax
  }

  /** @param ms milliseconds that the stream used in its last turn @returns resolves in a later turn */
  wait(organizationId: string, ms: number): Promise<void> {
    const account = this.#inTurn(organizationId, this.#clock.now())
    this.#waiting.add(account)
    return new Promise((go) => account.waiting.push({ go, ms }))
  }

  #begin(now: number): void {
    this.#turnAt = now
    this.#clock.afterTurn(this.#onTurnOver)
  }

  readonly #onTurnOver = (): void => {
    const now = this.#clock.now()
    if (this.#turnAt !== null && now - this.#turnAt > LOOP_SLOW_MS) this.#slowUntil = now + SLOW_FOR_MS
    this.#turnAt = null
    this.#turn++
    for (const account of this.#waiting) {
      if (account.turnMs > 0 && this.#mustRest(account, now)) this.#rest(account)
      else this.#letIn(account, now)
    }
  }

  /** The streams of an organization that has used a turn wait until a timer ends. */
  #rest(account: Account): void {
    if (account.isResting) return
    account.isResting = true
    this.#heldTurns++
    this.#clock.later(ORGANIZATION_REST_MS, () => {
      account.isResting = false
      account.turn = -1
      this.#letIn(account, this.#clock.now())
    })
  }

  /** Resumes as many streams as will use the organization's turn; the others keep their places. */
  #letIn(account: Account, now: number): void {
    if (account.isResting) return
    this.#roll(account, now)
    if (account.isHeld) return
    let expectedMs = 0
    while (expectedMs < account.turnMsMax) {
      const first = account.waiting.shift()
      if (first === undefined) break
      expectedMs += Math.max(first.ms, EXPECTED_MS_MIN)
      first.go()
    }
    if (account.waiting.length === 0) this.#waiting.delete(account)
  }

  #inTurn(organizationId: string, now: number): Account {
    const account = this.#accountOf(organizationId, now)
    this.#roll(account, now)
    return account
  }

  /** Starts the current turn for the organization, at its first use of that turn. */
  #roll(account: Account, now: number): void {
    if (this.#turnAt === null) this.#begin(now)
    if (account.turn === this.#turn) return
    account.turn = this.#turn
    account.turnMs = 0
    account.turnMsMax = this.#hasOthers(now) ? ORGANIZATION_TURN_AMONG_US / 1_000 : ORGANIZATION_TURN_MS_MAX
    account.isHeld = !account.isHeld && this.#holds(account, now)
    if (account.isHeld) this.#heldTurns++
  }

  /** Whether new calls of the organization have to wait. */
  #holds(account: Account, now: number): boolean {
    return this.#isSlow(now) && this.#isAbove(account, now)
  }

  #isSlow(now: number): boolean {
    return now < this.#slowUntil
  }

  /** Whether others are active, and the organization has used more than its share of the last second. */
  #isAbove(account: Account, now: number): boolean {
    if (!this.#hasOthers(now)) return false
    const part = Math.max(1 / this.#active, ORGANIZATION_PERCENT_MIN / 100)
    return usedOf(account, now) > part * LOOP_OTHERS_MS
  }

  /** Whether the organization is above its share, and the others use more than a little. */
  #mustRest(account: Account, now: number): boolean {
    return this.#isAbove(account, now) && this.#countedMs - account.countedMs >= REST_OTHERS_MS_LEAST
  }

  #hasOthers(now: number): boolean {
    if (now - this.#countedAt >= CHECK_MS) this.#count(now)
    return this.#active > 1
  }

  #count(now: number): void {
    this.#countedAt = now
    this.#active = this.#countedMs = 0
    for (const account of this.#accounts.values()) {
      if (now - account.seenAt < LOOP_OTHERS_MS) this.#active++
      account.countedMs = usedOf(account, now)
      this.#countedMs += account.countedMs
    }
  }

  #accountOf(organizationId: string, now: number): Account {
    const known = this.#accounts.get(organizationId)
    if (known !== undefined) {
      known.seenAt = now
      return known
    }
    if (now - this.#sweptAt > LOOP_OTHERS_MS) this.#sweep(now)
    const made = {
      turn: -1,
      turnMs: 0,
      turnMsMax: ORGANIZATION_TURN_MS_MAX,
      isHeld: false,
      isResting: false,
      usedMs: 0,
      usedAt: now,
      countedMs: 0,
      seenAt: now,
      waiting: [],
    }
    this.#accounts.set(organizationId, made)
    return made
  }

  /** Forgets organizations that are no longer active. */
  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [organizationId, { seenAt, waiting }] of this.#accounts)
      if (now - seenAt >= LOOP_OTHERS_MS && waiting.length === 0) this.#accounts.delete(organizationId)
  }
}

/** The use of one stream in the current turn. */
export class StreamBudget {
  readonly #loop: LoopBudget
  readonly #organizationId: string
  #turn = -1
  #bytes = 0
  #ms = 0

  constructor(loop: LoopBudget, organizationId: string) {
    this.#loop = loop
    this.#organizationId = organizationId
  }

  /** Whether the rest has to wait for another turn. */
  get isSpent(): boolean {
    if (!this.#loop.hasTurn(this.#organizationId)) return true
    if (this.#turn !== this.#loop.turn) return false
    return this.#bytes >= STREAM_TURN_BYTES_MAX || this.#ms >= STREAM_TURN_MS_MAX
  }

  /** @param ms milliseconds of the loop that reading and writing took */
  used(ms: number, bytes: number): void {
    const { turn } = this.#loop
    if (this.#turn !== turn) this.#bytes = this.#ms = 0
    this.#turn = turn
    this.#bytes += bytes
    this.#ms += ms
    this.#loop.book(this.#organizationId, ms)
  }

  /** Resolves in the next turn in which the stream may continue. */
  next(): Promise<void> {
    return this.#loop.wait(this.#organizationId, this.#ms)
  }
}

/** Use decays: after a second a millisecond counts as a third, and so on. Using half of the loop adds up to 500 ms. */
function usedOf({ usedMs, usedAt }: Account, now: number): number {
  return usedMs * Math.exp((usedAt - now) / LOOP_OTHERS_MS)
}
