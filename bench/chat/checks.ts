/** The required figures of the gateway in the scenario `chat`. */
import { eachRatio } from '../ratios.ts'
import { checkRecord, type CheckRecord, type ResultRow } from '../record.ts'
import { spread } from '../statistics.ts'
import { isTranslated, pairText, type Pair } from './forms.ts'

/** Names of the cases of a pair, without that of the pair. */
export interface Cases {
  readonly streams: string
  readonly oneStream: string
  readonly whole: string
}

/** Times the CPU of a peer that a call may take at most. */
interface CpuBounds {
  readonly event: Readonly<Record<string, number>>
  readonly whole: Readonly<Record<string, number>>
}

const NATIVE_MOST: CpuBounds = { event: { relay: 1.3, nginx: 2.2 }, whole: { relay: 3 } }
/** A bare relay passes an answer on in the form of the provider, and bounds no translation. */
const TRANSLATED_MOST: CpuBounds = { event: { nginx: 3.5 }, whole: { portkey: 1 / 4 } }

const PERCENTILES = ['p50', 'p99'] as const
/** Microseconds that the first output of a stream may wait longer than without anything in between. */
const ADDED_US_MOST = { p50: 150, p99: 2_000 }
/** A translation has no bound for its slowest calls. */
const TRANSLATED_ADDED_US_MOST = { p50: 1_000, p99: null }

export function checks(rows: readonly ResultRow[], pair: Pair, cases: Cases): readonly CheckRecord[] {
  const prefix = pairText(pair)
  const rowOf = (subject: string, name: string): ResultRow | undefined =>
    rows.find((row) => row.subject === subject && row.case === prefix + name)
  const cpu = (what: string, name: string, most: Readonly<Record<string, number>>): readonly CheckRecord[] =>
    Object.entries(most).flatMap(([peer, atMost]) => {
      const [ours, theirs] = [rowOf('sluice', name), rowOf(peer, name)]
      if (ours === undefined || theirs === undefined) return []
      const found = eachRatio(ours.samples, theirs.samples, ({ cpu_us_per_request }) => cpu_us_per_request)
      const text = `${prefix}CPU per ${what}, sluice over ${PEER_TEXTS[peer] ?? peer}`
      return [checkRecord(text, found, { bound: { atMost }, rows: [ours, theirs] })]
    })
  const { event, whole } = isTranslated(pair) ? TRANSLATED_MOST : NATIVE_MOST
  return [
    ...cpu('stream event', cases.streams, event),
    ...cpu('whole answer', cases.whole, whole),
    ...addedChecks(pair, (subject) => rowOf(subject, cases.oneStream)),
  ]
}

const PEER_TEXTS: Readonly<Record<string, string>> = { relay: 'a bare relay with the same libraries' }

/** What the first output waits longer than without anything in between. */
function addedChecks(pair: Pair, rowOf: (subject: string) => ResultRow | undefined): readonly CheckRecord[] {
  const [ours, bare] = [rowOf('sluice'), rowOf('direct')]
  if (ours === undefined || bare === undefined) return []
  const most = isTranslated(pair) ? TRANSLATED_ADDED_US_MOST : ADDED_US_MOST
  return PERCENTILES.flatMap((percentile) => {
    const atMost = most[percentile]
    const found = spread(added(ours, bare, percentile))
    if (atMost === null || !Number.isFinite(found.median)) return []
    const text = `${pairText(pair)}added time to the first output, ${percentile}, µs`
    return [checkRecord(text, found, { bound: { atMost }, rows: [ours, bare] })]
  })
}

/** Microseconds, in each repeat. */
function added(
  { samples }: ResultRow,
  bare: ResultRow,
  percentile: (typeof PERCENTILES)[number],
): readonly number[] {
  return samples.map(
    (one, at) => (one.latency_us?.[percentile] ?? NaN) - (bare.samples[at]?.latency_us?.[percentile] ?? NaN),
  )
}
