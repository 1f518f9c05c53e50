import type { LoadRequest } from '../test/support/load/load-plan.ts'
import type { HeapReading } from './heap/reading.ts'

/** A server that the bench drives from the outside: a process and a request. */
export interface Target {
  readonly name: string
  /** Root of the process tree whose CPU counts. */
  readonly pid: number
  readonly port: number
  readonly request: LoadRequest
  /** Status of a good answer; 200 by default. */
  readonly successStatus?: number
  /** Runs before each of its samples. */
  readonly before?: () => Promise<void>
  /** Reads the garbage of the process that serves; null: it does not report. */
  readonly heap?: () => Promise<HeapReading | null>
  /** Text under the table: similarities and differences. */
  readonly note: string
  stop(): Promise<void>
}

/** A peer that cannot run on this machine, with the reason. */
export interface Absent {
  readonly name: string
  readonly absent: string
}
