import type { Texts } from '../../config/texts.ts'
import type { LiveReading } from '../../observe/live-reader.ts'

/** The roles that the supervisor forks. */
export type Role = 'front' | 'runner'

/** What a forked process needs beside its code: one frozen generation of the configuration, and its place. */
export interface ChildPart {
  readonly role: Role
  /** Number of the slot, from 0; stable over restarts and replacements. */
  readonly slot: number
  /** The node's name in the store, the same at every start on one data directory. */
  readonly node: string
  /** The texts of the settings, from which the child builds the same config. */
  readonly settings: Texts
  /** By the environment name that the catalogue lists. */
  readonly providerKeys: Texts
  readonly databaseUrl: string
  readonly redis: { readonly url: string } | { readonly socketPath: string }
  /** Threads for long sessions. */
  readonly sessionThreads: number
  /** Connections to Postgres that the whole node may hold at once. */
  readonly connections: number
}

/** The part of one process: its replacement in the slot has another id. */
export interface StartedPart extends ChildPart {
  /** A UUID. A front stands in the store under it, so that the supervisor can take a dead one's row away. */
  readonly id: string
}

/**
 * Hashes of API keys, the one used last first, joined by commas: as one text it costs the loop of a front
 * that serves the least.
 */
export type KeyList = string

/** Messages of the supervisor to a child. */
export type ToChild =
  | { readonly kind: 'start'; readonly part: StartedPart }
  /** The ready line is out: log lines may follow it. */
  | { readonly kind: 'announced' }
  /** Finish what is in flight and end; a replaced front stays for idle keep-alive connections. Design §2. */
  | { readonly kind: 'drain'; readonly isReplaced: boolean }
  /** The node has another number of fronts or threads; what this child does itself stays. */
  | { readonly kind: 'scaled'; readonly connections: number }
  | { readonly kind: 'snapshot'; readonly id: number }
  | { readonly kind: 'look'; readonly id: number }
  | { readonly kind: 'known_keys'; readonly id: number }
  /** To a front that is being started: the keys that another one knows. */
  | { readonly kind: 'begin_with'; readonly keys: KeyList }
  /** To a runner: a front has died, and has left uploads that nobody will finish. */
  | { readonly kind: 'sweep' }

/** Messages of a child to the supervisor. */
export type FromChild =
  | { readonly kind: 'ready' }
  /** Its event loop turns. */
  | { readonly kind: 'pulse'; readonly isInspected: boolean }
  /** Why it ends before it was ready; the exit follows. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Metrics in the JSON form of prom-client. */
  | { readonly kind: 'snapshot'; readonly id: number; readonly metrics: unknown }
  | { readonly kind: 'known_keys'; readonly id: number; readonly keys: KeyList }
  /** For the live view. */
  | { readonly kind: 'looked'; readonly id: number; readonly reading: LiveReading }
