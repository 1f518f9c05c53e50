import { Fleet } from '../../../src/server/supervisor/fleet/fleet.ts'
import type { FleetChild } from '../../../src/server/supervisor/fleet/slots.ts'
import type { ChildPart, Role } from '../../../src/server/supervisor/fleet/ipc.ts'
import { keptLog } from '../log.ts'
import type { Teardown } from '../teardown.ts'

/** A child without a process: the test says when it is ready and when it ends. */
export class ScriptedChild implements FleetChild {
  readonly id: string
  readonly role: Role
  readonly pid: number
  readonly isSpare: boolean
  readonly ended: Promise<string>
  isReady = false
  hasStore = true
  hasReachedStore = true
  isGone = false
  pulses = 0
  isDebugged = false
  /** Calls before its last heartbeat. */
  hasCalls = true
  /** What it was started with. */
  part: ChildPart | null = null
  /** `isReplaced` of every drain that it was sent. */
  readonly drains: boolean[] = []
  /** What it answers when it is asked for its keys; null: it does not. */
  keys: string | null = null
  /** The number of sweeps that it was sent. */
  sweeps = 0
  /** The keys that it was sent to begin with. */
  readonly begunWith: string[] = []
  /** Counts of the node's connections that it was sent while it served. */
  readonly scalings: number[] = []
  #end: (how: string) => void = () => undefined
  #start: (isReady: boolean) => void = () => undefined

  constructor(role: Role, { pid, isSpare }: { pid: number; isSpare: boolean }) {
    this.id = `child-${pid}`
    this.role = role
    this.pid = pid
    this.isSpare = isSpare
    this.ended = new Promise((resolve) => {
      this.#end = resolve
    })
  }

  start(part: ChildPart): Promise<boolean> {
    this.part = part
    return new Promise((resolve) => {
      this.#start = resolve
    })
  }

  ready(): void {
    this.isReady = true
    this.#start(true)
  }

  end(how = 'exit code 1'): void {
    if (this.isGone) return
    this.isGone = true
    this.#end(how)
    this.#start(false)
  }

  kill(): void {
    this.end('SIGKILL')
  }

  drain(isReplaced: boolean): void {
    this.drains.push(isReplaced)
  }

  announce(): void {}

  rollUp(): Promise<boolean> {
    return Promise.resolve(false)
  }

  scaled(connections: number): void {
    this.scalings.push(connections)
  }

  snapshot(): Promise<unknown> {
    return Promise.resolve(null)
  }

  look(): Promise<null> {
    return Promise.resolve(null)
  }

  knownKeys(): Promise<string | null> {
    return Promise.resolve(this.keys)
  }

  sweep(): void {
    this.sweeps++
  }

  beginWith(keys: string): void {
    this.begunWith.push(keys)
  }
}

export interface ScriptedFleet {
  readonly fleet: Fleet
  readonly log: ReturnType<typeof keptLog>
  /** All that were forked, in order. */
  readonly forked: readonly ScriptedChild[]
  /** Why the fleet gave up. */
  readonly crashLoops: readonly string[]
  /** Those that were started and have not ended. */
  serving(): readonly ScriptedChild[]
  /** The child that was started last and is neither ready nor gone; waits until there is one. */
  starting(): Promise<ScriptedChild>
  /** From now on every child is ready as soon as it is started. */
  readyAtOnce(): void
}

/** A fleet whose processes follow the test; they end with it. */
export function scriptedFleet(t: Teardown, { retiredMsMax = 60_000, spareDelayMs = 0 } = {}): ScriptedFleet {
  const forked: ScriptedChild[] = []
  const crashLoops: string[] = []
  const log = keptLog()
  let isEager = false
  const eager = (child: ScriptedChild): void => {
    const { start } = child
    child.start = (part) => {
      const ready = start.call(child, part)
      if (isEager) child.ready()
      return ready
    }
  }
  const fleet = new Fleet({
    fork(role, isSpare) {
      const child = new ScriptedChild(role, { pid: forked.length + 1, isSpare })
      eager(child)
      forked.push(child)
      return child
    },
    log,
    retiredMsMax,
    spareDelayMs,
    onCrashLoop: (reason) => crashLoops.push(reason),
  })
  t.teardown(() => fleet.killAll())
  return {
    fleet,
    log,
    forked,
    crashLoops,
    serving: () => forked.filter((child) => child.part !== null && !child.isGone),
    async starting() {
      for (let turn = 0; turn < TURNS_MAX; turn++) {
        const child = forked.findLast(({ part, isReady, isGone }) => part !== null && !isReady && !isGone)
        if (child !== undefined) return child
        await turnOfLoop()
      }
      throw new Error('no child is being started')
    },
    readyAtOnce() {
      isEager = true
    },
  }
}

const TURNS_MAX = 100

/** Lets everything run that is due. */
export function turnOfLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Parts of one generation, distinguished by `mark`. */
export function partsOf(fronts: number, mark: string, sessionThreads = 1): readonly ChildPart[] {
  return Array.from({ length: fronts }, (_, slot) => ({
    role: 'front' as const,
    slot,
    node: 'node',
    settings: { SLUICE_CATALOG: mark },
    providerKeys: {},
    databaseUrl: 'postgres://h/d',
    redis: { socketPath: '/s' },
    sessionThreads,
    connections: fronts,
  }))
}

/** By slot: the generation that serves there. */
export function generationsOf(children: readonly ScriptedChild[]): readonly string[] {
  return children
    .filter(({ isReady, drains }) => isReady && drains.length === 0)
    .map(({ part }) => `${part?.slot ?? -1}:${part?.settings['SLUICE_CATALOG'] ?? ''}`)
    .sort()
}
