import { sessionThreads } from '../../src/server/supervisor/fleet/shares.ts'

/** Effective worker counts of a node: each front has at least one thread. */
export interface Pair {
  readonly fronts: number
  readonly workers: number
}

/** Every number of fronts with every number of workers, each effective pair once, fewest processes first. */
export function pairsOf(fronts: readonly number[], workers: readonly number[]): readonly Pair[] {
  const all = fronts.flatMap((front) =>
    workers.map((worker): Pair => ({
      fronts: front,
      workers: sessionThreads(worker, front).reduce((sum, threads) => sum + threads, 0),
    })),
  )
  const isFirst = (pair: Pair, at: number): boolean =>
    all.findIndex((other) => textOf(other) === textOf(pair)) === at
  return all.filter(isFirst).sort((a, b) => a.fronts - b.fronts || a.workers - b.workers)
}

export function textOf({ fronts, workers }: Pair): string {
  return `${fronts} × ${workers}`
}
