import type { Journal } from '../ports/money/journal.ts'
import type { MoneyTimers } from './money-timers.ts'

/** A reservation whose take was gathered in the journal. */
interface Gathered {
  /** Called once. @param isWritten false: the disk refused the write, and the take never happened */
  wrote(isWritten: boolean): void
  /** Called when all takes of the write have learnt its result: their calls may go on. */
  goOn(): void
}

/**
 * Writes a front's journal once for all takes of one event-loop tick: an append costs as much as the rest of
 * a call's money.
 */
export class GroupCommit {
  readonly #journal: Pick<Journal, 'write'>
  readonly #soon: MoneyTimers['soon']
  #gathered: Gathered[] = []
  #isDue = false

  constructor(journal: Pick<Journal, 'write'>, soon: MoneyTimers['soon']) {
    this.#journal = journal
    this.#soon = soon
  }

  /** The take learns the result of the next write, at the latest the one at the end of this tick. */
  gather(take: Gathered): void {
    this.#gathered.push(take)
    this.writeSoon()
  }

  writeSoon(): void {
    if (this.#isDue) return
    this.#isDue = true
    this.#soon(this.#writeDue)
  }

  readonly #writeDue = (): void => {
    this.#isDue = false
    this.write()
  }

  /**
   * Writes the journal. Every write of the front's journal goes through here, so that each take learns its
   * result.
   */
  write(): boolean {
    const isWritten = this.#journal.write()
    if (this.#gathered.length === 0) return isWritten
    const gathered = this.#gathered
    this.#gathered = []
    for (const take of gathered) take.wrote(isWritten)
    for (const take of gathered) take.goOn()
    return isWritten
  }
}
