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
  /** Goes on with the history: an hour that both starts wrote would else count twice. */
  readonly run: string
  readonly history: SavedHistory
}

/** The history of a node, and its events. */
export class NodeHistory implements ChildHistory {
  readonly #options: NodeHistoryOptions
  #history: History
  #run: string = randomUUID()
  #rollUps: RollUps
  /** Open breakers by child: each front has its own. */
  readonly #breakers = new Map<string, readonly string[]>()
  #open: ReadonlySet<string> = new Set()

  constructor(options: NodeHistoryOptions) {
    this.#options = options
    this.#history = new History(this.#nowS)
    this.#rollUps = this.#newRollUps()
  }

  /**
   * Begins, or goes on from what the start before has left.
   * @param left text of `leave`; null, one of another version or a damaged one: a new history
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

  /** All of it, for the next start. */
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

  /** A child has ended: its breakers are removed, and its reported figures stay. */
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

  /** A breaker is open while it is in any front. */
  #compareBreakers(): void {
    const open = new Set([...this.#breakers.values()].flat())
    for (const name of open) if (!this.#open.has(name)) this.#note('breaker_open', name)
    for (const name of this.#open) if (!open.has(name)) this.#note('breaker_closed', name)
    this.#open = open
  }
}

/** Null for what a damaged file holds, and for a start that lies ahead of the clock. */
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
  /** Writes it. @returns whether it is written */
  readonly keep: (hour: HistoryHour) => Promise<boolean>
}

/**
 * Brings the hours of a history to the store: the hour under way again and again, and one that is over until
 * it is written. An hour that is written again replaces what this run wrote of it.
 */
export class RollUps {
  readonly #options: RollUpOptions
  /** Hours with something that is not written. */
  readonly #due = new Set<number>()
  /** The last hour that was looked at; an idle hour is written once, when it is over. */
  #hourS: number | null = null
  #last: Promise<void> = Promise.resolve()

  constructor(options: RollUpOptions) {
    this.#options = options
  }

  /** Something came. @param atS second since 1970 */
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
      // What comes while it is written makes it due again.
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
