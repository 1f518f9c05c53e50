import { NoHost } from '../../schemas/values/store-urls.ts'
import type { ReadinessView } from '../../schemas/operator/live-view.ts'
import type { Log } from '../ports/observe.ts'
import { every, type Repetition } from '../structures/ticks.ts'
import type { NodeRedis } from './node-setup.ts'

export type DependencyName = keyof ReadinessView['dependencies']

export interface Watched {
  readonly mode: string
  /** Resolves within a second; false on any doubt. A rejection has the reason for the log. */
  isUp(): Promise<boolean>
}

export interface ReadinessOptions {
  readonly postgres: Watched
  readonly redis: Watched & Pick<NodeRedis, 'onChange'>
  /** The disks that the node writes to. */
  readonly storage: Watched
  readonly log: Log
  /** Milliseconds for which fronts keep working without Postgres. */
  readonly keyGraceMs: () => number
  /** Postgres is older than the data directory, and paid calls are refused. */
  readonly isMoneyRefused?: () => boolean
  readonly now: () => number
  readonly onChange?: (name: DependencyName, isUp: boolean) => void
}

/**
 * Milliseconds between two checks of a dependency: together with the timeout of a check, a change is seen within 2 s.
 * Redis is also checked whenever its connection changes, since a check finds a lost Redis only after that timeout.
 */
const LOOK_MS = 1_000
/** Lines about the state of Postgres' hosts that are logged in one outage. Decision. */
const HOST_LINES_MAX = 5
const NAMES: readonly DependencyName[] = ['postgres', 'redis', 'storage']
const EFFECTS: Readonly<Record<DependencyName, string>> = {
  postgres: 'known keys are served from memory for SLUICE_KEY_GRACE; other keys and changes have to wait',
  storage: 'the disk is full: uploads are refused, and so are paid calls if the journal cannot be written',
  redis: 'each front process applies an equal share of every rate limit; front processes poll for changes',
}

export class ReadinessWatch {
  readonly #options: ReadinessOptions
  readonly #sinceMs: Record<DependencyName, number>
  readonly #isUp: Record<DependencyName, boolean> = { postgres: true, redis: true, storage: true }
  readonly #looking = new Set<DependencyName>()
  /** States of Postgres' hosts that were logged in the present outage. */
  readonly #hosts = new Set<string>()
  readonly #looks: Repetition
  readonly #leave: () => void

  constructor(options: ReadinessOptions) {
    this.#options = options
    this.#sinceMs = { postgres: options.now(), redis: options.now(), storage: options.now() }
    this.#looks = every(LOOK_MS, () => this.#look(NAMES))
    this.#leave = options.redis.onChange(() => this.#look(['redis']))
    this.#look(NAMES)
  }

  /**
   * @param children ready and wanted numbers of each role
   * @param fronts how many run and do not answer, and how many have no connection to Postgres
   */
  read(
    children: Pick<ReadinessView, 'fronts' | 'workers' | 'runners'>,
    fronts: { readonly silent: number; readonly withoutStore: number },
  ): ReadinessView {
    const reasons: string[] = NAMES.filter((name) => !this.#isUp[name]).map((name) => `${name}_down`)
    const downMs = this.#isUp.postgres ? 0 : this.#options.now() - this.#sinceMs.postgres
    const graceIsOver = downMs > this.#options.keyGraceMs()
    if (graceIsOver) reasons.push('key_grace_over')
    if (children.fronts.ready < children.fronts.wanted) reasons.push('fronts_missing')
    if (fronts.silent > 0) reasons.push('fronts_silent')
    // The supervisor has its own connection: a limit of the role or of the server may leave none for fronts.
    const isCutOff = this.#isUp.postgres && fronts.withoutStore > 0
    if (isCutOff) reasons.push('fronts_without_postgres')
    if (children.runners.ready < children.runners.wanted) reasons.push('runners_missing')
    if (this.#options.isMoneyRefused?.() === true) reasons.push('restore_not_accepted')
    const isUnavailable = graceIsOver || children.fronts.ready === 0
    return {
      status: isUnavailable ? 'unavailable' : reasons.length > 0 ? 'degraded' : 'ready',
      reasons,
      degraded: NAMES.filter((name) => !this.#isUp[name] || (name === 'postgres' && isCutOff)),
      dependencies: {
        postgres: this.#stateOf('postgres'),
        redis: this.#stateOf('redis'),
        storage: this.#stateOf('storage'),
      },
      ...children,
    }
  }

  isUp(name: DependencyName): boolean {
    return this.#isUp[name]
  }

  stop(): void {
    this.#looks.stop()
    this.#leave()
  }

  #stateOf(name: DependencyName): ReadinessView['dependencies'][DependencyName] {
    const isUp = this.#isUp[name]
    return {
      state: isUp ? 'up' : 'down',
      mode: this.#options[name].mode,
      since: new Date(this.#sinceMs[name]).toISOString(),
      ...(isUp ? {} : { effect: EFFECTS[name] }),
    }
  }

  #look(names: readonly DependencyName[]): void {
    for (const name of names) {
      // A check that hangs is a result too: the next check waits for it.
      if (this.#looking.has(name)) continue
      this.#looking.add(name)
      void this.#options[name]
        .isUp()
        .then(
          (isUp) => ({ isUp }),
          (cause: unknown) => ({ isUp: false, cause }),
        )
        .then((found) => {
          this.#looking.delete(name)
          this.#set(name, found)
        })
    }
  }

  #set(name: DependencyName, { isUp, ...why }: { readonly isUp: boolean; readonly cause?: unknown }): void {
    const isNews = this.#isUp[name] !== isUp
    const isNewsOfHosts = this.#noteHosts(why.cause)
    if (!isNews && !isNewsOfHosts) return
    if (isNews) this.#change(name, isUp)
    if (isUp) this.#options.log.info('dependency_up', { dependency: name })
    else this.#options.log.warn('dependency_down', { dependency: name, effect: EFFECTS[name], ...why })
  }

  #change(name: DependencyName, isUp: boolean): void {
    this.#isUp[name] = isUp
    this.#sinceMs[name] = this.#options.now()
    if (name === 'postgres' && isUp) this.#hosts.clear()
    this.#options.onChange?.(name, isUp)
  }

  /** An outage begins with a lost connection; the states of the single hosts of Postgres are known later. */
  #noteHosts(cause: unknown): boolean {
    if (!(cause instanceof NoHost) || this.#hosts.size >= HOST_LINES_MAX) return false
    const isNews = !this.#hosts.has(cause.message)
    this.#hosts.add(cause.message)
    return isNews
  }
}
