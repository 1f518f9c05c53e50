import { randomUUID } from 'node:crypto'
import type { HistoryData, HistoryEventKind } from '../../schemas/operator/history.ts'
import { HISTORY_HOUR_S, type HistoryInput } from '../../schemas/operator/history-range.ts'
import type { FrontFigures } from '../observe/history/figure-reader.ts'
import { History, HISTORY_BYTES } from '../observe/history/history.ts'
import { packed, unpacked, type SavedHistory } from '../observe/history/saved-history.ts'
import { SERIES_LAYOUT } from '../observe/history/series.ts'
import type { HistoryHour } from '../ports/operator/history.ts'
import type { ChildHistory } from './fleet/child.ts'
import type { ReloadRecord } from './reload-record.ts'
import { HISTORY_MINUTES_KEPT } from '../../schemas/operator/admin-port-limits.ts'

export interface NodeHistoryOptions {
  readonly version: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Writes an hour to the store. @returns whether it is written */
  readonly keep: RollUpOptions['keep']
}

interface Left {
  /** Identifies the history across starts: an hour that both starts wrote would otherwise count twice. */
  readonly run: string
  readonly history: SavedHistory
}

/** The history of a node, and its events. */
export class NodeHistory implements ChildHistory {
  readonly #options: NodeHistoryOptions
  #history: History
  #run: string = randomUUID()
  #rollUps: RollUps
  /** Open breakers by child: each front has its own breakers. */
  readonly #breakers = new Map<string, readonly string[]>()
  #open: ReadonlySet<string> = new Set()

  constructor(options: NodeHistoryOptions) {
    this.#options = options
    this.#history = new History(this.#nowS)
    this.#rollUps = this.#newRollUps()
  }

  /**
   * Begins a new history, or continues that of the previous start.
   * @param left text of `leave`; with null, or a text that is damaged or of another version, a new history begins
   */
  begin(left: string | null): void {
    const found = left === null ? null : unpacked<Left>(SERIES_LAYOUT, left, HISTORY_BYTES)
    const restored = found === null ? null : restoredFrom(found, this.#nowS)
    if (found !== null && restored !== null) {
      this.#history = restored
      this.#run = found.run
      this.#rollUps = this.#newRollUps()
    }
    this.#note('start', `Sluice ${this.#options.version}`)
  }

  /** The whole history, for the next start. */
  leave(): string {
    const left: Left = { run: this.#run, history: this.#history.save() }
    return packed(SERIES_LAYOUT, left)
  }

  take(childId: string, { counts, breakers }: FrontFigures): void {
    this.#history.take(counts, this.#nowS)
    this.#rollUps.came(this.#nowS)
    if (breakers === undefined) return
    this.#breakers.set(childId, breakers)
    this.#compareBreakers()
  }

  /** Reports that a child has ended: its breakers are removed, and the figures that it reported stay. */
  gone(childId: string): void {
    if (this.#breakers.delete(childId)) this.#compareBreakers()
  }

  reloaded({ state, reason }: Pick<ReloadRecord, 'state' | 'reason'>): void {
    if (state === 'done') this.#note('reload', 'settings reloaded')
    if (state === 'refused') this.#note('reload_refused', reason ?? '')
  }

  dependency(name: string, isUp: boolean): void {
    this.#note(isUp ? 'restored' : 'degraded', name)
  }

  read(input: HistoryInput): HistoryData {
    return this.#history.read(input, this.#nowS)
  }

  /** Writes the hours that are due to the store; an outage delays them. */
  rollUp(): Promise<void> {
    return this.#rollUps.write(this.#nowS)
  }

  get #nowS(): number {
    return Math.floor(this.#options.now() / 1_000)
  }

  #newRollUps(): RollUps {
    const { keep } = this.#options
    const hour: RollUpOptions['hour'] = (hourS) => this.#history.hour(hourS, this.#nowS)
    return new RollUps({ run: this.#run, hour, keep })
  }

  #note(kind: HistoryEventKind, text: string): void {
    this.#history.note(kind, text, this.#options.now())
    this.#rollUps.came(this.#nowS)
  }

  /** A breaker counts as open while it is open in any front. */
  #compareBreakers(): void {
    const open = new Set([...this.#breakers.values()].flat())
    for (const name of open) if (!this.#open.has(name)) this.#note('breaker_open', name)
    for (const name of this.#open) if (!open.has(name)) this.#note('breaker_closed', name)
    this.#open = open
  }
}

/** Null for invalid content of a damaged file, and for a history that begins after the current time. */
function restoredFrom({ history: saved }: Left, nowS: number): History | null {
  try {
    const history = new History(nowS)
    history.restore(saved)
    return saved.startedS <= nowS ? history : null
  } catch {
    return null
  }
}

const MINUTE_S = 60

interface RollUpOptions {
  /** UUID under which hours are written. */
  readonly run: string
  readonly hour: (hourS: number) => Omit<HistoryHour, 'run'>
  /** Writes an hour. @returns whether it is written */
  readonly keep: (hour: HistoryHour) => Promise<boolean>
}

/**
 * Writes the hours of a history to the store: the current hour repeatedly, and a past hour until it is written. Writing
 * an hour again replaces what this run wrote of it.
 */
export class RollUps {
  readonly #options: RollUpOptions
  /** Hours with figures that are not written yet. */
  readonly #due = new Set<number>()
  /** The last hour that was checked; an idle hour is written once, when it has ended. */
  #hourS: number | null = null
  #last: Promise<void> = Promise.resolve()

  constructor(options: RollUpOptions) {
    this.#options = options
  }

  /** Figures of this second arrived. @param atS second since 1970 */
  came(atS: number): void {
    this.#due.add(hourOf(atS))
  }

  /** Writes what is due, after the writes before it. */
  write(nowS: number): Promise<void> {
    const hourS = hourOf(nowS)
    if (this.#hourS !== null && this.#hourS !== hourS) this.#due.add(this.#hourS)
    this.#hourS = hourS
    this.#last = this.#last.then(() => this.#writeAll(nowS))
    return this.#last
  }

  async #writeAll(nowS: number): Promise<void> {
    for (const hourS of [...this.#due].sort((a, b) => a - b)) {
      // Figures that arrive while it is written make it due again.
      this.#due.delete(hourS)
      if (nowS - hourS >= HISTORY_MINUTES_KEPT * MINUTE_S) continue
      const isKept = await this.#options.keep({ ...this.#options.hour(hourS), run: this.#options.run })
      if (isKept) continue
      this.#due.add(hourS)
      return
    }
  }
}

function hourOf(second: number): number {
  return Math.floor(second / HISTORY_HOUR_S) * HISTORY_HOUR_S
}
