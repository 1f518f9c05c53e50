import { Counter, type Registry } from 'prom-client'

/** A growing number with its labels. */
interface Cell {
  readonly labels: Readonly<Record<string, string>>
  shown: number
  count: number
}

/** The next label by its value, or behind the last label the number. */
interface Branch {
  readonly next: Map<string, Branch>
  cell: Cell | null
}

/**
 * A counter whose counting is one lookup for each label; prom-client's own counter hashes its labels at every
 * call.
 */
export class Tally {
  readonly #root: Branch = { next: new Map(), cell: null }
  readonly #cells: Cell[] = []
  readonly #names: readonly string[]

  constructor(registry: Registry, name: string, help: string, labelNames: readonly string[]) {
    this.#names = labelNames
    const cells = this.#cells
    new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      collect() {
        for (const cell of cells) {
          if (cell.count > cell.shown) this.inc(cell.labels, cell.count - cell.shown)
          cell.shown = cell.count
        }
      },
    })
  }

  /** Every number with its labels, since the start. */
  get counts(): Iterable<Readonly<Pick<Cell, 'labels' | 'count'>>> {
    return this.#cells
  }

  add(count: number, ...values: readonly string[]): void {
    this.#cellOf(values).count += count
  }

  /** The number behind a set of labels, for code that counts often. */
  cell(...values: readonly string[]): { count: number } {
    return this.#cellOf(values)
  }

  #cellOf(values: readonly string[]): Cell {
    let branch = this.#root
    for (const value of values) branch = branch.next.get(value) ?? sprout(branch, value)
    branch.cell ??= this.#begin(values)
    return branch.cell
  }

  #begin(values: readonly string[]): Cell {
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? '']))
    const cell = { labels, shown: 0, count: 0 }
    this.#cells.push(cell)
    return cell
  }
}

function sprout(branch: Branch, value: string): Branch {
  const grown: Branch = { next: new Map(), cell: null }
  branch.next.set(value, grown)
  return grown
}
