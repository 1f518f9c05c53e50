import type { Log } from '../../ports/observe.ts'
import type { ChildPart, Role } from './ipc.ts'
import { isSamePlace, isSpared, type FleetChild, type RollInput, type Slot } from './slots.ts'

interface Retired {
  readonly role: Role
  readonly child: FleetChild
  readonly end: Promise<unknown>
  /** It was notified that the next generation is waiting. */
  isHurried: boolean
}

export interface RetiredOptions {
  readonly log: Log
  /** Milliseconds after which a replaced child that has not ended is killed. */
  readonly msMax: number
  readonly onEnd: () => void
}

/** Replaced children that still finish their work. */
export class RetiredChildren {
  readonly #options: RetiredOptions
  readonly #retired = new Set<Retired>()

  constructor(options: RetiredOptions) {
    this.#options = options
  }

  drain(child: FleetChild): void {
    if (child.isGone) return
    child.drain(true)
    const timer = setTimeout(() => {
      this.#options.log.warn('replaced_child_killed', { child: child.role, pid: child.pid })
      child.kill()
    }, this.#options.msMax)
    const end = child.ended.then(() => {
      clearTimeout(timer)
      this.#retired.delete(retired)
      this.#options.onEnd()
    })
    const retired: Retired = { role: child.role, child, end, isHurried: false }
    this.#retired.add(retired)
  }

  /**
   * Postgres has connections for two generations of the larger number of children: when there is no room, a replaced
   * front with running streams is asked to end its calls soon.
   */
  async untilRoom(
    slots: () => readonly Slot[],
    parts: readonly ChildPart[],
    input: RollInput,
  ): Promise<void> {
    let isLogged = false
    for (;;) {
      const crowded = [...this.#retired].filter(({ role }) => !this.#hasRoom(role, slots(), parts, input))
      if (crowded.length === 0) return
      if (!isLogged) this.#options.log.info('roll_waits', { retired: crowded.length })
      isLogged = true
      for (const one of crowded) if (one.role === 'front') hurry(one)
      await Promise.race(crowded.map(({ end }) => end))
    }
  }

  #hasRoom(role: Role, all: readonly Slot[], parts: readonly ChildPart[], input: RollInput): boolean {
    const slots = all.filter((slot) => slot.part.role === role)
    const wanted = parts.filter((part) => part.role === role)
    const replaced = slots.filter((slot) =>
      wanted.some((part) => isSamePlace(part, slot.part) && !isSpared(slot, part, input)),
    )
    const retired = [...this.#retired].filter((one) => one.role === role)
    const most = Math.max(slots.length, wanted.length)
    return retired.length + replaced.length + most <= 2 * most
  }
}

function hurry(one: Retired): void {
  if (!one.isHurried) one.child.drain(false)
  one.isHurried = true
}
