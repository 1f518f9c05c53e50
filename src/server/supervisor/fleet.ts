import type { Log } from '../ports/observe.ts'
import type { Child } from './child.ts'
import type { ChildPart, Role } from './ipc.ts'
import type { ChildMetrics } from './node-parts.ts'
import { StartRefused } from './start-refused.ts'

/** Exits in a row before `ready` that make a crash loop. Design §2. */
const CRASH_LOOP_EXITS = 5

/** What a fleet needs of a forked process. */
export type FleetChild = Pick<
  Child, 'id' | 'role' | 'pid' | 'ended' | 'isGone' | 'isReady' | 'start' | 'announce' | 'drain' | 'kill' | 'snapshot'
>

export interface FleetOptions {
  readonly fork: (role: Role, isAhead: boolean) => FleetChild
  readonly log: Log
  /** Milliseconds after which a replaced child that has not ended is killed. */
  readonly retiredMsMax: number
  /** A child that ran before cannot be brought up again: the node has to stop. */
  readonly onCrashLoop: (reason: string) => void
}

/** A place in the fleet: one child that serves, its replacements queued behind each other. */
interface Slot {
  part: ChildPart
  current: FleetChild | null
  work: Promise<void>
}

/**
 * The forked processes of a node: brings them up, restarts the dead, replaces them one by one, drains them.
 */
export class Fleet {
  readonly #options: FleetOptions
  #slots: Slot[] = []
  readonly #alive = new Set<FleetChild>()
  /** The ends of those that were replaced and still finish what they had. */
  readonly #retired = new Set<Promise<unknown>>()
  /** A front that is loaded and not started: it takes the place of the next one that dies or is replaced. */
  #spare: FleetChild | null = null
  /** Since a front last came up well. */
  #sparesLost = 0
  #isEnding = false
  #isAnnounced = false
  #restarts = 0

  constructor(options: FleetOptions) {
    this.#options = options
  }

  /** Children that died after they were ready, since the start. */
  get restarts(): number {
    return this.#restarts
  }

  countReady(role: Role): number {
    return this.#slots.filter((slot) => slot.part.role === role && slot.current?.isReady === true).length
  }

