import type { Log } from '../../ports/observe.ts'
import type { HistoryHour } from '../../ports/operator/history.ts'
import type { LiveReading } from '../../observe/live-reader.ts'
import type { ChildPart, Role } from './ipc.ts'
import type { ChildMetrics } from '../node-setup.ts'
import { RetiredChildren } from './retired.ts'
import { SilenceWatch } from './silence.ts'
import {
  inTurn,
  isSamePlace,
  isSpared,
  threadsOf,
  type FleetChild,
  type RollInput,
  type Slot,
} from './slots.ts'
import { CRASH_LOOP_EXITS, SpareFront } from './spare.ts'
import { StartRefused } from '../start-refused.ts'

/** Milliseconds that dead fronts wait until the first of them serves again. Decision. */
const FIRST_BACK_MS_MAX = 2_000
/** Milliseconds from the return of a dead front until another spare is preloaded: further fronts may die. Decision. */
const SPARE_AGAIN_MS = 2_000

export interface FleetOptions {
  readonly fork: (role: Role, isAhead: boolean) => FleetChild
  readonly log: Log
  /** Milliseconds after which a replaced child that has not ended is killed. */
  readonly retiredMsMax: number
  /** Milliseconds from the first calls until a spare front is preloaded; 0: at once. */
  readonly spareDelayMs: number
  /** Reports that a child that ran before cannot be started again: the node has to stop. */
  readonly onCrashLoop: (reason: string) => void
}

/** One child in a look of the live view; the reading is null when the child did not answer in time. */
export interface ChildLook {
  readonly id: string
  readonly role: Role
  readonly pid: number
  readonly reading: LiveReading | null
}

/** The forked processes of a node: starts them, restarts dead ones, replaces them one by one, drains them. */
export class Fleet {
  readonly #options: FleetOptions
  #slots: Slot[] = []
  readonly #alive = new Set<FleetChild>()
  readonly #retired: RetiredChildren
  readonly #spare: SpareFront<FleetChild>
  /** The restart of a front that died; resolves in any case. */
  #comingBack: Promise<void> | null = null
  readonly #silence: SilenceWatch
  #isEnding = false
  #isAnnounced = false
  #restarts = 0

