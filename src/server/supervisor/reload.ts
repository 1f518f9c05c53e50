import { isDeepStrictEqual } from 'node:util'
import { ConfigInvalid, type Config } from '../config.ts'
import type { Texts } from '../config/texts.ts'
import type { Fields } from '../ports/observe.ts'
import { warnOfKeys } from './announce.ts'
import { checkTls } from './checks.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { ChildPart } from './fleet/ipc.ts'
import type { NodeGeneration, NodeSetup } from './node-setup.ts'
import { NO_RELOAD, type ReloadRecord } from './reload-record.ts'
import {
  countsOf,
  standsOf,
  stillStanding,
  withStands,
  type Counts,
  type ScaleEnd,
  type ScaleInput,
  type Stands,
} from './fleet/scaling.ts'
import { connectionsNeeded } from './fleet/shares.ts'
import { StartRefused } from './start-refused.ts'

/** Settings that the supervisor itself depends on: a change needs a restart, and until then the old value stays in effect. */
const FIXED = {
  SLUICE_HOST: 'host',
  SLUICE_PORT: 'port',
  SLUICE_ADMIN_HOST: 'adminHost',
  SLUICE_ADMIN_PORT: 'adminPort',
  SLUICE_DATA: 'dataDir',
  SLUICE_LOG_FORMAT: 'logFormat',
  DATABASE_URL: 'databaseUrl',
  REDIS_URL: 'redisUrl',
  SLUICE_STORES_CA: 'databaseUrl',
  SLUICE_SENTINEL_PASSWORD: 'redisUrl',
  // Fronts of two generations would serve side by side, and one could not find or decrypt the objects of the other.
  SLUICE_OBJECTS: 'objects',
  SLUICE_ROOT_KEY: 'rootKey',
  SLUICE_ROOT_KEY_FILE: 'rootKeyFile',
} as const satisfies Readonly<Record<string, keyof Config>>
/**
 * Settings of TLS. A reload accepts new files, but does not turn TLS on or off: fronts with and without TLS would share
 * the port for a while.
 */
const TLS = ['SLUICE_TLS_CERT', 'SLUICE_TLS_KEY'] as const

export interface ReloadOptions {
  readonly setup: Pick<NodeSetup, 'log' | 'rereadGeneration'>
  readonly fleet: Pick<Fleet, 'roll'>
  readonly first: NodeGeneration
  childSetup(generation: NodeGeneration): readonly ChildPart[]
  /** May refuse the new generation (`StartRefused`). */
  check(generation: NodeGeneration): Promise<void>
  /** Reports that every child runs on this generation. */
  adopt(generation: NodeGeneration): void
  tell(record: ReloadRecord): void
}

/**
 * Re-reads the configuration and replaces the children, or changes their number: one step at a time.
 * Reloads that come during a roll become one reload after it.
 */
export class Reloader {
  readonly #options: ReloadOptions
  #current: NodeGeneration
  #record: ReloadRecord
  /** The generation as last read, before any stand. */
  #given: NodeGeneration
  #stands: Stands = {}
  #last: Promise<unknown> = Promise.resolve()
  #queued: Promise<void> | null = null
  #isEnded = false

  constructor(options: ReloadOptions) {
    this.#options = options
    this.#current = options.first
    this.#given = options.first
    this.#record = { ...NO_RELOAD, catalogFile: options.first.config.catalogFile }
    options.tell(this.#record)
  }

  get current(): NodeGeneration {
    return this.#current
  }

  /** The configured values of the numbers that `scale` changes. */
  get configured(): Counts {
    const { fronts, workers } = this.#given.config
    return { fronts, workers }
  }

  ask(): Promise<void> {
    this.#queued ??= this.#inTurn(async () => {
      this.#queued = null
      if (!this.#isEnded) await this.#reload()
    })
    return this.#queued
  }

  /** Changes the number of fronts or of threads, and resolves when the new number serves. The configuration is not read again. */
  scale(input: ScaleInput): Promise<ScaleEnd> {
    return this.#inTurn(() => this.#scale(input))
  }

  /** Ends the reloads, since the node drains: queued ones are dropped. */
  end(): void {
    this.#isEnded = true
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(step)
    this.#last = turn.catch(() => undefined)
    return turn
  }

