import { API_PREFIX } from '../../schemas/api-prefix.ts'
import { commandName } from '../config.ts'
import {
  DRAIN_MS,
  REPLACED_CALLS_MS,
  REPLACED_FRONT_MS,
  SPARE_FRONT_MS,
} from '../../schemas/limits/limits.ts'
import { startAdmin, type AdminPort } from './admin-port/port.ts'
import { addressOf, originAt } from '../../schemas/values/origins.ts'
import { announce, DRAINING, sayOnTerminal, STOPPED } from './announce.ts'
import type { BannerKeys } from './banner.ts'
import { allowListenerMigration, checkTls, platformProblem, probePort } from './checks.ts'
import { childSetup, removeOtherCopies, type ChildPlace } from './fleet/child-setup.ts'
import { Child } from './fleet/child.ts'
import { HISTORY_FILE, openDataDirectory, type DataDirectory } from './data-directory/data-directory.ts'
import { firstKeys } from './data-directory/first-keys.ts'
import { disksOf, explainFullDisk, watchRoom } from './data-directory/disk-room.ts'
import { EndedEarly, EndRequest } from './end-request.ts'
import { Fleet } from './fleet/fleet.ts'
import type { Role } from './fleet/ipc.ts'
import { joinNodes, keepRedisMark } from './joining.ts'
import { FiguresWatch, gaugesOf } from './node-figures.ts'
import { NodeHistory } from './node-history.ts'
import type { NodeGeneration, NodeJournals, NodeSetup, NodeRedis, NodeStore } from './node-setup.ts'
import { ReadinessWatch } from './readiness.ts'
import { RedisRest } from './redis/redis-rest.ts'
import { writeReload } from './reload-record.ts'
import { Reloader } from './reload.ts'
import {
  checkConnections,
  checkRedis,
  prepareStore,
  REDIS_WAIT_MS,
  startServices,
  type Services,
  type Undo,
} from './services.ts'
import { ScaleDesk } from './fleet/scale-requests.ts'
import { watchSignals } from './fleet/signals.ts'
import { SILENCE_LOOK_MS } from './fleet/silence.ts'
import { StartRefused } from './start-refused.ts'
import { VERSION } from './version.ts'
import { every } from '../structures/ticks.ts'
import { HISTORY_ROLL_UP_MS } from '../../schemas/operator/admin-port-limits.ts'

/** Milliseconds beyond the drain's deadline after which a child is killed. */
const DRAIN_SLACK_MS = 3_000

/** Milliseconds that a replaced child may take: it first stays for its idle connections, then drains and releases its money. */
const RETIRED_MS_MAX = REPLACED_FRONT_MS + REPLACED_CALLS_MS + 10_000

/** Milliseconds that an ending node waits for the journals of its fronts. */
const JOURNALS_MS_MAX = 5_000

/** Milliseconds that an immediate stop may take. */
const STOP_MS_MAX = 3_000

/**
 * Runs a node until its end is requested, drains it, and takes down its parts in reverse order. Design §2.
 * @returns the exit code; throws `ConfigInvalid`, or `StartRefused` when the node cannot start or continue
 */
export async function runNode(setup: NodeSetup): Promise<number> {
  const generation = setup.readGeneration()
  const undone: (() => Promise<void>)[] = []
  const ending = new EndRequest()
  const run = new NodeRun(setup, generation, { undo: (step) => undone.push(step), ending })
  const stopWatching = watchSignals({
    drain: (why) => ending.ask({ why, isFailure: false }),
    stopAtOnce: () => run.stopAtOnce(),
    reload: () => run.reload(),
    scale: () => run.scale(),
  })
  try {
    await run.bringUp()
    const { why, isFailure } = await ending.requested
    setup.log.info('node_drains', { why })
    sayOnTerminal(DRAINING)
    // A person at a terminal does not wait for clients that keep connections open.
    await run.drain(why === 'SIGTERM' ? REPLACED_FRONT_MS : 0)
    if (isFailure) throw new StartRefused(why)
    return 0
  } catch (problem) {
    if (problem instanceof EndedEarly) return 0
    throw explainFullDisk(problem, disksOf(generation.config))
  } finally {
    setup.log.release()
    for (const step of undone.reverse()) {
      await step().catch((cause: unknown) => setup.log.error('take_down_failed', { cause }))
    }
    setup.log.info('node_stopped')
    sayOnTerminal(STOPPED)
    stopWatching()
  }
}