  constructor(options: FleetOptions) {
    this.#options = options
    this.#silence = new SilenceWatch(options.log)
    const { log, spareDelayMs, retiredMsMax } = options
    this.#retired = new RetiredChildren({ log, msMax: retiredMsMax, onEnd: () => this.#tellCount() })
    this.#spare = new SpareFront({
      fork: () => this.#fork('front', true),
      log,
      delayMs: spareDelayMs,
      isEnding: () => this.#isEnding,
    })
  }

  /** Children that died after they were ready, since the start. */
  get restarts(): number {
    return this.#restarts
  }

  /** Fronts that were killed because they hung, since the start. */
  get hangs(): number {
    return this.#silence.hangs
  }

  /** Fronts that have a place and do not respond. */
  get silent(): number {
    return this.#slots.filter(({ current }) => current !== null && this.#silence.isSilent(current)).length
  }

  /** Serving fronts whose connections to Postgres do not answer. */
  get withoutStore(): number {
    return this.#slots.filter((slot) => slot.part.role === 'front' && slot.current?.hasStore === false).length
  }

  countReady(role: Role): number {
    return this.#slots.filter((slot) => slot.part.role === role && this.#isServing(slot)).length
  }

  /**
   * To be called every SILENCE_LOOK_MS. A front that hangs is not ready and is killed in the end, also a replaced one.
   * While other fronts have calls, a spare is kept.
   */
  lookAtFronts(): { readonly haveCalls: boolean } {
    const fronts = [...this.#alive].filter((child) => child.role === 'front' && child.isReady)
    const haveCalls = fronts.some(({ hasCalls }) => hasCalls)
    this.#silence.look(fronts)
    this.#spare.look(haveCalls)
    return { haveCalls }
  }

  /** The number of children that should serve; in a roll that adds children, each new one counts as soon as it is ready. */
  countWanted(role: Role): number {
    return this.#slots.filter((slot) => slot.part.role === role).length
  }

  /** Threads for long sessions of all fronts together. */
  get sessionThreads(): { readonly ready: number; readonly wanted: number } {
    const fronts = this.#slots.filter((slot) => slot.part.role === 'front')
    return { ready: threadsOf(fronts.filter((slot) => this.#isServing(slot))), wanted: threadsOf(fronts) }
  }

  /** Resolves when every child is ready. Throws `StartRefused` in a crash loop. */
  async start(parts: readonly ChildPart[]): Promise<void> {
    this.#slots = parts.map((part) => ({ part, current: null, work: Promise.resolve() }))
    // The starts occupy the slots' turns, so that a roll during the start waits until each slot has its child.
    await Promise.all(
      this.#slots.map((slot) =>
        inTurn(slot, async () => {
          this.#occupy(slot, await this.#bringUp(slot.part))
        }),
      ),
    )
  }

  /** Reports that the ready line is written: children may write to the log, children that start later may do so at once. */
  announce(): void {
    this.#isAnnounced = true
    for (const { current } of this.#slots) current?.announce()
  }

  /**
   * Replaces children one by one, each new one ready before its predecessor drains; adds and drains slots where the
   * number changed. Stops at the first child that does not come up: added children are removed, the others stay. First
   * the roll waits until enough children of earlier rolls have ended, so that Postgres has connections for the new
   * ones. Resolves when every slot serves. Throws `StartRefused`, also when the node ends meanwhile.
   */
  async roll(parts: readonly ChildPart[], input: RollInput = {}): Promise<void> {
    await this.#retired.untilRoom(() => this.#slots, parts, input)
    const added: Slot[] = []
    try {
      for (const part of parts) await this.#place(part, input, added)
    } catch (problem) {
      // The drain of the node has already reached these children.
      if (!this.#isEnding) this.#remove(added)
      throw problem
    }
    this.#remove(this.#slots.filter(({ part }) => !parts.some((one) => isSamePlace(one, part))))
    // A child that died meanwhile is being restarted.
    await Promise.all(this.#slots.map(({ work }) => work))
    this.#tellCount()
  }

  async #place(part: ChildPart, input: RollInput, added: Slot[]): Promise<void> {
    this.#throwIfEnding()
    const slot = this.#slots.find((one) => isSamePlace(one.part, part))
    if (slot !== undefined) return inTurn(slot, () => this.#renew(slot, part, input))
    const child = await this.#bringUpWithStore(part)
    const next: Slot = { part, current: null, work: Promise.resolve() }
    this.#slots.push(next)
    added.push(next)
    this.#occupy(next, child)
  }

  async #renew(slot: Slot, part: ChildPart, input: RollInput): Promise<void> {
    if (slot.current === null || !isSpared(slot, part, input)) return this.#replace(slot, part)
    slot.part = part
  }

  #remove(slots: readonly Slot[]): void {
    this.#slots = this.#slots.filter((slot) => !slots.includes(slot))
    for (const slot of slots) this.#retire(slot)
  }

  /** Makes a serving runner remove the remains of a dead front; a runner that is still starting does so by itself. */
  sweep(): void {
    this.#runner?.sweep()
  }

  /** Has a runner write an hour of the history. @returns whether it did */
  async rollUp(hour: HistoryHour): Promise<boolean> {
    return (await this.#runner?.rollUp(hour)) === true
  }

  get #runner(): FleetChild | null {
    return this.#slots.find((slot) => slot.part.role === 'runner' && this.#isServing(slot))?.current ?? null
  }

  /**
   * Drains the children of a role: they finish what is in flight and end. Children that have not ended by the
   * deadline are killed.
   * @param idleMs milliseconds for which fronts keep connections without a call
   */
  async drain(role: Role, deadlineMs: number, idleMs = 0): Promise<void> {
    this.#isEnding = true
    const children = [...this.#alive].filter((child) => child.role === role)
    for (const child of children) {
      // A child that never was ready has nothing in flight and may not listen yet.
      if (child.isReady) child.drain(false, idleMs)
      else child.kill()
    }
    const timer = setTimeout(() => children.forEach((child) => child.kill()), deadlineMs)
    await Promise.all(children.map((child) => child.ended))
    clearTimeout(timer)
  }

  /** Kills all children and resolves when they are gone. */
  async killAll(): Promise<void> {
    this.#isEnding = true
    const children = [...this.#alive]
    for (const child of children) child.kill()
    await Promise.all(children.map((child) => child.ended))
  }

  /** Metrics of all children that still run when the result is complete. */
  async snapshots(): Promise<readonly ChildMetrics[]> {
    const ready = [...this.#alive].filter((child) => child.isReady)
    const all = await Promise.all(
      ready.map(async (child) => ({ id: child.id, metrics: await child.snapshot() })),
    )
    return all.filter((_, at) => ready[at]?.isGone === false)
  }

  /** Readings of all children that still serve or finish when the result is complete. */
  async looks(): Promise<readonly ChildLook[]> {
    const ready = [...this.#alive].filter((child) => child.isReady)
    const all = await Promise.all(
      ready.map(async (child) => {
        const { id, role, pid } = child
        return { child, look: { id, role, pid, reading: await child.look() } }
      }),
    )
    return all.filter(({ child }) => !child.isGone).map(({ look }) => look)
  }

  async #replace(slot: Slot, part: ChildPart): Promise<void> {
    const next = await this.#bringUpWithStore(part)
    this.#retire(slot)
    slot.part = part
    this.#occupy(slot, next)
    this.#spare.keep()
  }

  #retire(slot: Slot): void {
    const old = slot.current
    slot.current = null
    if (old !== null) this.#retired.drain(old)
  }

  /** A front has ended: the serving fronts get their larger shares at once, before their next heartbeat. */
  #tellCount(): void {
    for (const { current, part } of this.#slots)
      if (current?.isReady === true) current.scaled(part.connections)
  }

  /** A roll must not replace a working front by one that cannot check keys. */
  async #bringUpWithStore(part: ChildPart): Promise<FleetChild> {
    const child = await this.#bringUp(part)
    if (child.hasReachedStore) return child
    child.kill()
    throw new StartRefused(
      `the new ${part.role} ${part.slot} could not reach Postgres: the previous processes keep running`,
    )
  }

  async #bringUp(part: ChildPart): Promise<FleetChild> {
    for (let exits = 1; ; exits++) {
      this.#throwIfEnding()
      const child = (part.role === 'front' ? this.#spare.take() : null) ?? this.#fork(part.role, false)
      const starting = child.start(part)
      void this.#handKeys(child, part)
      const isReady = await starting
      // The drain of the node has reached this child already, or killed it.
      this.#throwIfEnding()
      if (isReady) {
        if (part.role === 'front') this.#spare.proved()
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

  /** Gives a new front the cached keys of its predecessor, or of another serving front when the predecessor is dead. */
  async #handKeys(to: FleetChild, { role, slot }: ChildPart): Promise<void> {
    if (role !== 'front') return
    const serving = this.#slots.filter((one) => one.part.role === role && this.#isServing(one))
    const from = (serving.find((one) => one.part.slot === slot) ?? serving[0])?.current
    to.beginWith((await from?.knownKeys()) ?? '')
  }

  #throwIfEnding(): void {
    if (this.#isEnding) throw new StartRefused('the node is shutting down')
  }

  #fork(role: Role, isAhead: boolean): FleetChild {
    const child = this.#options.fork(role, isAhead)
    this.#alive.add(child)
    void child.ended.then(() => this.#alive.delete(child))
    return child
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
      void inTurn(slot, () => this.#restart(slot))
    })
  }

  /** When no front is left, the first front to return, which is the spare, starts alone and can use all cores. */
  #firstBack({ role }: ChildPart): Promise<unknown> | null {
    if (role !== 'front' || this.#comingBack === null || this.countReady('front') > 0) return null
    return Promise.race([
      this.#comingBack,
      new Promise((resolve) => setTimeout(resolve, FIRST_BACK_MS_MAX).unref()),
    ])
  }

  #bringBack(part: ChildPart): Promise<FleetChild> {
    const bringing = this.#bringUp(part)
    if (part.role === 'front' && this.#comingBack === null) {
      const clear = (): void => {
        this.#comingBack = null
      }
      this.#comingBack = bringing.then(clear, clear)
    }
    return bringing
  }

  async #restart(slot: Slot): Promise<void> {
    const first = this.#firstBack(slot.part)
    // With null, nothing may be awaited here: of several fronts that die together, only one may be the first.
    if (first !== null) await first
    if (slot.current !== null || this.#isEnding || !this.#slots.includes(slot)) return
    try {
      const child = await this.#bringBack(slot.part)
      // A roll to fewer fronts may have removed the slot meanwhile.
      if (!this.#slots.includes(slot)) return this.#retired.drain(child)
      this.#occupy(slot, child)
      this.#spare.keep(SPARE_AGAIN_MS)
      const place = { child: slot.part.role, slot: slot.part.slot }
      this.#options.log.info('child_restarted', { ...place, pid: child.pid })
    } catch (problem) {
      const reason = problem instanceof Error ? problem.message : String(problem)
      if (!this.#isEnding && this.#slots.includes(slot)) this.#options.onCrashLoop(reason)
    }
  }

  #isServing({ current }: Slot): boolean {
    return current?.isReady === true && current.hasReachedStore && !this.#silence.isSilent(current)
  }
}
