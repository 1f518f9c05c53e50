/** The wall clock of nodes, which a test sets while they run; their stores and timers go on by their own. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Teardown } from '../teardown.ts'

/** Milliseconds after which a process looks again for how far its clock is off. */
const LOOK_MS = 10

export class SetClock {
  readonly #file: string
  /** Settings of nodes that follow this clock. */
  readonly settings: Readonly<Record<string, string>>
  #offsetMs = 0

  constructor(t: Teardown) {
    const folder = temporaryFolder(t, 'clock')
    this.#file = join(folder, 'offset')
    const preload = join(folder, 'clock.mjs')
    this.#write()
    writeFileSync(preload, preloadOf(this.#file))
    this.settings = { NODE_OPTIONS: `--import ${preload}` }
  }

  /** Unix milliseconds that the nodes read. */
  now(): number {
    return Date.now() + this.#offsetMs
  }

  /** Processes read it within LOOK_MS. */
  set(unixMs: number): void {
    this.#offsetMs = unixMs - Date.now()
    this.#write()
  }

  #write(): void {
    writeFileSync(`${this.#file}.new`, String(this.#offsetMs))
    renameSync(`${this.#file}.new`, this.#file)
  }
}

function preloadOf(file: string): string {
  return `
  import { readFileSync } from 'node:fs'
  const real = Date.now
  let [lookedAt, offsetMs] = [-Infinity, 0]
  Date.now = () => {
    const at = performance.now()
    if (at - lookedAt >= ${LOOK_MS}) {
      lookedAt = at
      offsetMs = Math.round(Number(readFileSync(${JSON.stringify(file)}, 'utf8')))
    }
    return real() + offsetMs
  }`
}
