/** The plan of a load of transfers and its result, shared by the generator's process and its parent. */
import type { LatencyRecord } from '../record.ts'
import type { FileKind } from './payload.ts'

export interface TransferRequest {
  readonly method: string
  readonly path: string
  /** Headers beside host and content-length, which the generator writes. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: 'form' | 'raw' | 'none'
  /** Media when omitted. */
  readonly file?: FileKind
  readonly status: number
}

export interface TransferPlan {
  readonly port: number
  readonly connections: number
  readonly request: TransferRequest
  /** Bytes of the transferred file. */
  readonly payloadBytes: number
  /** Transfers of each connection, one after the other. */
  readonly rounds: number
  /** Milliseconds after which no transfer begins. */
  readonly durationMs: number
  /** True: a transfer that still runs after `durationMs` is cut and counted as alive. */
  readonly isCutAtEnd: boolean
  /** Bytes a second of each reader; null: as fast as it can. */
  readonly readBytesPerS: number | null
}

export interface TransferResult {
  /** Complete transfers with the expected status. */
  readonly transfers: number
  readonly failed: number
  /** Reasons of the first failures. */
  readonly failures: readonly string[]
  /** Bytes of files in complete transfers; for cut ones the received bytes. */
  readonly bytes: number
  /** Milliseconds from the first byte sent to the last answer. */
  readonly measuredMs: number
  /** Milliseconds of complete transfers. */
  readonly latency: LatencyRecord<number>
  /** Share of one core that the generator itself used. */
  readonly generatorCores: number
  /** Transfers that were cut at the end and had made progress until then. */
  readonly alive: number
  /** The ids in the answers to uploads. */
  readonly ids: readonly string[]
}
