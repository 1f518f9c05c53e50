/**
 * Runs one cell in a process of its own: its share of a core shows whether the generator held a figure back.
 * It sends its parent `ready`, a live line every LIVE_MS, then the figures.
 */
import { Cell, type StreamsPlan } from './cell.ts'
import { LIVE_MS } from './limits.ts'

export interface LiveLine {
  readonly live: string
}

// The Ctrl-C of a terminal reaches both processes, and the parent decides what becomes of the cell.
process.on('SIGINT', () => undefined)
process.on('disconnect', () => process.exit(0))
process.once('message', (plan: StreamsPlan) => {
  process.send?.('ready')
  const cell = new Cell(plan)
  process.on('message', (word) => word === 'stop' && cell.stop())
  setInterval(() => process.send?.({ live: cell.live } satisfies LiveLine), LIVE_MS).unref()
  void cell.run().then((result) => process.send?.(result))
})
