import type { Child } from './child.ts'
import type { ChildPart } from './ipc.ts'

/** The part of a forked process that a fleet uses. */
export type FleetChild = Pick<
  Child,
  | 'id'
  | 'role'
  | 'pid'
  | 'ended'
  | 'isGone'
  | 'isReady'
  | 'hasStore'
  | 'hasReachedStore'
  | 'start'
  | 'announce'
  | 'scaled'
  | 'drain'
  | 'kill'
  | 'snapshot'
  | 'look'
  | 'pulses'
  | 'hasCalls'
  | 'isDebugged'
  | 'knownKeys'
  | 'beginWith'
  | 'sweep'
  | 'rollUp'
>

/** A place in the fleet with one serving child; replacements of the child run one after another. */
export interface Slot {
  part: ChildPart
  current: FleetChild | null
  work: Promise<void>
}

export interface RollInput {
  /** True: children whose work is unchanged stay; for them only the total number of children changed. */
  readonly isSparing?: boolean
}

export function isSamePlace(one: ChildPart, other: ChildPart): boolean {
  return one.role === other.role && one.slot === other.slot
}

export function isSpared({ part }: Slot, next: ChildPart, { isSparing = false }: RollInput): boolean {
  return isSparing && part.sessionThreads === next.sessionThreads
}

export function threadsOf(slots: readonly Slot[]): number {
  return slots.reduce((sum, { part }) => sum + part.sessionThreads, 0)
}

/** A restart and a replacement of one slot never run at the same time. */
export function inTurn(slot: Slot, step: () => Promise<void>): Promise<void> {
  const turn = slot.work.then(step)
  slot.work = turn.catch(() => undefined)
  return turn
}
