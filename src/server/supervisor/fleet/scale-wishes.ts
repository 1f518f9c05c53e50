import { randomUUID } from 'node:crypto'
import { chownSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../ports/observe.ts'
import { runningSupervisor, SCALE_FILES, type DataDirectory } from '../data-directory/data-directory.ts'
import { readOwn, writePrivate } from '../data-directory/own-folder.ts'
import { isRunning } from './process-state.ts'
import type { Counts, ScaleEnd, ScaleWish } from './scaling.ts'

/** Wishes that may wait or be answered and not yet read. Decision. */
export const SCALE_WISHES_MAX = 16
/** Milliseconds between two looks at the answer. */
const LOOK_MS = 100
const WISH_NAME = /^scale-[0-9a-f-]{36}\.json$/

/** One file per wish: who wishes writes it, the node writes its answer over it, and who wished takes it away. */
type WishFile = ({ readonly state: 'asked' } & ScaleWish) | { readonly state: 'taken' } | ScaleEnd

export interface WishDeskOptions {
  readonly data: Pick<DataDirectory, 'names' | 'read' | 'remove' | 'writePrivate'>
  readonly log: Pick<Log, 'error'>
  scale(wish: ScaleWish): Promise<ScaleEnd>
}

/** The node's side: takes the wishes that lie in the data directory, and answers each. */
export class WishDesk {
  readonly #options: WishDeskOptions
  /** Those taken and not yet answered, and those answered, oldest first. */
  readonly #open = new Set<string>()
  readonly #answered: string[] = []

  constructor(options: WishDeskOptions) {
    this.#options = options
  }

  /** A wish that cannot be read keeps who wished waiting, and nobody else. */
  look(): void {
    for (const name of this.#tried([], () => this.#options.data.names(SCALE_FILES))) {
      this.#tried(undefined, () => this.#take(name))
    }
  }

  #tried<T>(otherwise: T, read: () => T): T {
    try {
      return read()
    } catch (cause) {
      this.#options.log.error('scale_not_read', { cause })
      return otherwise
    }
  }

  #take(name: string): void {
    if (!WISH_NAME.test(name) || this.#open.has(name) || this.#answered.includes(name)) return
    const wish = wishOf(this.#options.data.read(name))
    if (wish === null) return
    if (this.#open.size >= SCALE_WISHES_MAX) {
      return this.#answer(name, { state: 'refused', reason: `${SCALE_WISHES_MAX} wait already` })
    }
    this.#open.add(name)
    this.#write(name, { state: 'taken' })
    void this.#options.scale(wish).then((end) => {
      this.#open.delete(name)
      this.#answer(name, end)
    })
  }

  #answer(name: string, end: ScaleEnd): void {
    this.#write(name, end)
    this.#answered.push(name)
    if (this.#answered.length <= SCALE_WISHES_MAX) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined) this.#options.data.remove(oldest)
  }

  #write(name: string, file: WishFile): void {
    try {
      this.#options.data.writePrivate(name, JSON.stringify(file))
    } catch (cause) {
      this.#options.log.error('scale_not_told', { cause })
    }
  }
}

/** Leaves a wish in the data directory, readable for the node also when root wishes. Throws what the system says. */
export function leaveWish(path: string, wish: ScaleWish): string {
  const name = `${SCALE_FILES}${randomUUID()}.json`
  writePrivate(path, name, JSON.stringify({ state: 'asked', ...wish }))
  const { uid, gid } = statSync(path)
  if (uid !== process.geteuid?.()) chownSync(join(path, name), uid, gid)
  return name
}

/** Waits for the answer and takes it away. Null when the node ended first. */
export async function untilScaled(path: string, name: string): Promise<ScaleEnd | null> {
  const node = runningSupervisor(path)
  try {
    while (node !== null && isRunning(node)) {
      const end = endOf(readOwn(path, name))
      if (end !== null) return end
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
    return null
  } finally {
    rmSync(join(path, name), { force: true })
  }
}

function wishOf(text: string | null): ScaleWish | null {
  const value = parsed(text)
  if (value === null || value['state'] !== 'asked') return null
  const { fronts = null, workers = null } = value
  return isCount(fronts) && isCount(workers) ? { fronts, workers } : null
}

function endOf(text: string | null): ScaleEnd | null {
  const { state, reason, before, now } = parsed(text) ?? {}
  if (state === 'refused' && typeof reason === 'string') return { state, reason }
  return state === 'done' && isCounts(before) && isCounts(now) ? { state, before, now } : null
}

/** Null also for what is no object of JSON. */
function parsed(text: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text ?? 'null')
    return typeof value === 'object' && value !== null ? { ...value } : null
  } catch {
    return null
  }
}

function isCount(value: unknown): value is number | null {
  return value === null || typeof value === 'number'
}

function isCounts(value: unknown): value is Counts {
  return typeof value === 'object' && value !== null
    && ['fronts', 'workers'].every((name) => typeof Reflect.get(value, name) === 'number')
}
