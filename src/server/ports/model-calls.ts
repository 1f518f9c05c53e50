import type { Failure } from '../../schemas/failures.ts'
import type { KeyRecord } from './keys/keys.ts'
import type { Spend } from './money/money.ts'
import type { CallNotes } from './observe.ts'

/** `{<workspace>}:<kind>:<id>`: the braces keep all keys of a workspace on one node of Redis. */
export type CallOwner = string

/** A limit of concurrent calls. */
export interface PlaceLimit {
  readonly owner: CallOwner
  readonly max: number
}

/** A limit of tokens a minute, all of which may be used at once. */
export interface TokenLimit {
  readonly owner: CallOwner
  readonly perMinute: number
}

/** All owners belong to one workspace. */
export interface LimitedCall {
  /** Unique among the calls of all fronts. */
  readonly id: string
  readonly places: readonly PlaceLimit[]
  readonly tokens: readonly TokenLimit[]
}

/** Remaining tokens. All durations are by the authority's clock. */
export interface TokensLeft {
  readonly remaining: number
  /** Milliseconds until all of them are free. */
  readonly resetAfterMs: number
}

export type CallGrant =
  | { readonly isGranted: true; readonly left: readonly TokensLeft[] }
  /** Nothing was taken. */
  | { readonly isGranted: false; readonly by: PlaceLimit }
  | {
      readonly isGranted: false
      readonly by: TokenLimit
      readonly left: TokensLeft
      readonly retryAfterMs: number
    }

export interface CallAuthority {
  /** Takes all places and the tokens, or nothing. Rejects when the authority does not answer in time. */
  take(call: LimitedCall, want: number, waitMsMax: number): Promise<CallGrant>
  /**
   * Frees the places, and also takes this many more tokens (negative: returns them). Never throws: places that
   * are not freed end with their lease.
   */
  giveBack(call: LimitedCall, tokens: number): void
  /** Extends the lease of the places of these calls at an owner, even when the authority has lost them. */
  renew(owner: CallOwner, ids: readonly string[]): void
  readonly isReachable: boolean
  /** The listener is called each time the authority becomes reachable again. @returns a function that removes the listener */
  onReturn(listener: () => void): () => void
}

export interface AdmittedCall {
  /** Null: admitted. */
  readonly failure: Failure | null
  /** Headers of the reply; null: the call has no limit of tokens. */
  readonly headers: Readonly<Record<string, string>> | null
  /** Called once: frees the places, and corrects the estimate. @param tokens that the call used; 0: it had no result */
  end(tokens: number): void
}

export interface CallInput {
  readonly key: KeyRecord
  /** Tokens that the call is expected to use; called when a limit needs them. */
  readonly estimate: () => number
}

/** Enforces `max_parallel` and `rate_limit_tpm` of the key and of its workspace. */
export interface ModelCalls {
  /** Settles within RATE_WAIT_MS_MAX. Failures: rate_limited, tokens_over_limit. */
  admit(input: CallInput): Promise<AdmittedCall>
}

export interface PayingCall {
  readonly key: KeyRecord
  readonly requestId: string
  /** `performance.now()` milliseconds. */
  readonly deadlineAt: number
  /** Created on first use; the reason is a `CallEnded`. */
  readonly signal: AbortSignal
  /** True when the signal is aborted; reading this property creates no signal. */
  readonly hasEnded: boolean
  readonly notes: CallNotes
  /** Adds headers of limits to the reply. */
  limited(headers: Readonly<Record<string, string>>): void
}

export interface PaymentPorts {
  readonly spend: Spend
  readonly modelCalls: ModelCalls
}

/** Replies of calls to models; other operations have further kinds. */
export type ModelReply =
  | { readonly kind: 'json'; readonly value: unknown; readonly headers?: Readonly<Record<string, string>> }
  | {
      readonly kind: 'bytes'
      /** May be in a reused buffer: see `owned` of schemas/values/lent-bytes.ts. */
      readonly parts: readonly (Uint8Array | string)[]
      readonly contentType: string
      readonly headers?: Readonly<Record<string, string>>
      /** The parts stay in memory anyway because other replies share them: an unread reply takes no further memory. */
      readonly isShared?: boolean
      /** Called exactly once, after the last byte was written or the reply was dropped; frees borrowed memory. */
      readonly done?: () => void
    }
  /** The reply was written as events, by `events` of the call. */
  | { readonly kind: 'streamed' }