  /** Resolves when every child is ready. Throws `StartRefused` in a crash loop. */
  async start(parts: readonly ChildPart[]): Promise<void> {
    this.#slots = parts.map((part) => ({ part, current: null, work: Promise.resolve() }))
    // In turn, so that a roll that is asked for meanwhile finds each slot occupied.
    await Promise.all(this.#slots.map((slot) => this.#inTurn(slot, async () => {
      this.#occupy(slot, await this.#bringUp(slot.part))
    })))
    this.#keepSpare()
  }

  /** The ready line is out: children may write to the log, those that come later at once. */
  announce(): void {
    this.#isAnnounced = true
    for (const { current } of this.#slots) current?.announce()
  }

  /**
   * Replaces every child, one by one, each new one ready before its predecessor drains; adds and drains slots
   * where the number changed. Stops at the first replacement that does not come up: the others stay as they
   * were. Waits first for those that the roll before it replaced: Postgres has connections for two generations.
   * Throws `StartRefused`, also when the node ends meanwhile.
   */
  async roll(parts: readonly ChildPart[]): Promise<void> {
    if (this.#retired.size > 0) this.#options.log.info('roll_waits', { retired: this.#retired.size })
    await Promise.all(this.#retired)
    for (const part of parts) {
      this.#throwIfEnding()
      const slot = this.#slots.find((one) => one.part.role === part.role && one.part.slot === part.slot)
      if (slot === undefined) {
        const added: Slot = { part, current: null, work: Promise.resolve() }
        this.#occupy(added, await this.#bringUp(part))
        this.#slots.push(added)
      } else await this.#inTurn(slot, () => this.#replace(slot, part))
    }
    const isKept = ({ part: { role, slot } }: Slot): boolean =>
      parts.some((part) => part.role === role && part.slot === slot)
    const surplus = this.#slots.filter((slot) => !isKept(slot))
    this.#slots = this.#slots.filter(isKept)
    for (const slot of surplus) this.#retire(slot)
  }

  /** Children of the role finish what is in flight and end; those that have not by then are killed. */
  async drain(role: Role, deadlineMs: number): Promise<void> {
    this.#isEnding = true
    const children = [...this.#alive].filter((child) => child.role === role)
    for (const child of children) {
      // One that never was ready has nothing in flight and may not listen yet.
      if (child.isReady) child.drain(false)
      else child.kill()
    }
    const timer = setTimeout(() => children.forEach((child) => child.kill()), deadlineMs)
    await Promise.all(children.map((child) => child.ended))
    clearTimeout(timer)
  }

  /** Resolves when they are gone. */
  async killAll(): Promise<void> {
    this.#isEnding = true
    const children = [...this.#alive]
    for (const child of children) child.kill()
    await Promise.all(children.map((child) => child.ended))
  }

  /** Metrics of all children that run when it resolves. */
  async snapshots(): Promise<readonly ChildMetrics[]> {
    const ready = [...this.#alive].filter((child) => child.isReady)
    const all = await Promise.all(ready.map(async (child) => ({ id: child.id, metrics: await child.snapshot() })))
    return all.filter((_, at) => ready[at]?.isGone === false)
  }

  async #replace(slot: Slot, part: ChildPart): Promise<void> {
    const next = await this.#bringUp(part)
    this.#retire(slot)
    slot.part = part
    this.#occupy(slot, next)
    this.#keepSpare()
  }

  #retire(slot: Slot): void {
    const old = slot.current
    slot.current = null
    if (old !== null) this.#drainReplaced(old)
  }

  #drainReplaced(child: FleetChild): void {
    if (child.isGone) return
    child.drain(true)
    const timer = setTimeout(() => {
      this.#options.log.warn('replaced_child_killed', { child: child.role, pid: child.pid })
      child.kill()
    }, this.#options.retiredMsMax)
    const end = child.ended.then(() => {
      clearTimeout(timer)
      this.#retired.delete(end)
    })
    this.#retired.add(end)
  }

  async #bringUp(part: ChildPart): Promise<FleetChild> {
    for (let exits = 1; ; exits++) {
      this.#throwIfEnding()
      const child = this.#takeSpare(part.role) ?? this.#fork(part.role, false)
      const isReady = await child.start(part)
      // Who drains the node has told this child already, or killed it.
      this.#throwIfEnding()
      if (isReady) {
        if (part.role === 'front') this.#sparesLost = 0
        return child
      }
      const how = await child.ended
      this.#options.log.warn('child_failed', { child: part.role, slot: part.slot, how, exits })
      if (exits >= CRASH_LOOP_EXITS) {
        const times = `ended ${exits} times in a row before it was ready`
        throw new StartRefused(`${part.role} ${part.slot} ${times}; the last time: ${how}`)
      }
    }
  }

  #throwIfEnding(): void {
    if (this.#isEnding) throw new StartRefused('the node is ending')
  }

  #fork(role: Role, isAhead: boolean): FleetChild {
    const child = this.#options.fork(role, isAhead)
    this.#alive.add(child)
    void child.ended.then(() => this.#alive.delete(child))
    return child
  }

  #takeSpare(role: Role): FleetChild | null {
    const spare = this.#spare
    if (role !== 'front' || spare === null || spare.isGone) return null
    this.#spare = null
    return spare
  }

  /** Loading is most of what a front needs to come back, so one is always loaded ahead. */
  #keepSpare(): void {
    if (this.#spare !== null || this.#isEnding || this.#sparesLost >= CRASH_LOOP_EXITS) return
    const spare = this.#fork('front', true)
    this.#spare = spare
    void spare.ended.then((how) => {
      if (this.#spare !== spare) return
      this.#spare = null
      if (this.#isEnding) return
      this.#sparesLost++
      // The next front that comes up well has one made again.
      const isLast = this.#sparesLost >= CRASH_LOOP_EXITS
      this.#options.log.warn('spare_lost', { pid: spare.pid, how, losses: this.#sparesLost, isLast })
      this.#keepSpare()
    })
  }

  #occupy(slot: Slot, child: FleetChild): void {
    slot.current = child
    if (this.#isAnnounced) child.announce()
    void child.ended.then((how) => {
      if (slot.current !== child || this.#isEnding) return
      slot.current = null
      this.#restarts++
      const place = { child: slot.part.role, slot: slot.part.slot }
      this.#options.log.error('child_ended', { ...place, pid: child.pid, how })
      void this.#inTurn(slot, () => this.#restart(slot))
    })
  }

  async #restart(slot: Slot): Promise<void> {
    if (slot.current !== null || this.#isEnding || !this.#slots.includes(slot)) return
    try {
      const child = await this.#bringUp(slot.part)
      // A roll to fewer fronts may have taken the slot away meanwhile.
      if (!this.#slots.includes(slot)) return this.#drainReplaced(child)
      this.#occupy(slot, child)
      this.#keepSpare()
      const place = { child: slot.part.role, slot: slot.part.slot }
      this.#options.log.info('child_restarted', { ...place, pid: child.pid })
    } catch (problem) {
      const reason = problem instanceof Error ? problem.message : String(problem)
      if (!this.#isEnding && this.#slots.includes(slot)) this.#options.onCrashLoop(reason)
    }
  }

  /** A restart and a replacement of one slot never run at once. */
  #inTurn(slot: Slot, step: () => Promise<void>): Promise<void> {
    const turn = slot.work.then(step)
    slot.work = turn.catch(() => undefined)
    return turn
  }
}
