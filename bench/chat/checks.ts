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

/** Times the CPU of a peer that an event may take at most. */
const STREAMS_MOST = { nginx: 2.2, relay: 1.3, portkey: 1 / 4 }
/** Of an event that is written anew in another form; a bare relay only passes it on, and bounds nothing. */
const TRANSLATED_MOST = { nginx: 3.5, portkey: 1 / 2 }
const WHOLE_MOST = { nginx: 2.5 }
/** Times that of nginx. */
const ADDED_MOST = 3
/** Microseconds. */
const TRANSLATED_ADDED_MOST = 1_000

export function checks(rows: readonly ResultRow[], pair: Pair, cases: Cases): readonly CheckRecord[] {
  const prefix = pairText(pair)
  const rowOf = (subject: string, name: string): ResultRow | undefined =>
    rows.find((row) => row.subject === subject && row.case === prefix + name)
  const cpu = (what: string, name: string, most: Readonly<Record<string, number>>): readonly CheckRecord[] =>
    Object.entries(most).flatMap(([peer, atMost]) => {
      const [ours, theirs] = [rowOf('sluice', name), rowOf(peer, name)]
      if (ours === undefined || theirs === undefined) return []
      const found = eachRatio(ours.samples, theirs.samples, ({ cpu_us_per_request }) => cpu_us_per_request)
      const text = `${prefix}CPU of ${what}, sluice over ${PEER_TEXTS[peer] ?? peer}`
      return [checkRecord(text, found, { bound: { atMost }, rows: [ours, theirs] })]
    })
  const isOther = isTranslated(pair)
  return [
    ...cpu('an event', cases.streams, isOther ? TRANSLATED_MOST : STREAMS_MOST),
    ...(isOther ? [] : cpu('a whole answer', cases.whole, WHOLE_MOST)),
    ...addedChecks(pair, (subject) => rowOf(subject, cases.oneStream)),
  ]
}

const PEER_TEXTS: Readonly<Record<string, string>> = { relay: 'a bare relay on its libraries' }

/** What the first output waits longer than without anything in between. */
function addedChecks(pair: Pair, rowOf: (subject: string) => ResultRow | undefined): readonly CheckRecord[] {
  const [ours, nginx, bare] = [rowOf('sluice'), rowOf('nginx'), rowOf('direct')]
  if (ours === undefined || bare === undefined) return []
  const text = `${pairText(pair)}added time to the first output, p50`
  if (isTranslated(pair)) {
    const bound = { atMost: TRANSLATED_ADDED_MOST }
    return [checkRecord(`${text}, µs`, spread(added(ours, bare)), { bound, rows: [ours, bare] })]
  }
  if (nginx === undefined) return []
  const found = eachRatio(added(ours, bare), added(nginx, bare), (one) => one)
  if (!Number.isFinite(found.median)) return []
  return [
    checkRecord(`${text}, sluice over nginx`, found, { bound: { atMost: ADDED_MOST }, rows: [ours, nginx] }),
  ]
}

/** Microseconds, in each repeat. */
function added({ samples }: ResultRow, bare: ResultRow): readonly number[] {
  return samples.map((one, at) => (one.latency_us?.p50 ?? NaN) - (bare.samples[at]?.latency_us?.p50 ?? NaN))
}