  /** Reloads. An unusable configuration changes nothing: the node keeps running with the current one. */
  async #reload(): Promise<void> {
    const { setup, fleet, childSetup, check, adopt } = this.#options
    this.#tell({ number: this.#record.number + 1, state: 'running', reason: null, needRestart: [] })
    try {
      const { generation: read, moved } = withFixed(await setup.rereadGeneration(), this.#current)
      const stands = stillStanding(this.#stands, read.settings)
      const generation = withStands(read, stands)
      if (moved.length > 0) setup.log.warn('settings_need_restart', { settings: moved, fix: 'restart' })
      checkTls(generation)
      await check(generation)
      const startedAt = performance.now()
      await fleet.roll(childSetup(generation))
      this.#current = generation
      this.#given = read
      this.#stands = stands
      adopt(generation)
      warnOfKeys(generation.misplaced, setup.log)
      setup.log.info('reloaded', { durationMs: Math.round(performance.now() - startedAt) })
      this.#tell({ state: 'done', needRestart: moved, catalogFile: generation.config.catalogFile })
    } catch (problem) {
      setup.log.error('reload_refused', reasonOf(problem))
      this.#tell({ state: 'refused', reason: recordedReason(problem) })
    }
  }

  async #scale(input: ScaleInput): Promise<ScaleEnd> {
    const { setup, fleet, childSetup, check } = this.#options
    const before = countsOf(this.#current)
    try {
      if (this.#isEnded) throw new StartRefused('the node is shutting down')
      const stands = standsOf(input, this.#stands, this.#given.settings)
      const generation = withStands(this.#current, stands)
      const now = countsOf(generation)
      // A smaller number always fits, whatever other nodes hold now.
      if (connectionsNeeded(generation.config) > connectionsNeeded(this.#current.config))
        await check(generation)
      const startedAt = performance.now()
      if (!isDeepStrictEqual(before, now)) await fleet.roll(childSetup(generation), { isSparing: true })
      this.#current = generation
      this.#stands = stands
      setup.log.info('scaled', { ...now, durationMs: Math.round(performance.now() - startedAt) })
      return { state: 'done', before, now }
    } catch (problem) {
      setup.log.error('scale_refused', reasonOf(problem))
      return { state: 'refused', reason: recordedReason(problem) }
    }
  }

  #tell(change: Partial<ReloadRecord>): void {
    this.#record = { ...this.#record, ...change }
    try {
      this.#options.tell(this.#record)
    } catch (cause) {
      // When the disk is full, only `sluice reload` cannot get the result.
      this.#options.setup.log.error('reload_not_told', { cause })
    }
  }
}

/** The reason for the record: other errors may contain private data and stay in the log. */
function recordedReason(problem: unknown): string {
  const isForOperator = problem instanceof ConfigInvalid || problem instanceof StartRefused
  return isForOperator ? problem.message : 'an error; see the log of the node'
}

function reasonOf(problem: unknown): Fields {
  if (problem instanceof ConfigInvalid) return { problems: problem.problems }
  return problem instanceof StartRefused ? { reason: problem.message } : { cause: problem }
}

function withFixed(
  next: NodeGeneration,
  old: NodeGeneration,
): { readonly generation: NodeGeneration; readonly moved: readonly string[] } {
  const isTlsMoved = (next.config.tls === null) !== (old.config.tls === null)
  const names = [...Object.keys(FIXED), ...(isTlsMoved ? TLS : [])]
  const moved = names.filter((name) => next.settings[name] !== old.settings[name])
  const kept = Object.entries(FIXED).filter(([name]) => moved.includes(name))
  const config: Config = Object.freeze({
    ...next.config,
    ...Object.fromEntries(kept.map(([, member]) => [member, old.config[member]])),
    ...(isTlsMoved ? { tls: old.config.tls } : {}),
  })
  const settings = withOld(moved, next.settings, old.settings)
  return { generation: { ...next, config, settings, frozen: withOld(moved, next.frozen, old.frozen) }, moved }
}

function withOld(names: readonly string[], next: Texts, old: Texts): Texts {
  const texts: Record<string, string> = { ...next }
  for (const name of names) {
    const before = old[name]
    if (before === undefined) delete texts[name]
    else texts[name] = before
  }
  return texts
}
