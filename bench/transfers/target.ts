import type { ProcessRow } from '../../test/support/load/process-cpu.ts'
import type { TransferRequest, TransferResult } from './plan.ts'

/** A server that takes or hands out files, from the outside. */
export interface FileTarget {
  readonly name: string
  /** Root of the process tree whose CPU and memory count. */
  readonly pid: number
  readonly port: number
  /** Of that tree, a process that serves: its first thread and its other threads are told apart. */
  serves(row: ProcessRow): boolean
  request(payloadBytes: number): TransferRequest
  /**
   * 99th percentile of its event loop's delay since the last call; null for a server without one that can be
   * asked.
   */
  loopP99Ms(): Promise<number | null>
  /** Removes what a load has stored; what is not counted. */
  clear(result: TransferResult): Promise<void>
  /** Said under the tables: what is and what is not alike. */
  readonly note: string
}

/** A server that offers several targets. */
export interface FileServer {
  readonly targets: readonly FileTarget[]
  stop(): Promise<void>
}
