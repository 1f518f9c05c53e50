import { ConfigInvalid } from '../config.ts'
import type { Fields } from '../ports/observe.ts'
import { checkTlsFiles } from './checks.ts'
import type { Fleet } from './fleet.ts'
import type { ChildPart } from './ipc.ts'
import type { NodeGeneration, NodeParts } from './node-parts.ts'
import { StartRefused } from './start-refused.ts'

/** What the supervisor itself stands on: changing it takes a restart, and until then the old value holds. */
const FIXED = [
  'SLUICE_HOST', 'SLUICE_PORT', 'SLUICE_ADMIN_HOST', 'SLUICE_ADMIN_PORT', 'SLUICE_DATA',
  'DATABASE_URL', 'REDIS_URL',
] as const

export interface ReloadOptions {
  readonly parts: NodeParts
  readonly fleet: Fleet
  readonly first: NodeGeneration
  childParts(generation: NodeGeneration): readonly ChildPart[]
  /** May refuse the new generation (`StartRefused`). */
  check(generation: NodeGeneration): Promise<void>
}

/** Re-reads the configuration and replaces the children; a request during a roll is done once, after it. */
export class Reloader {
  readonly #options: ReloadOptions
  #current: NodeGeneration
  #isRolling = false
  #isAskedAgain = false

  constructor(options: ReloadOptions) {
    this.#options = options
    this.#current = options.first
  }

  get current(): NodeGeneration {
    return this.#current
  }

  async ask(): Promise<void> {
    if (this.#isRolling) {
      this.#isAskedAgain = true
      return
    }
    this.#isRolling = true
    try {
      do {
        this.#isAskedAgain = false
        await this.#reload()
      } while (this.#isAskedAgain)
    } finally {
      this.#isRolling = false
    }
  }

  /** A configuration that cannot be used changes nothing: the node goes on with the one it has. */
  async #reload(): Promise<void> {
    const { parts, fleet, childParts, check } = this.#options
    try {
      const next = withFixed(parts.readGeneration(), this.#current)
      if (next.moved.length > 0) parts.log.warn('settings_need_restart', { settings: next.moved })
      if (next.generation.config.tls !== null) checkTlsFiles(next.generation.config.tls)
      await check(next.generation)
      const startedAt = performance.now()
      await fleet.roll(childParts(next.generation))
      this.#current = next.generation
      parts.log.info('reloaded', { durationMs: Math.round(performance.now() - startedAt) })
    } catch (problem) {
      parts.log.error('reload_refused', reasonOf(problem))
    }
  }
}

function reasonOf(problem: unknown): Fields {
  if (problem instanceof ConfigInvalid) return { problems: problem.problems }
  return problem instanceof StartRefused ? { reason: problem.message } : { cause: problem }
}

function withFixed(
  next: NodeGeneration,
  old: NodeGeneration,
): { readonly generation: NodeGeneration; readonly moved: readonly string[] } {
  const moved = FIXED.filter((name) => next.settings[name] !== old.settings[name])
  const settings: Record<string, string> = { ...next.settings }
  for (const name of moved) {
    const before = old.settings[name]
    if (before === undefined) delete settings[name]
    else settings[name] = before
  }
  return { generation: { ...next, settings }, moved }
}
