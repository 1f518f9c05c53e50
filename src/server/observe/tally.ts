import { Counter, type Registry } from 'prom-client'

/** The next label by its value, or behind the last label what was made. */
interface Branch<T> {
  readonly next: Map<string, Branch<T>>
  made: T | null
}

/** One object for each set of labels, found by one lookup for each label. */
export class ByLabels<T> {
  readonly #root: Branch<T> = { next: new Map(), made: null }
  readonly #make: (values: readonly string[]) => T

  /** @param make called at the first sight of a set of labels */
  constructor(make: (values: readonly string[]) => T) {
    this.#make = make
  }

  of(values: readonly string[]): T {
    let branch = this.#root
    for (const value of values) branch = branch.next.get(value) ?? sprout(branch, value)
    return (branch.made ??= this.#make(values))
  }
}

/** A number that grows, which its owner raises. */
export interface Count {
  count: number
}

/** A growing number with its labels. */
interface Cell extends Count {
  readonly labels: Readonly<Record<string, string>>
  shown: number
}

/**
 * A counter whose counting is one lookup for each label; prom-client's own counter hashes its labels at every
 * call. Numbers of which nothing was counted are not shown.
 */
export class Tally {
  readonly #cells: Cell[] = []
  readonly #byLabels = new ByLabels((values) => this.#begin(values))
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
    return this.#cells.filter(({ count }) => count > 0)
  }

  add(count: number, ...values: readonly string[]): void {
    this.#byLabels.of(values).count += count
  }

  /** The number behind a set of labels, for code that counts often. */
  cell(...values: readonly string[]): Count {
    return this.#byLabels.of(values)
  }

  #begin(values: readonly string[]): Cell {
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? '']))
    const cell = { labels, shown: 0, count: 0 }
    this.#cells.push(cell)
    return cell
  }
}

function sprout<T>(branch: Branch<T>, value: string): Branch<T> {
  const grown: Branch<T> = { next: new Map(), made: null }
  branch.next.set(value, grown)
  return grown
}
