import type { GiveBack, Journal, Settlement } from '../../../src/server/ports/money/journal.ts'
import type {
  BookEntry,
  Closing,
  Flush,
  OpenTake,
  TakeProgress,
} from '../../../src/server/ports/money/lending.ts'

type Change =
  | { readonly kind: 'take'; readonly id: number; readonly take: OpenTake }
  | { readonly kind: 'progress'; readonly id: number; readonly progress: TakeProgress }
  | { readonly kind: 'end'; readonly id: number; readonly entry: Settlement | null }
  | { readonly kind: 'back'; readonly entry: GiveBack }

/** A journal in memory, whose offsets count records; its disk can be full, or give nothing back. */
export class ModelJournal implements Journal {
  readonly id: string
  isFull = false
  isUnreadable = false
  isBroken = false
  writes = 0
  /** Takes that are written and open. */
  readonly open = new Map<number, OpenTake>()
  #gathered: Change[] = []
  readonly #entries: { readonly at: number; readonly entry: BookEntry }[] = []
  #end = 0
  #applied = 0
  #nextId = 1
  #pending: Flush | null = null

  constructor(id: string) {
    this.id = id
  }

  take(take: OpenTake): number {
    this.#gathered.push({ kind: 'take', id: this.#nextId, take })
    return this.#nextId++
  }

  progress(id: number, progress: TakeProgress): void {
    this.#gathered.push({ kind: 'progress', id, progress })
  }

  settle(id: number, entry: Settlement): void {
    this.#gathered.push({ kind: 'end', id, entry })
  }

  release(id: number): void {
    this.#gathered.push({ kind: 'end', id, entry: null })
  }

  giveBack(entry: GiveBack): void {
    this.#gathered.push({ kind: 'back', entry })
  }

  write(): boolean {
    this.isBroken = this.isFull || this.isUnreadable
    if (this.isFull) {
      this.#gathered = this.#gathered.filter(({ kind }) => kind !== 'take' && kind !== 'progress')
      return false
    }
    if (this.#gathered.length > 0) this.writes += 1
    for (const change of this.#gathered) {
      this.#end += 1
      this.#count(change)
    }
    this.#gathered = []
    return true
  }

  #count(change: Change): void {
    const take = 'id' in change ? this.open.get(change.id) : undefined
    if (change.kind === 'take') this.open.set(change.id, change.take)
    else if (change.kind === 'progress') {
      if (take !== undefined) this.open.set(change.id, { ...take, progress: change.progress })
    } else {
      if (change.kind === 'end') this.open.delete(change.id)
      if (change.entry !== null) this.#entries.push({ at: this.#end, entry: change.entry })
    }
  }

  next(entriesMax: number): Flush | null {
    const isKept = this.#pending !== null && this.#pending.entries.length <= entriesMax
    if (isKept || this.#entries.length === 0 || this.isUnreadable) return this.#pending
    const batch = this.#entries.slice(0, entriesMax)
    const to = batch.at(-1)?.at ?? this.#applied
    this.#pending = { journalId: this.id, from: this.#applied, to, entries: batch.map(({ entry }) => entry) }
    return this.#pending
  }

  applied(to: number): void {
    this.#entries.splice(0, this.#entries.filter(({ at }) => at <= to).length)
    this.#applied = to
    this.#pending = null
  }

  close(): void {}

  /** What a supervisor reads of it when the front was killed. @param applied as the books have it */
  closing(applied = this.#applied): Closing {
    const entries = this.#entries.filter(({ at }) => at > applied).map(({ entry }) => entry)
    return {
      journalId: this.id,
      rest: { from: applied, to: this.#end, entries },
      open: [...this.open.values()],
      isComplete: true,
    }
  }
}
