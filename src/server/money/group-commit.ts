import type { Journal } from '../ports/money/journal.ts'
import type { MoneyTimers } from './money-timers.ts'

/** A take that was gathered in the journal. */
interface Gathered {
  /** Once. @param isWritten false: the disk would not, and the take never was */
  wrote(isWritten: boolean): void
}

/**
 * Writes a front's journal once for all that came in a turn of the loop: an append costs as much as the rest
 * of a call's money.
 */
export class GroupCommit {
  readonly #journal: Pick<Journal, 'write'>
  readonly #soon: MoneyTimers['soon']
  #gathered: Gathered[] = []
  #isDue = false
  #done: Promise<void> | null = null
  #tell: (() => void) | null = null

  constructor(journal: Pick<Journal, 'write'>, soon: MoneyTimers['soon']) {
    this.#journal = journal
    this.#soon = soon
  }

  /** It hears of the next write, at the latest of that behind this turn. */
  gather(take: Gathered): void {
    this.#gathered.push(take)
    this.writeSoon()
  }

  writeSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#soon(() => {
      this.#isDue = false
      this.write()
    })
  }

  /** Settles behind the next write, one for all. */
  get done(): Promise<void> {
    this.#done ??= new Promise((resolve) => (this.#tell = resolve))
    return this.#done
  }

  /** Every write of the front's journal goes through here, or takes would not hear of theirs. */
  write(): boolean {
    const isWritten = this.#journal.write()
    if (this.#gathered.length === 0) return isWritten
    const gathered = this.#gathered
    this.#gathered = []
    for (const take of gathered) take.wrote(isWritten)
    this.#tell?.()
    this.#done = this.#tell = null
    return isWritten
  }
}
