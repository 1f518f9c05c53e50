import { setTimeout as after } from 'node:timers/promises'
import { loadCatalogue } from '../../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../../catalogue/shipped.ts'
import { usableCores, wholeCores } from '../../../config/cores.ts'
import { countsOf } from '../../../supervisor/fleet/scaling.ts'
import {
  type Configured,
  type Cores,
  coresSince,
  cpuTimes,
  type FrontLoad,
  loadAdvice,
  msText,
  type NodeLoad,
  percentText,
  tooMany,
} from '../../../observe/load-advice.ts'
import { stillUnpriced, unpricedTiers, unpricedTiersIn } from '../../../observe/unpriced-tiers.ts'
import { QuotaWatch } from '../../../config/quota-watch.ts'
import { readAdmin } from '../../../supervisor/admin-port/admin-reader.ts'
import { catalogueChoice } from '../../parts/load-models.ts'
import { doubtful, type Finding, good } from './finding.ts'
import type { Look } from './look.ts'

/** Checks the load of a running node, whose process counts `sluice scale` may have changed; without one, the counts in the settings. */
export async function workers({ generation, runtime }: Look): Promise<readonly Finding[]> {
  const seen = runtime === null ? null : await lookAtLoad(runtime.adminUrl)
  if (seen !== null) return [...adviceOn(seen.load, seen.cores), ...tiers(generation, seen.metrics)]
  const counts = countsOf(generation)
  const finding = good('workers', countsText(counts, generation.config.runners, generation.config))
  const advice = tooMany(counts.fronts, { all: wholeCores(usableCores()) })
  return advice === null ? [finding] : [finding, doubtful('load', advice.detail, advice.fix)]
}

/** Tiers that providers reported and for which the catalogue has no price. */
function tiers({ config }: Look['generation'], metrics: string): readonly Finding[] {
  const counts = unpricedTiersIn(metrics)
  if (counts.length === 0) return []
  const extraFile = catalogueChoice(config).file
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  const advice = unpricedTiers(loaded.ok ? stillUnpriced(counts, loaded.catalogue) : counts)
  return advice === null ? [] : [doubtful('tiers', advice.detail, advice.fix)]
}

/** Milliseconds between the two reads of a running node's metrics: the checks judge the load of this period. Decision. */
const LOOK_MS = 1_000

interface NodeLook {
  readonly load: NodeLoad
  readonly cores: Cores
  readonly metrics: string
}

/** Reads the metrics of a running node twice; null when it does not answer. */
async function lookAtLoad(adminUrl: string): Promise<NodeLook | null> {
  const [before, quota] = [cpuTimes(), new QuotaWatch()]
  // Figures cover the time since the previous read, by any reader: this first read only begins a new period.
  if ((await readAdmin(adminUrl, '/metrics')) === null) return null
  await after(LOOK_MS)
  const text = await readAdmin(adminUrl, '/metrics')
  return text === null
    ? null
    : { load: loadFrom(text), cores: coresSince(before, quota.look()), metrics: text }
}

/** Findings about the load: one for each number that should change. */
export function adviceOn(load: NodeLoad, cores: Cores): readonly Finding[] {
  const { fronts, workers, runners, configured } = load
  const warnings = loadAdvice(load, cores).map(
    (one) => ({ check: 'load', level: 'warning', ...one }) as const,
  )
  const counts: Finding = {
    check: 'workers',
    level: 'ok',
    detail: countsText({ fronts, workers }, runners, configured),
  }
  return warnings.length > 0
    ? [counts, ...warnings]
    : [counts, { check: 'load', level: 'ok', detail: loadText(load) }]
}

/** The effective process counts, and the counts in the settings where they differ. */
function countsText(
  { fronts, workers }: Configured,
  runners: number,
  configured: Configured = { fronts, workers },
): string {
  const isAsConfigured = fronts === configured.fronts && workers === configured.workers
  const suffix = isAsConfigured
    ? ''
    : `; configured: SLUICE_FRONTS=${configured.fronts} SLUICE_WORKERS=${configured.workers}`
  return `fronts: ${fronts}, worker threads: ${workers}, runners: ${runners}${suffix}`
}

function loadText({ each }: NodeLoad): string {
  const of = (read: (front: FrontLoad) => number): number => Math.max(0, ...each.map(read))
  return (
    `busiest event loop ${percentText(of(({ loopShare }) => loopShare))}, p99 delay ${msText(of(({ loopDelayMs }) => loopDelayMs))}, ` +
    `transfer wait ${msText(of(({ sessionWaitMs }) => sessionWaitMs))}, job wait ${msText(of(({ shortWaitMs }) => shortWaitMs))}`
  )
}

const SAMPLE = /^(sluice_[a-z_]+(?:\{[^}]*\})?) ([0-9.e+-]+)$/
const SLOT = /^sluice_front_event_loop_utilization\{front="([0-9]+)"\}$/

/** The load in the text of the metrics; a missing figure is 0. */
export function loadFrom(text: string): NodeLoad {
  const values = new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = SAMPLE.exec(line) ?? []
      return name === undefined ? [] : [[name, Number(value)] as const]
    }),
  )
  const of = (name: string): number => values.get(`sluice_${name}`) ?? 0
  const slots = [...values.keys()].flatMap((name) => SLOT.exec(name)?.slice(1).map(Number) ?? [])
  return {
    fronts: of('fronts_wanted'),
    workers: of('workers_wanted'),
    runners: of('runners_wanted'),
    ...(of('fronts_configured') === 0
      ? {}
      : { configured: { fronts: of('fronts_configured'), workers: of('workers_configured') } }),
    each: slots.map((slot) => ({
      slot,
      loopShare: of(`front_event_loop_utilization{front="${slot}"}`),
      loopDelayMs: of(`front_event_loop_delay_seconds{front="${slot}",percentile="99"}`) * 1_000,
      sessionWaitMs: of(`front_pool_wait_seconds{front="${slot}",pool="sessions"}`) * 1_000,
      sessionShare: of(`front_pool_utilization{front="${slot}",pool="sessions"}`),
      shortWaitMs: of(`front_pool_wait_seconds{front="${slot}",pool="short_jobs"}`) * 1_000,
    })),
  }
}
