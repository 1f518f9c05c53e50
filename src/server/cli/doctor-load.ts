import { availableParallelism, cpus } from 'node:os'
import { setTimeout as after } from 'node:timers/promises'
import { readAdmin } from '../supervisor/admin-reader.ts'
import type { Finding } from './doctor/finding.ts'

/** Milliseconds between the two looks at a running node: what it did meanwhile is what is judged. Decision. */
const LOOK_MS = 1_000
/** Share of its time that an event loop, or a pool of threads, may be busy before there should be more of them. Decision. */
export const BUSY_SHARE_MAX = 0.8
/** Mean milliseconds that a transfer, or a job, may wait for a worker thread. Decision. */
export const THREAD_WAIT_MS_MAX = 100
/** Of a machine: less is no core that another front or thread could have. Decision. */
export const IDLE_CORES_MIN = 0.5

/** One front in the time between two looks. */
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
  /** What its settings say, if it tells. */
  readonly configured?: Configured
  readonly each: readonly FrontLoad[]
}

export interface Cores {
  readonly all: number
  readonly idle: number
}

/** Looks twice at the metrics of a running node; null when it does not answer. */
export async function lookAtLoad(adminUrl: string): Promise<{ readonly load: NodeLoad; readonly cores: Cores } | null> {
  const before = cpuTimes()
  // What its metrics tell is since the look before: whoever looked last.
  if (await readAdmin(adminUrl, '/metrics') === null) return null
  await after(LOOK_MS)
  const text = await readAdmin(adminUrl, '/metrics')
  return text === null ? null : { load: loadFrom(text), cores: coresSince(before) }
}

/** What to do about it: one finding for each thing that another number would mend. */
export function adviceOn(load: NodeLoad, cores: Cores): readonly Finding[] {
  const { fronts, workers, runners, configured } = load
  const found = [tooMany(fronts, cores), busyLoops(load, cores), busyThreads(load, cores), waitingJobs(load, cores)]
  const warnings = found.flatMap((one) => (one === null ? [] : [{ check: 'load', level: 'warning', ...one } as const]))
  const counts: Finding = { check: 'workers', level: 'ok', detail: countsText({ fronts, workers }, runners, configured) }
  return warnings.length > 0 ? [counts, ...warnings] : [counts, { check: 'load', level: 'ok', detail: loadText(load) }]
}

export interface Configured {
  readonly fronts: number
  readonly workers: number
}

/** The numbers in force, and what the settings say where that is something else. */
export function countsText({ fronts, workers }: Configured, runners: number, configured: Configured = { fronts, workers }): string {
  const isAsSaid = fronts === configured.fronts && workers === configured.workers
  const said = isAsSaid ? '' : `; the settings say SLUICE_FRONTS=${configured.fronts} SLUICE_WORKERS=${configured.workers}`
  return `fronts: ${fronts}, worker threads: ${workers}, runners: ${runners}${said}`
}

/** Of a node that is not running: what its settings say. */
export function tooMany(fronts: number, cores: Pick<Cores, 'all'>): Advice | null {
  if (fronts <= cores.all) return null
  return { detail: `${fronts} fronts share ${coresText(cores.all)}`, fix: `sluice scale --fronts ${cores.all}; SLUICE_FRONTS for the next start` }
}

interface Advice {
  readonly detail: string
  readonly fix: string
}

function busyLoops({ fronts, each }: NodeLoad, cores: Cores): Advice | null {
  const busiest = most(each, ({ loopShare }) => loopShare)
  if (busiest === null || busiest.loopShare <= BUSY_SHARE_MAX) return null
  const detail = `the event loop of front ${busiest.slot} is busy ${percent(busiest.loopShare)} of the time (p99 delay ${ms(busiest.loopDelayMs)})`
  return { detail, fix: hasRoom(cores) && fronts < cores.all ? `sluice scale --fronts ${fronts + 1}; SLUICE_FRONTS for the next start` : NO_ROOM }
}