class NodeRun {
  readonly #setup: NodeSetup
  readonly #first: NodeGeneration
  readonly #undo: Undo
  readonly #ending: EndRequest
  readonly #fleet: Fleet
  readonly #history = new NodeHistory({
    version: VERSION,
    now: Date.now,
    keep: (hour) => this.#fleet.rollUp(hour),
  })
  readonly #wait = {
    isEnding: () => this.#ending.isRequested,
    say: (line: string) => void process.stderr.write(line),
  }
  #data: DataDirectory | null = null
  #store: NodeStore | null = null
  #redis: NodeRedis | null = null
  /** Null: Redis is the operator's, or has no such setting. */
  #redisRest: RedisRest | null = null
  #journals: NodeJournals | null = null
  #reloader: Reloader | null = null
  #desk: ScaleDesk | null = null
  #watch: ReadinessWatch | null = null
  #figures: FiguresWatch | null = null
  #admin: AdminPort | null = null
  #isDraining = false
  #isUp = false
  #isReloadRequested = false

  constructor(setup: NodeSetup, generation: NodeGeneration, more: { undo: Undo; ending: EndRequest }) {
    const { undo, ending } = more
    this.#setup = setup
    this.#first = generation
    this.#undo = undo
    this.#ending = ending
    this.#fleet = new Fleet({
      fork: (role, isAhead) => this.#fork(role, isAhead),
      log: setup.log,
      retiredMsMax: RETIRED_MS_MAX,
      spareDelayMs: SPARE_FRONT_MS,
      onCrashLoop: (why) => ending.ask({ why, isFailure: true }),
    })
  }

  async bringUp(): Promise<void> {
    const { config } = this.#first
    const problem = platformProblem()
    if (problem !== null) throw new StartRefused(problem)
    checkTls(this.#first)
    const data = await openDataDirectory(config.dataDir, this.#setup.log)
    this.#data = data
    this.#undo(() => Promise.resolve(data.release()))
    this.#beginHistory(data)
    await probePort(config.host, config.port, 'SLUICE_PORT')
    await this.#startAdmin()
    await this.#setup.prepareStorage(config)
    const services = await startServices(this.#first, {
      data,
      log: this.#setup.log,
      undo: this.#undo,
      reach: (url) => this.#setup.reachPostgres(url),
      wait: this.#wait,
    })
    this.#ending.throwIfRequested()
    const store = await this.#openStores(data, services)
    const files = await this.#setup.prepareFiles(config, store)
    const keys = await this.#prepareStore(store, { data, services })
    await this.#startChildren(data, services)
    const isRedisUp = (await this.#redis?.isUp(REDIS_WAIT_MS)) ?? false
    announce(this.#first, {
      data,
      services,
      keys,
      files,
      degraded: isRedisUp ? [] : ['redis'],
      url: this.#url(),
      log: this.#setup.log,
    })
    this.#fleet.announce()
    this.#isUp = true
    if (this.#isReloadRequested) this.reload()
    this.scale()
  }

  /**
   * Drains the fronts first, since they still need the runner; then the runner. The services follow in
   * `undo`.
   * @param idleMs milliseconds for which fronts keep connections without a call
   */
  async drain(idleMs: number): Promise<void> {
    this.#isDraining = true
    this.#admin?.drain()
    this.#reloader?.end()
    const { drainMs } = (this.#reloader?.current ?? this.#first).config
    await this.#fleet.drain('front', drainMs + DRAIN_SLACK_MS, idleMs)
    await this.#history.rollUp()
    await this.#fleet.drain('runner', DRAIN_MS + DRAIN_SLACK_MS)
    // The journals need the embedded Postgres. The next start books the remaining ones.
    await this.#journals?.settled(JOURNALS_MS_MAX)
  }

  /** Reloads the node. A reload during the start waits until the start has ended: before that, no process can be replaced. */
  reload(): void {
    if (!this.#isUp) this.#isReloadRequested = true
    else if (!this.#isDraining) void this.#reloader?.ask()
  }

  /** Takes scale requests. The end of the start takes requests that were made during it. */
  scale(): void {
    if (this.#isUp) this.#desk?.look()
  }

  stopAtOnce(): void {
    this.#setup.log.warn('node_stops_at_once')
    void this.#fleet.killAll()
    // If anything else hangs, the services end with this process.
    setTimeout(() => process.exit(1), STOP_MS_MAX).unref()
  }

  /** The file is removed while the node runs: a killed node leaves no old history. */
  #beginHistory(data: DataDirectory): void {
    this.#history.begin(data.read(HISTORY_FILE))
    data.remove(HISTORY_FILE)
    this.#undo(async () => data.writePrivate(HISTORY_FILE, this.#history.leave()))
  }

  async #startAdmin(): Promise<void> {
    const {
      config: { adminHost, adminPort, host, port, tls },
    } = this.#first
    const admin = await startAdmin({
      host: adminHost,
      port: adminPort,
      publicPort: { host: addressOf(host), port, isTls: tls !== null },
      version: VERSION,
      log: this.#setup.log,
      keyGraceMs: () => this.#generation.config.keyGraceMs,
      command: commandName(),
      advice: () => this.#setup.advice(this.#generation),
      looks: () => this.#fleet.looks(),
      readiness: () => (this.#isDraining ? null : (this.#watch?.read(this.#counts(), this.#fleet) ?? null)),
      metrics: async () =>
        this.#setup.metrics(
          await this.#fleet.snapshots(),
          gaugesOf(this.#counts(), { fleet: this.#fleet, watch: this.#watch, figures: this.#figures }),
        ),
    })
    this.#admin = admin
    this.#undo(() => admin.close())
    this.#trust(this.#first)
  }

  async #openStores(data: DataDirectory, services: Services): Promise<NodeStore> {
    const store = this.#setup.openStore(services.databaseUrl, data)
    this.#store = store
    const redis = this.#setup.openRedis(services.redis)
    this.#redis = redis
    this.#undo(() => store.close())
    this.#undo(() => redis.close())
    if (services.redisMode === 'child') this.#redisRest = RedisRest.of(redis)
    await prepareStore(store, services, this.#wait)
    this.#ending.throwIfRequested()
    await checkConnections(store, this.#first, services.postgres)
    await checkRedis(redis, services.redisMode)
    await this.#join(store, redis, services)
    const disks = disksOf(this.#first.config)
    const certificate = (): string | null => this.#generation.frozen['SLUICE_TLS_CERT'] ?? null
    const figures = new FiguresWatch({ store, disks, certificate })
    this.#figures = figures
    this.#watch = new ReadinessWatch({
      postgres: { mode: services.postgres, isUp: () => store.isUp() },
      redis: {
        mode: services.redisMode,
        isUp: () => redis.isUp(),
        onChange: (listener) => redis.onChange(listener),
      },
      storage: { mode: this.#first.config.objects.kind, isUp: watchRoom(disks) },
      log: this.#setup.log,
      keyGraceMs: () => this.#generation.config.keyGraceMs,
      isMoneyRefused: () => figures.isMoneyRefused,
      now: Date.now,
      onChange: (name, isUp) => this.#history.dependency(name, isUp),
    })
    this.#undo(() => Promise.resolve([this.#watch, figures].forEach((one) => one?.stop())))
    return store
  }

  async #join(store: NodeStore, redis: NodeRedis, { redisMode }: Services): Promise<void> {
    const { log } = this.#setup
    const objects = await this.#setup.objectsPlace(this.#first.config)
    const mark = await joinNodes({ store, redis, redisMode, objects, log })
    this.#undo(() => store.leave())
    if (redisMode === 'external') redis.onChange(() => void keepRedisMark(redis, { mark, log }))
  }

  async #prepareStore(
    store: NodeStore,
    { data, services }: { readonly data: DataDirectory; readonly services: Services },
  ): Promise<BannerKeys> {
    const keys = await firstKeys(
      data,
      { baseUrl: `${this.#url()}${API_PREFIX}`, log: this.#setup.log },
      (keep) => store.makeFirstKeys(keep),
    )
    this.#reloader = new Reloader({
      setup: this.#setup,
      fleet: this.#fleet,
      first: this.#first,
      childSetup: (generation) => childSetup(generation, placeOf(data, services)),
      check: async (generation) => {
        await checkConnections(store, generation, services.postgres)
        // While the roll replaces fronts, fronts of both generations serve.
        this.#trust(this.#generation, generation)
      },
      adopt: (generation) => {
        this.#setup.adopt(generation)
        this.#trust(generation)
        removeOtherCopies(generation, data)
      },
      tell: (record) => {
        this.#history.reloaded(record)
        writeReload(data, record)
      },
    })
    const reloader = this.#reloader
    this.#desk = new ScaleDesk({ data, log: this.#setup.log, scale: (input) => reloader.scale(input) })
    return keys
  }

  async #startChildren(data: DataDirectory, services: Services): Promise<void> {
    if (!allowListenerMigration()) this.#setup.log.debug('listener_migration_off')
    const place = { databaseUrl: services.databaseUrl, config: this.#first.config }
    const journals = this.#setup.openJournals({ ...place, onCleared: () => this.#fleet.sweep() })
    this.#undo(() => journals.close())
    this.#journals = journals
    // Processes of earlier starts are gone, and no front of this start runs yet.
    journals.start()
    this.#undo(() => this.#fleet.killAll())
    const looks = every(SILENCE_LOOK_MS, () => {
      const { haveCalls } = this.#fleet.lookAtFronts()
      this.#redisRest?.look(haveCalls)
    })
    const rollUps = every(HISTORY_ROLL_UP_MS, () => void this.#history.rollUp())
    this.#undo(() => Promise.resolve([looks, rollUps].forEach((one) => one.stop())))
    const started = this.#fleet.start(childSetup(this.#first, placeOf(data, services)))
    await Promise.race([started, this.#ending.rejected])
    removeOtherCopies(this.#first, data)
  }

  /** Forks a child and records it at once, so that the next start finds it if this process is killed now. */
  #fork(role: Role, isAhead: boolean): Child {
    const child = new Child(role, isAhead, this.#history)
    void child.ended.then(() => {
      this.#history.gone(child.id)
      this.#data?.forget(child.pid)
      if (role !== 'front' || !child.isGone) return
      void this.#store?.removeFront(child.id)
      this.#journals?.frontEnded(child.id)
    })
    this.#data?.remember(role, child.pid)
    return child
  }

  /** Sets the certificates of the generations that fronts serve with. */
  #trust(...generations: readonly NodeGeneration[]): void {
    this.#admin?.trust(generations.flatMap(({ frozen }) => frozen['SLUICE_TLS_CERT'] ?? []))
  }

  get #generation(): NodeGeneration {
    return this.#reloader?.current ?? this.#first
  }

  #counts() {
    const of = (role: Role) => ({
      ready: this.#fleet.countReady(role),
      wanted: this.#fleet.countWanted(role),
    })
    const { fronts, workers } = this.#reloader?.configured ?? this.#first.config
    return {
      fronts: { ...of('front'), configured: fronts },
      workers: { ...this.#fleet.sessionThreads, configured: workers },
      runners: of('runner'),
    }
  }

  #url(): string {
    const { host, port, tls } = this.#first.config
    return originAt(host, port, tls !== null)
  }
}

function placeOf(data: DataDirectory, { databaseUrl, redis }: Services): ChildPlace {
  return { data, databaseUrl, redis }
}
