/** Milliseconds of one step of the wheel: every timer is late by at most one step. Decision. */
export const TIMER_STEP_MS = 50

const SLOTS = 512

export interface Timer {
  /** A second call does nothing. */
  stop(): void
  /**
   * Postpones the end of a running timer to `ms` from now, at the cost of reading the clock; never to an
   * instant before its present end. A timer that was stopped or has fired is not restarted.
   */
  putOff(ms: number): void
}

/** Callback of a timer: a function, or an object of the call, which needs no separate function. */
export type TimerEnd = (() => void) | { timeUp(): void }

export interface TimerGuard {
  guard(act: TimerEnd): void
}

/**
 * Coarse timers for deadlines and stalls. Nearly all timers are stopped before they fire, so that starting
 * and stopping must cost nothing (two pointer writes; a `setTimeout` for each request costs about a
 * microsecond). One interval drives all timers and sleeps while there are none.
 */
export class Timers {
  readonly #slots: Entry[] = Array.from({ length: SLOTS }, () => new Entry(0, null, NOTHING, UNGUARDED))
  #step = 0
  #count = 0
  #clock: NodeJS.Timeout | null = null
  readonly #now: () => number
  /** Instant of step 0. */
  #epoch = 0
  /** Called when the first timer starts: the front begins to work. */
  onBegin: () => void = () => undefined
  #hasBegun = false

  /** @param now monotonic milliseconds */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Running timers: zero when the front is idle. */
  get count(): number {
    return this.#count
  }

  /** True while there are timers, and for one step more. */
  get isRunning(): boolean {
    return this.#clock !== null
  }

  /** Returns whether there were timers since the last call. */
  wereUsed(): boolean {
    const wereUsed = this.#hasBegun || this.isRunning
    this.#hasBegun = false
    return wereUsed
  }

  /**
   * Calls `fire` once after `ms`, unless stopped. `fire` must not throw.
   * @param from the present instant, if the caller has just read it
   * @param guard calls `fire`, which may then throw
   */
  start(ms: number, fire: TimerEnd, from = this.#now(), guard: TimerGuard = UNGUARDED): Timer {
    if (this.#clock === null) this.#wake()
    const entry = new Entry(this.stepAfter(ms, from), this, fire, guard)
    this.#place(entry)
    this.#count++
    return entry
  }

  /** The step that ends `ms` after an instant. */
  stepAfter(ms: number, from = this.#now()): number {
    // One step is added, since the current step is already partly over.
    const step = Math.floor((from - this.#epoch + ms) / TIMER_STEP_MS) + 1
    return Math.max(step, this.#step + 1)
  }

  #place(entry: Entry): void {
    const slot = this.#slots[entry.step % SLOTS]
    if (slot !== undefined) entry.insertAfter(slot)
  }

  /** Called by an entry that was removed from its slot. */
  left(): void {
    this.#count--
  }

  #wake(): void {
    this.#epoch = this.#now()
    this.#step = 0
    this.#clock = setInterval(() => this.#tick(), TIMER_STEP_MS)
    this.#clock.unref()
    this.#hasBegun = true
    this.onBegin()
  }

  #tick(): void {
    const now = Math.floor((this.#now() - this.#epoch) / TIMER_STEP_MS)
    // After a blocked loop one round of the wheel visits every slot.
    const from = Math.max(this.#step + 1, now - SLOTS + 1)
    this.#step = now
    for (let step = from; step <= now; step++) this.#fireSlot(step % SLOTS, now)
    if (this.#count > 0 || this.#clock === null) return
    clearInterval(this.#clock)
    this.#clock = null
  }

  #fireSlot(index: number, now: number): void {
    const head = this.#slots[index]
    const due: Entry[] = []
    for (let entry = head?.next; entry !== undefined && entry !== head; entry = entry.next) {
      if (entry.step <= now || entry.step % SLOTS !== index) due.push(entry)
    }
    for (const entry of due) {
      // A timer that fires may have stopped another.
      if (!entry.isRunning) continue
      if (entry.step <= now) entry.fire()
      else this.#move(entry)
    }
  }

  /** Moves a postponed timer, which stays in the slot of its old end until that slot is visited. */
  #move(entry: Entry): void {
    entry.unlink()
    this.#place(entry)
  }
}

/** A node of a ring whose head is the slot; a node that points at itself is in no ring. */
class Entry implements Timer {
  step: number
  readonly #owner: Timers | null
  readonly #fire: TimerEnd
  readonly #guard: TimerGuard
  #previous: Entry = this
  next: Entry = this

  constructor(step: number, owner: Timers | null, fire: TimerEnd, guard: TimerGuard) {
    this.step = step
    this.#owner = owner
    this.#fire = fire
    this.#guard = guard
  }

  get isRunning(): boolean {
    return this.next !== this
  }

  insertAfter(head: Entry): void {
    this.#previous = head
    this.next = head.next
    head.next.#previous = this
    head.next = this
  }

  unlink(): void {
    this.#previous.next = this.next
    this.next.#previous = this.#previous
    this.#previous = this
    this.next = this
  }

  stop(): void {
    if (!this.isRunning) return
    this.unlink()
    this.#owner?.left()
  }

  putOff(ms: number): void {
    if (!this.isRunning || this.#owner === null) return
    this.step = Math.max(this.step, this.#owner.stepAfter(ms))
  }

  fire(): void {
    this.stop()
    this.#guard.guard(this.#fire)
  }
}

/** Calls the end of a timer, or another callback of the same form. */
export function ended(act: TimerEnd): void {
  if (typeof act === 'function') act()
  else act.timeUp()
}

const NOTHING = (): void => undefined
const UNGUARDED: TimerGuard = { guard: ended }
