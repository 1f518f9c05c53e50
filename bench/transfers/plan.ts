/**
 * What a load of transfers is and what it found. Shared by the generator's process and by those who start it.
 */
import type { LatencyRecord } from '../record.ts'

export interface TransferRequest {
  readonly method: string
  readonly path: string
  /** Beside host and content-length, which the generator writes. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: 'form' | 'raw' | 'none'
  readonly status: number
}

export interface TransferPlan {
  readonly port: number
  readonly connections: number
  readonly request: TransferRequest
  /** Bytes of the file that is sent or fetched. */
  readonly payloadBytes: number
  /** Transfers of each connection, one after the other. */
  readonly rounds: number
  /** No transfer begins later. */
  readonly durationMs: number
  /** What still runs when `durationMs` is over is cut and counted as alive. */
  readonly isCutAtEnd: boolean
  /** Of each reader; null: as fast as it can. */
  readonly readBytesPerS: number | null
}

export interface TransferResult {
  /** Whole ones with the expected status. */
  readonly transfers: number
  readonly failed: number
  /** Reasons of the first failed ones. */
  readonly failures: readonly string[]
  /** Bytes of files in whole transfers; of cut ones what was received. */
  readonly bytes: number
  /** From the first byte out to the last answer. */
  readonly measuredMs: number
  /** Of whole transfers, milliseconds. */
  readonly latency: LatencyRecord<number>
  /** Share of one core that the generator itself used. */
  readonly generatorCores: number
  /** Cut at the end, and had made progress until then. */
  readonly alive: number
  /** The ids in the answers to uploads. */
  readonly ids: readonly string[]
}
