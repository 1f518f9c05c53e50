import type { LoadRequest } from '../test/support/load/load-plan.ts'

/** A server that the bench drives, from the outside: a process and a request. */
export interface Target {
  readonly name: string
  /** Root of the process tree whose CPU counts. */
  readonly pid: number
  readonly port: number
  readonly request: LoadRequest
  /** Of a good answer; 200 unless given. */
  readonly successStatus?: number
  /** Before each of its samples. */
  readonly before?: () => Promise<void>
  /** Said under the table: what is and what is not alike. */
  readonly note: string
  stop(): Promise<void>
}

/** A peer that this machine cannot run, with the reason. */
export interface Absent {
  readonly name: string
  readonly absent: string
}
