import type { Journal } from '../ports/money/journal.ts'
import type { MoneyTimers } from './money-timers.ts'

/** A reservation whose take was gathered in the journal. */
interface Gathered {
  /** Called once. @param isWritten false: the disk refused the write, and the take never happened */
  wrote(isWritten: boolean): void
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
  #done: Promise<boolean> | null = null
  #resolveDone: ((isWritten: boolean) => void) | null = null

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
    this.#soon(() => {
      this.#isDue = false
      this.write()
    })
  }

  /** The result of the next write, which is that of all takes gathered before it: they share one promise. */
  get done(): Promise<boolean> {
    this.#done ??= new Promise((resolve) => (this.#resolveDone = resolve))
    return this.#done
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
    this.#resolveDone?.(isWritten)
    this.#done = this.#resolveDone = null
    return isWritten
  }
}
