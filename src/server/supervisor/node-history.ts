import { randomUUID } from 'node:crypto'
import type { HistoryData, HistoryEventKind } from '../../schemas/operator/history.ts'
import type { HistoryInput } from '../../schemas/operator/history-range.ts'
import type { FrontFigures } from '../observe/history/figure-reader.ts'
import { History, HISTORY_BYTES } from '../observe/history/history.ts'
import { packed, unpacked, type SavedHistory } from '../observe/history/saved-history.ts'
import { SERIES_LAYOUT } from '../observe/history/series.ts'
import type { ChildHistory } from './fleet/child.ts'
import type { ReloadRecord } from './reload-record.ts'
import { RollUps, type RollUpOptions } from './roll-ups.ts'

export interface NodeHistoryOptions {
  readonly version: string
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Writes an hour to the store. @returns whether it is written */
  readonly keep: RollUpOptions['keep']
}

/** What a node leaves to its next start. */
interface Left {
  /** Goes on with the history: an hour that both starts wrote would else count twice. */
  readonly run: string
  readonly history: SavedHistory
}

/** The history of a node, and the events beside it. */
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

  /** A child has ended: its breakers are gone, while what it has told stays. */
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
