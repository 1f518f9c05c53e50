import type { ProcessRow } from '../../test/support/load/process-cpu.ts'
import type { TransferRequest, TransferResult } from './plan.ts'

/** A server that receives or serves files, seen from the outside. */
export interface FileTarget {
  readonly name: string
  /** Root of the process tree whose CPU and memory count. */
  readonly pid: number
  readonly port: number
  /** True for a serving process of that tree: its first thread and its other threads are counted apart. */
  serves(row: ProcessRow): boolean
  request(payloadBytes: number): TransferRequest
  /**
   * 99th percentile of its event loop's delay since the last call; null for a server without such a figure.
   */
  loopP99Ms(): Promise<number | null>
  /** Removes the files that a load has stored, outside of the measurement. */
  clear(result: TransferResult): Promise<void>
  /** Text under the tables: similarities and differences. */
  readonly note: string
}

/** A server with several targets. */
export interface FileServer {
  readonly targets: readonly FileTarget[]
  stop(): Promise<void>
}
