import type { Texts } from '../../config/texts.ts'
import type { HistoryData } from '../../../schemas/operator/history.ts'
import type { HistoryInput } from '../../../schemas/operator/history-range.ts'
import type { FrontFigures } from '../../observe/history/figure-reader.ts'
import type { HistoryHour } from '../../ports/operator/history.ts'
import type { LiveReading } from '../../observe/live-reader.ts'

export type Role = 'front' | 'runner'

/** The assignment of a forked process: one frozen generation of the configuration, and its place. */
export interface ChildPart {
  readonly role: Role
  /** Number of the slot, from 0; stable over restarts and replacements. */
  readonly slot: number
  /** The node's name in the store, the same at every start on one data directory. */
  readonly node: string
  /** The texts of the settings, from which the child builds the same config. */
  readonly settings: Texts
  /** Provider keys by the environment name that the catalogue lists. */
  readonly providerKeys: Texts
  readonly databaseUrl: string
  readonly redis: { readonly url: string } | { readonly socketPath: string }
  /** Threads for long sessions. */
  readonly sessionThreads: number
  /** Connections to Postgres that the whole node may hold at once. */
  readonly connections: number
}

/** The assignment of one process: its replacement in the slot has another id. */
export interface StartedPart extends ChildPart {
  /** A UUID. A front's row in the store has this id, so that the supervisor can remove the row of a dead front. */
  readonly id: string
}

/**
 * Hashes of API keys, the most recently used first, joined by commas: one text is the form that costs the loop of a
 * serving front the least.
 */
export type KeyList = string

export type ToChild =
  | { readonly kind: 'start'; readonly part: StartedPart }
  /** The ready line is written: log lines may follow it. */
  | { readonly kind: 'announced' }
  /**
   * The child finishes what is in flight and ends; a replaced front stays for idle keep-alive connections, and any
   * other front for its idle connections, for `idleMs` at most. Design §2.
   */
  | { readonly kind: 'drain'; readonly isReplaced: boolean; readonly idleMs: number }
  /** The node has a new number of fronts or threads; this child's own work stays the same. */
  | { readonly kind: 'scaled'; readonly connections: number }
  | { readonly kind: 'snapshot'; readonly id: number }
  | { readonly kind: 'look'; readonly id: number }
  /** The lines that a front asked for. */
  | { readonly kind: 'history'; readonly id: number; readonly data: HistoryData }
  | { readonly kind: 'known_keys'; readonly id: number }
  /** To a starting front: the keys that another front has cached. */
  | { readonly kind: 'begin_with'; readonly keys: KeyList }
  /** To a runner: an hour to be written to the store. */
  | { readonly kind: 'roll_up'; readonly id: number; readonly hour: HistoryHour }
  /** To a runner: a front has died and left uploads that no front will finish. */
  | { readonly kind: 'sweep' }

export type FromChild =
  /** `hasStore`: the child has reached Postgres, or needs no Postgres to be ready. */
  | { readonly kind: 'ready'; readonly hasStore: boolean }
  /**
   * The event loop of the child is running; `hasCalls`: there were calls since the last pulse. The figures since
   * the last pulse are absent where there are none.
   */
  | {
      readonly kind: 'pulse'
      readonly isInspected: boolean
      readonly hasCalls: boolean
      /** The child's connections to Postgres answer. */
      readonly hasStore: boolean
      readonly figures?: FrontFigures
    }
  /** Why the child ends before it is ready; it exits next. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Metrics in the JSON form of prom-client. */
  | { readonly kind: 'snapshot'; readonly id: number; readonly metrics: unknown }
  | { readonly kind: 'known_keys'; readonly id: number; readonly keys: KeyList }
  /** Whether an hour is in the store. */
  | { readonly kind: 'rolled_up'; readonly id: number; readonly isKept: boolean }
  /** Asks for lines of the node's history. */
  | { readonly kind: 'history'; readonly id: number; readonly input: HistoryInput }
  | { readonly kind: 'looked'; readonly id: number; readonly reading: LiveReading }
