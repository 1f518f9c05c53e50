/** Counts the calls of one cell in memory of a fixed size, however long the cell is. */
import { encodeIntoCompressedBase64, build, type Histogram } from 'hdr-histogram-js'
import { latencies, latencyOf, noteMs } from '../../test/support/load/load-latency.ts'
import { TIME_SLOTS } from './limits.ts'
import { isWithin, type Slo } from './slo.ts'

/** Whole: with the last event of its dialect. Limited: 429, which is no failure. Open: not ended with its cell. */
export type CallOutcome = 'whole' | 'cut' | 'limited' | 'failed' | 'open'

/** A call that is over. Times are milliseconds from the start of the cell. */
export interface EndedCall {
  readonly dueMs: number
  /** NaN: it was never sent. */
  readonly sentMs: number
  readonly endedMs: number
  /** 0: no answer began. */
  readonly status: number
  readonly outcome: CallOutcome
  /** The empty string for a whole stream. */
  readonly reason: string
  /** Milliseconds from when the call was due; NaN: no token came. */
  readonly firstMs: number
  /** Events in which the model wrote. */
  readonly tokenEvents: number
  /** Tokens of the answer as the provider counts them; null: it gave no count. */
  readonly tokens: number | null
  /** Between two events in which the model wrote; NaN: there were fewer than two. */
  readonly meanGapMs: number
  readonly maxGapMs: number
}

/** The times of a cell in one slot. */
export interface SlotFigures {
  /** Seconds from the start of the cell to the end of the slot. */
  readonly atS: number
  readonly p50Ms: number
  readonly p99Ms: number
}

export interface TallyFigures {
  /** Compressed HDR histograms of microseconds, in base64. */
  readonly first: string
  readonly gap: string
  readonly total: string
  readonly late: string
  /** Of tokens a second of each whole stream, in thousandths. */
  readonly pace: string
  readonly slots: readonly SlotFigures[]
  readonly ended: Readonly<Record<CallOutcome, number>>
  /** Whole streams within the SLO. */
  readonly good: number
  readonly tokens: number
  /** Reasons of failed and cut calls with their number, the most frequent first. */
  readonly reasons: readonly (readonly [string, number])[]
}

const REASONS_MAX = 100

export class Tally {
  readonly first = latencies()
  readonly #gap = latencies()
  readonly #total = latencies()
  readonly #late = latencies()
  readonly #pace = latencies()
  readonly #slots: Histogram[]
  readonly #slotMs: number
  readonly #slo: Slo
  readonly #reasons = new Map<string, number>()
  readonly ended: Record<CallOutcome, number> = { whole: 0, cut: 0, limited: 0, failed: 0, open: 0 }
  #good = 0
  #tokens = 0

  constructor(seconds: number, slo: Slo) {
    this.#slo = slo
    const slots = Math.min(TIME_SLOTS, Math.ceil(seconds))
    this.#slotMs = (seconds * 1_000) / slots
    this.#slots = Array.from({ length: slots }, () =>
      build({
        lowestDiscernibleValue: 1,
        highestTrackableValue: 600_000_000,
        numberOfSignificantValueDigits: 2,
      }),
    )
  }

  get count(): number {
    return Object.values(this.ended).reduce((sum, one) => sum + one)
  }

  /** @param ms from when the call was due until the generator looked */
  late(ms: number): void {
    noteMs(this.#late, ms)
  }

  gap(ms: number): void {
    noteMs(this.#gap, ms)
  }

  firstToken(dueMs: number, ms: number): void {
    noteMs(this.first, ms)
    const slot = this.#slots[Math.min(this.#slots.length - 1, Math.floor(dueMs / this.#slotMs))]
    if (slot !== undefined) noteMs(slot, ms)
  }

  end(call: EndedCall): void {
    this.ended[call.outcome]++
    this.#tokens += call.tokens ?? call.tokenEvents
    if (call.outcome === 'whole') this.#whole(call)
    else if (
      (call.outcome === 'failed' || call.outcome === 'cut') &&
      (this.#reasons.has(call.reason) || this.#reasons.size < REASONS_MAX)
    )
      this.#reasons.set(call.reason, (this.#reasons.get(call.reason) ?? 0) + 1)
  }

  figures(): TallyFigures {
    return {
      first: encodeIntoCompressedBase64(this.first),
      gap: encodeIntoCompressedBase64(this.#gap),
      total: encodeIntoCompressedBase64(this.#total),
      late: encodeIntoCompressedBase64(this.#late),
      pace: encodeIntoCompressedBase64(this.#pace),
      slots: this.#slots.flatMap((slot, nth) => this.#slotOf(slot, nth)),
      ended: this.ended,
      good: this.#good,
      tokens: this.#tokens,
      reasons: [...this.#reasons].sort(([, a], [, b]) => b - a),
    }
  }

  #whole(call: EndedCall): void {
    const totalMs = call.endedMs - call.dueMs
    noteMs(this.#total, totalMs)
    if (isWithin(this.#slo, { first: call.firstMs, gap: call.meanGapMs, total: totalMs })) this.#good++
    const tokens = call.tokens ?? call.tokenEvents
    const writingMs = totalMs - call.firstMs
    if (tokens > 1 && writingMs > 0) noteMs(this.#pace, ((tokens - 1) / writingMs) * 1_000)
  }

  #slotOf(slot: Histogram, nth: number): readonly SlotFigures[] {
    if (slot.totalCount === 0) return []
    const { p50, p99 } = latencyOf(slot)
    return [{ atS: ((nth + 1) * this.#slotMs) / 1_000, p50Ms: p50, p99Ms: p99 }]
  }
}
