/**
 * Two organizations whose calls each need less than half of a front, against one organization with the calls
 * of both: neither may lose calls by the sharing of the loop, and one alone is never held.
 */
import { startLoad } from '../../test/support/load/load.ts'
import type { LoadRequest, LoadResult } from '../../test/support/load/load-plan.ts'
import { tree } from '../../test/support/load/process-cpu.ts'
import { answeredPerS } from '../measure.ts'
import { checkRecord, type CheckRecord } from '../record.ts'
import { spread } from '../statistics.ts'
import { isFront } from '../transfers/gateway.ts'
import type { NeighboursStand, Tenant } from './stand.ts'

/** Percent of a front's core that the calls of each organization use. */
const PART_PERCENT = 45
const CONNECTIONS = 16
/** Calls a second with which the cost of a call is measured. */
const TRIAL_PER_S = 100
const TRIAL_MS = 4_000
/** Least share of the calls a second that two organizations get of those that one gets. */
const SHARE_MIN = 0.95

export interface SharingRepeat {
  /** Calls a second of the two organizations over those of one with the same calls. */
  readonly share: number
  /** Calls and turns that were held while one organization was alone. */
  readonly heldAlone: number
  readonly failed: number
}

export interface SharingRate {
  /** Calls a second of each organization. */
  readonly perS: number
}

/** The rate at which one organization uses its part of a front. */
export async function sharingRate(stand: NeighboursStand): Promise<SharingRate> {
  const before = frontCpuS(stand)
  const { requests } = await loaded(stand, stand.victim, TRIAL_PER_S, TRIAL_MS)
  const perCallS = (frontCpuS(stand) - before) / requests
  return { perS: Math.round(PART_PERCENT / 100 / perCallS) }
}

export async function measureSharing(
  stand: NeighboursStand,
  { perS }: SharingRate,
  durationMs: number,
): Promise<SharingRepeat> {
  const before = await held(stand)
  const alone = await loaded(stand, stand.victim, 2 * perS, durationMs)
  const heldAlone = (await held(stand)) - before
  const both = await Promise.all(
    [stand.victim, stand.attacker].map((tenant) => loaded(stand, tenant, perS, durationMs)),
  )
  return {
    share: both.reduce((sum, one) => sum + answeredPerS(one), 0) / answeredPerS(alone),
    heldAlone,
    failed: [alone, ...both].reduce((sum, one) => sum + one.requests - (one.statuses[200] ?? 0), 0),
  }
}

export function sharingChecks(repeats: readonly SharingRepeat[]): readonly CheckRecord[] {
  const failed = repeats.reduce((sum, one) => sum + one.failed, 0)
  const rows = [{ scenario: 'neighbours', failed }]
  return [
    checkRecord(
      `sharing: calls a second of two organizations at ${PART_PERCENT} % of a front, over those of one`,
      spread(repeats.map(({ share }) => share)),
      { bound: { atLeast: SHARE_MIN }, rows, repeats: repeats.length },
    ),
    checkRecord(
      'sharing: calls and turns of an organization alone that were held',
      spread(repeats.map(({ heldAlone }) => heldAlone)),
      { bound: { atMost: 0 }, rows, repeats: repeats.length },
    ),
  ]
}

async function loaded(
  { port }: NeighboursStand,
  { inference }: Tenant,
  ratePerS: number,
  durationMs: number,
): Promise<LoadResult> {
  const load = await startLoad({
    host: '127.0.0.1',
    port,
    connections: CONNECTIONS,
    durationMs,
    pace: { kind: 'open', ratePerS },
    requests: [chatOf(inference)],
  })
  return load.result
}

function chatOf(key: string): LoadRequest {
  return {
    method: 'POST',
    path: '/api/v1/chat/completions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'sluice/echo-1',
      stream: true,
      messages: [{ role: 'user', content: 'word '.repeat(200) }],
    }),
  }
}

/** What was held since the start, calls and turns together. */
async function held(stand: NeighboursStand): Promise<number> {
  const { text } = await stand.admin('/metrics')
  const counts = [...text.matchAll(/^sluice_model_(?:calls|turns)_held_total(?:\{[^}]*\})? (\d+)/gm)]
  if (counts.length === 0) throw new Error('the node has no metrics of what was held')
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

function frontCpuS({ pid }: NeighboursStand): number {
  return tree(pid)
    .filter(isFront)
    .reduce((sum, { cpuS }) => sum + cpuS, 0)
}
