/** What a change of the audit log's proof is: its request, and what that leaves or refuses. */
import { randomUUID } from 'node:crypto'
import type { KeyKind } from '../../../src/schemas/keys/api-keys.ts'
import type { Stand } from '../../support/nodes/stand.ts'
import type { Owner, Place } from '../keys/isolation/owners.ts'

export interface World {
  readonly stand: Stand
  readonly owner: Owner
  /** The workspace `default` of `owner`. */
  readonly place: Place
  /** Management key of another organization. */
  readonly foreign: string
  /** Of the private endpoints' provider, which answers as it should. */
  readonly baseUrl: string
  /** Makes a group of an identity provider's. */
  group(): Promise<string>
  /** Throws at a refusal. @returns the answer, and the members of its `data` */
  make(method: string, path: string, body?: unknown, by?: KeyKind): Promise<Readonly<Record<string, unknown>>>
}

/** The parts of a request besides its operation's method and prefix. */
export interface Request {
  /** Below the prefix of its operations. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly by?: KeyKind
}

export interface Change {
  /** Creates the object of the change, and returns the request that changes it. */
  readonly request: (world: World) => Promise<Request>
  /** Rows besides that of the object itself: those that end with it. */
  readonly others?: number
  /** The same request a second time: it changes nothing. Left out: it changes something again. */
  readonly again?: 'nothing'
  /** It creates the object that its path names, so that no name is unknown. */
  readonly isNaming?: true
  /** Conflicts, and values that only the operation itself can refuse, after a success of the request. */
  readonly refused?: (world: World, done: Request) => Promise<readonly Request[]>
}

/** `unaudited`: why its successes leave no row. `never`: why it has none. */
export type Scenario = Change | { readonly unaudited: string } | { readonly never: string }

export const unique = (word: string): string => `${word}-${randomUUID().slice(0, 8)}`

export const once = (): Readonly<Record<string, string>> => ({ 'idempotency-key': randomUUID() })