function busyThreads({ fronts, workers, each }: NodeLoad, cores: Cores): Advice | null {
  const slowest = most(each, ({ sessionWaitMs }) => sessionWaitMs)
  const busiest = most(each, ({ sessionShare }) => sessionShare)
  if (slowest === null || busiest === null) return null
  const isSlow = slowest.sessionWaitMs > THREAD_WAIT_MS_MAX
  if (!isSlow && busiest.sessionShare <= BUSY_SHARE_MAX) return null
  const detail = isSlow
    ? `transfers of front ${slowest.slot} wait ${ms(slowest.sessionWaitMs)} for a worker thread`
    : `the worker threads of front ${busiest.slot} are busy ${percent(busiest.sessionShare)} of the time`
  return { detail, fix: hasRoom(cores) ? `sluice scale --workers ${workers + fronts}; SLUICE_WORKERS for the next start` : NO_ROOM }
}

/** A front has one thread for them: more of these are more fronts. */
function waitingJobs({ fronts, each }: NodeLoad, cores: Cores): Advice | null {
  const slowest = most(each, ({ shortWaitMs }) => shortWaitMs)
  if (slowest === null || slowest.shortWaitMs <= THREAD_WAIT_MS_MAX) return null
  const detail = `large bodies and secrets of front ${slowest.slot} wait ${ms(slowest.shortWaitMs)} for its thread`
  return { detail, fix: hasRoom(cores) && fronts < cores.all ? `sluice scale --fronts ${fronts + 1}; SLUICE_FRONTS for the next start` : NO_ROOM }
}

const NO_ROOM = 'no core is idle: give the machine more of them, or start another node'

function hasRoom({ idle }: Cores): boolean {
  return idle >= IDLE_CORES_MIN
}

function loadText({ each }: NodeLoad): string {
  const of = (read: (front: FrontLoad) => number): number => Math.max(0, ...each.map(read))
  return `busiest event loop ${percent(of(({ loopShare }) => loopShare))}, p99 delay ${ms(of(({ loopDelayMs }) => loopDelayMs))}, `
    + `transfers wait ${ms(of(({ sessionWaitMs }) => sessionWaitMs))}, jobs ${ms(of(({ shortWaitMs }) => shortWaitMs))}`
}

/** Of the text that Prometheus reads; what it lacks is 0. */
export function loadFrom(text: string): NodeLoad {
  const values = new Map(text.split('\n').flatMap((line) => {
    const [, name, value] = SAMPLE.exec(line) ?? []
    return name === undefined ? [] : [[name, Number(value)] as const]
  }))
  const of = (name: string): number => values.get(`sluice_${name}`) ?? 0
  const slots = [...values.keys()].flatMap((name) => SLOT.exec(name)?.slice(1).map(Number) ?? [])
  return {
    fronts: of('fronts_wanted'), workers: of('workers_wanted'), runners: of('runners_wanted'),
    ...(of('fronts_configured') === 0 ? {} : { configured: { fronts: of('fronts_configured'), workers: of('workers_configured') } }),
    each: slots.map((slot) => ({
      slot,
      loopShare: of(`front_event_loop_utilization{front="${slot}"}`),
      loopDelayMs: of(`front_event_loop_delay_seconds{front="${slot}",quantile="0.99"}`) * 1_000,
      sessionWaitMs: of(`front_pool_wait_seconds{front="${slot}",pool="sessions"}`) * 1_000,
      sessionShare: of(`front_pool_utilization{front="${slot}",pool="sessions"}`),
      shortWaitMs: of(`front_pool_wait_seconds{front="${slot}",pool="short_jobs"}`) * 1_000,
    })),
  }
}

const SAMPLE = /^(sluice_[a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+)$/
const SLOT = /^sluice_front_event_loop_utilization\{front="([0-9]+)"\}$/

export interface CpuTimes {
  readonly idle: number
  readonly all: number
}

export function cpuTimes(): CpuTimes {
  const times = cpus().map((cpu) => cpu.times)
  const sum = (read: (one: (typeof times)[number]) => number): number => times.reduce((total, one) => total + read(one), 0)
  return { idle: sum(({ idle }) => idle), all: sum((one) => one.user + one.nice + one.sys + one.irq + one.idle) }
}

/** A machine that does not tell its times has none idle. */
export function coresSince(before: CpuTimes): Cores {
  const now = cpuTimes()
  const all = availableParallelism()
  const passed = now.all - before.all
  return { all, idle: passed <= 0 ? 0 : all * (now.idle - before.idle) / passed }
}

function most<T>(items: readonly T[], read: (item: T) => number): T | null {
  return items.reduce<T | null>((best, item) => (best === null || read(item) > read(best) ? item : best), null)
}

function coresText(count: number): string {
  return count === 1 ? '1 core' : `${count} cores`
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`
}

function ms(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ms`
}
