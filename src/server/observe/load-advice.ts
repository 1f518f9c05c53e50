import { readFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'

/** Busy share of an event loop or of a thread pool above which more of them are advised. Decision. */
export const BUSY_SHARE_MAX = 0.8
/** Mean milliseconds that a transfer or a job may wait for a worker thread. Decision. */
export const THREAD_WAIT_MS_MAX = 100
/** Idle cores of the machine below which no further front or thread is advised. Decision. */
export const IDLE_CORES_MIN = 0.5

export interface FrontLoad {
  readonly slot: number
  readonly loopShare: number
  readonly loopDelayMs: number
  readonly sessionWaitMs: number
  readonly sessionShare: number
  readonly shortWaitMs: number
}

export interface NodeLoad {
  readonly fronts: number
  readonly workers: number
  readonly runners: number
  /** The process counts in its settings, if the node reports them. */
  readonly configured?: Configured
  readonly each: readonly FrontLoad[]
}

export interface Cores {
  /** Whole cores that the node may use. */
  readonly all: number
  readonly idle: number
}

export interface Configured {
  readonly fronts: number
  readonly workers: number
}

/** Problems that a different number of fronts, threads or cores would solve, one sentence for each. `doctor` and the live view use the same texts. */
export function loadAdvice(load: NodeLoad, cores: Cores): readonly Advice[] {
  const found = [
    tooMany(load.fronts, cores),
    busyLoops(load, cores),
    busyThreads(load, cores),
    waitingJobs(load, cores),
  ]
  return found.filter((one) => one !== null)
}

/** Advice about more fronts than cores; for a node that is not running, from the numbers in its settings. */
export function tooMany(fronts: number, cores: Pick<Cores, 'all'>): Advice | null {
  if (fronts <= cores.all) return null
  return {
    detail: `${fronts} fronts share ${coresText(cores.all)}`,
    fix: `run \`sluice scale --fronts ${cores.all}\`, and set SLUICE_FRONTS to keep the value after a restart`,
  }
}

export interface Advice {
  readonly detail: string
  readonly fix: string
  /** Path of the dashboard's page with its query: `webhooks?state=dead`. */
  readonly page?: string
}

function busyLoops({ fronts, each }: NodeLoad, cores: Cores): Advice | null {
  const busiest = most(each, ({ loopShare }) => loopShare)
  if (busiest === null || busiest.loopShare <= BUSY_SHARE_MAX) return null
  const detail = `the event loop of front ${busiest.slot} is busy ${percentText(busiest.loopShare)} of the time (p99 delay ${msText(busiest.loopDelayMs)})`
  return {
    detail,
    fix:
      hasRoom(cores) && fronts < cores.all
        ? `run \`sluice scale --fronts ${fronts + 1}\`, and set SLUICE_FRONTS to keep the value after a restart`
        : NO_ROOM,
  }
}

function busyThreads({ fronts, workers, each }: NodeLoad, cores: Cores): Advice | null {
  const slowest = most(each, ({ sessionWaitMs }) => sessionWaitMs)
  const busiest = most(each, ({ sessionShare }) => sessionShare)
  if (slowest === null || busiest === null) return null
  const isSlow = slowest.sessionWaitMs > THREAD_WAIT_MS_MAX
  if (!isSlow && busiest.sessionShare <= BUSY_SHARE_MAX) return null
  const detail = isSlow
    ? `transfers of front ${slowest.slot} wait ${msText(slowest.sessionWaitMs)} for a worker thread`
    : `the worker threads of front ${busiest.slot} are busy ${percentText(busiest.sessionShare)} of the time`
  return {
    detail,
    fix: hasRoom(cores)
      ? `run \`sluice scale --workers ${workers + fronts}\`, and set SLUICE_WORKERS to keep the value after a restart`
      : NO_ROOM,
  }
}

/** Advice about waiting short jobs. A front has one thread for these jobs, so that more threads need more fronts. */
function waitingJobs({ fronts, each }: NodeLoad, cores: Cores): Advice | null {
  const slowest = most(each, ({ shortWaitMs }) => shortWaitMs)
  if (slowest === null || slowest.shortWaitMs <= THREAD_WAIT_MS_MAX) return null
  const detail = `jobs for large bodies and secrets wait ${msText(slowest.shortWaitMs)} for a thread of front ${slowest.slot}`
  return {
    detail,
    fix:
      hasRoom(cores) && fronts < cores.all
        ? `run \`sluice scale --fronts ${fronts + 1}\`, and set SLUICE_FRONTS to keep the value after a restart`
        : NO_ROOM,
  }
}

const NO_ROOM = 'no CPU core is idle: use a larger machine or start another node'

function hasRoom({ idle }: Cores): boolean {
  return idle >= IDLE_CORES_MIN
}

export interface CpuTimes {
  readonly idle: number
  readonly all: number
}

/** CPU times of the machine, in any unit. Linux reports them in one line; Node's own call also reads the clock of every core. */
export function cpuTimes(): CpuTimes {
  try {
    return timesOf(readFileSync('/proc/stat', 'latin1'))
  } catch {
    return timesOfEach()
  }
}

/** @param stat text of `/proc/stat`; its first line is user, nice, system, idle, iowait, irq, softirq, steal, guest, … */
export function timesOf(stat: string): CpuTimes {
  const times = (/^cpu +([0-9 ]+)$/m.exec(stat)?.[1] ?? '').split(' ').slice(0, GUEST).map(Number)
  return { idle: (times[IDLE] ?? 0) + (times[IO_WAIT] ?? 0), all: times.reduce((sum, time) => sum + time, 0) }
}

const [IDLE, IO_WAIT, GUEST] = [3, 4, 8]

function timesOfEach(): CpuTimes {
  const times = cpus().map((cpu) => cpu.times)
  const sum = (read: (one: (typeof times)[number]) => number): number =>
    times.reduce((total, one) => total + read(one), 0)
  return {
    idle: sum(({ idle }) => idle),
    all: sum((one) => one.user + one.nice + one.sys + one.irq + one.idle),
  }
}

/**
 * The cores that were idle since `before`, and that the node may use; 0 on a machine without CPU times.
 * @param use cores that the node may use, a fraction with some quotas, and how many cores of a quota were used
 */
export function coresSince(
  before: CpuTimes,
  { usable, used }: { readonly usable: number; readonly used: number },
  now = cpuTimes(),
): Cores {
  const all = Math.max(1, Math.floor(usable))
  const passed = now.all - before.all
  const idle = passed <= 0 ? 0 : (availableParallelism() * (now.idle - before.idle)) / passed
  return { all, idle: Math.min(idle, Math.max(0, usable - used)) }
}

function most<T>(items: readonly T[], read: (item: T) => number): T | null {
  return items.reduce<T | null>(
    (best, item) => (best === null || read(item) > read(best) ? item : best),
    null,
  )
}

function coresText(count: number): string {
  return count === 1 ? '1 core' : `${count} cores`
}

export function percentText(share: number): string {
  return `${Math.round(share * 100)} %`
}

/** Milliseconds as a text for people. */
export function msText(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`
}
