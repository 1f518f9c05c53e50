import { Counter, type Registry } from 'prom-client'

/** A growing number with its labels. */
interface Cell {
  readonly labels: Readonly<Record<string, string>>
  shown: number
  count: number
}

/**
 * A counter whose counting is one lookup in a map; prom-client's own counter hashes its labels at every call.
 */
export class Tally {
  readonly #cells = new Map<string, Cell>()
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
        for (const cell of cells.values()) {
          if (cell.count > cell.shown) this.inc(cell.labels, cell.count - cell.shown)
          cell.shown = cell.count
        }
      },
    })
  }

  /** Every number with its labels, since the start. */
  get counts(): Iterable<Readonly<Pick<Cell, 'labels' | 'count'>>> {
    return this.#cells.values()
  }

  add(count: number, ...values: readonly string[]): void {
    this.cell(...values).count += count
  }

  /** The number behind a set of labels, for code that counts often. */
  cell(...values: readonly string[]): { count: number } {
    // Label values are names of Sluice's own: none holds the separator.
    const key = values.join('|')
    const known = this.#cells.get(key)
    if (known !== undefined) return known
    const labels = Object.fromEntries(this.#names.map((name, i) => [name, values[i] ?? '']))
    const cell = { labels, shown: 0, count: 0 }
    this.#cells.set(key, cell)
    return cell
  }
}
