import { HISTORY_MINUTES_KEPT } from '../../schemas/operator/history-limits.ts'
import { HISTORY_HOUR_S } from '../../schemas/operator/history-range.ts'
import type { HistoryHour } from '../ports/operator/history.ts'

const MINUTE_S = 60

export interface RollUpOptions {
  /** UUID under which hours are written. */
  readonly run: string
  /** All that is known of an hour. */
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
