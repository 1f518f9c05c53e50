import { randomUUID } from 'node:crypto'
import { chownSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../../ports/observe.ts'
import { runningSupervisor, SCALE_FILES, type DataDirectory } from '../data-directory/data-directory.ts'
import { readOwn, writePrivate } from '../data-directory/own-folder.ts'
import { isRunning } from './process-state.ts'
import type { Counts, ScaleEnd, ScaleInput } from './scaling.ts'

/** Scale requests that may be waiting, or answered and not yet read. Decision. */
export const SCALE_REQUESTS_MAX = 16
/** Milliseconds between two looks at the reply. */
const LOOK_MS = 100
/** Name of a request's file. */
const REQUEST_FILE = /^scale-[0-9a-f-]{36}\.json$/

/** One file per request: the command writes it, the node writes its reply over it, and the command removes it. */
type ScaleRequestFile = ({ readonly state: 'asked' } & ScaleInput) | { readonly state: 'taken' } | ScaleEnd

export interface ScaleDeskOptions {
  readonly data: Pick<DataDirectory, 'names' | 'read' | 'remove' | 'writePrivate'>
  readonly log: Pick<Log, 'error'>
  scale(input: ScaleInput): Promise<ScaleEnd>
}

/** The node's side: takes the scale requests from the data directory and answers each. */
export class ScaleDesk {
  readonly #options: ScaleDeskOptions
  /** Requests that were taken and not yet answered. */
  readonly #open = new Set<string>()
  /** Answered requests, oldest first. */
  readonly #answered: string[] = []

  constructor(options: ScaleDeskOptions) {
    this.#options = options
  }

  /** Takes all requests; an unreadable request blocks only its own command. */
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
    if (!REQUEST_FILE.test(name) || this.#open.has(name) || this.#answered.includes(name)) return
    const input = inputOf(this.#options.data.read(name))
    if (input === null) return
    if (this.#open.size >= SCALE_REQUESTS_MAX) {
      return this.#answer(name, {
        state: 'refused',
        reason: `${SCALE_REQUESTS_MAX} requests are already waiting`,
      })
    }
    this.#open.add(name)
    this.#write(name, { state: 'taken' })
    void this.#options.scale(input).then((end) => {
      this.#open.delete(name)
      this.#answer(name, end)
    })
  }

  #answer(name: string, end: ScaleEnd): void {
    this.#write(name, end)
    this.#answered.push(name)
    if (this.#answered.length <= SCALE_REQUESTS_MAX) return
    const oldest = this.#answered.shift()
    if (oldest !== undefined) this.#options.data.remove(oldest)
  }

  #write(name: string, file: ScaleRequestFile): void {
    try {
      this.#options.data.writePrivate(name, JSON.stringify(file))
    } catch (cause) {
      this.#options.log.error('scale_not_told', { cause })
    }
  }
}

/** Leaves a scale request in the data directory, readable for the node even when root writes it. Throws the system's error. */
export function leaveScaleRequest(path: string, input: ScaleInput): string {
  const name = `${SCALE_FILES}${randomUUID()}.json`
  writePrivate(path, name, JSON.stringify({ state: 'asked', ...input }))
  const { uid, gid } = statSync(path)
  if (uid !== process.geteuid?.()) chownSync(join(path, name), uid, gid)
  return name
}

/** Waits for the reply and removes it. Null when the node ended first. */
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

function inputOf(text: string | null): ScaleInput | null {
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

/** Null also for a text that is no JSON object. */
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
  return (
    typeof value === 'object' &&
    value !== null &&
    ['fronts', 'workers'].every((name) => typeof Reflect.get(value, name) === 'number')
  )
}
