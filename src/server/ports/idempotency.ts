import type { Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'

/**
 * Answers that are kept for a day under their `Idempotency-Key`. A `create` with a JSON body sets
 * `idempotent: true`; the pipeline validates the header, waits for the first call, compares the bodies, and
 * calls `remember` or `forget` after `run`. The answer is kept as it is, so it must not hold values that may
 * be read only once (a key, a secret). A process can die between the commit of the object that `run` made and
 * that of its answer; the repetition then runs again. Where that must not happen, `run` hands `call.claim` to
 * its store, which calls `keepAnswer` of `store/base/idempotency.ts` in the transaction that makes the
 * object. An operation with a record of its own (uploads: their row) sets `idempotent: 'own'` and uses
 * `call.idempotency`.
 */
export interface Idempotency {
  /**
   * A repetition waits for a running first call, IDEMPOTENCY_WAIT_MS_MAX at most; a first call whose process
   * died is taken over when its lease runs out. Failures: idempotency_mismatch (other method, path or query),
   * idempotency_running, busy (too many wait), client_gone and others of a signal, store_unavailable.
   */
  begin(input: IdempotencyInput): Promise<Outcome<ClaimOrAnswer>>
  /**
   * Kept for IDEMPOTENCY_KEPT_MS, before the caller gets the answer. Never fails: without the store the write
   * is retried in the background. Does nothing when another process has the claim, or it has an answer.
   */
  remember(claim: IdempotencyClaim, answer: KeptAnswer): Promise<void>
  /** The next call under the key is the first. Never fails: if the write is lost, the lease ends the claim. */
  forget(claim: IdempotencyClaim): Promise<void>
}

export interface IdempotencyInput {
  readonly idempotency: Repeatable
  /** The workspace, else the organization, whose number of waiting calls is limited. */
  readonly holder: string
  readonly signal?: AbortSignal
}

/** The right to be the first call under a key until `attempt` changes, the fencing token; its lease is renewed. */
export interface IdempotencyClaim {
  readonly id: string
  readonly attempt: number
}

export interface KeptAnswer {
  /** Lower-case hex, of the body or of the part `file` of an upload. A repetition must have the same. */
  readonly bodySha256: string
  /** JSON, at most KEPT_ANSWER_BYTES_MAX. */
  readonly json: string
}

export type ClaimOrAnswer =
  | { readonly kind: 'first'; readonly claim: IdempotencyClaim }
  /** The body of the repetition is still to be compared. */
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
