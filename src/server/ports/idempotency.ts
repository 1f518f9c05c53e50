import type { Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'

/**
 * Answers that are kept for a day under their `Idempotency-Key`. A `create` with a JSON body sets `idempotent:
 * true`; the pipeline validates the header, waits for the first call, compares the bodies, and calls
 * `remember` or `forget` after `run`. The answer is stored as it is, so it must not contain values that may be
 * shown only once (a key, a secret). A process can die between the commit of the object that `run` created and
 * the commit of its answer; the repetition then runs again. If that must not happen, `run` passes `call.claim`
 * to its store, which calls `keepAnswer` of `store/base/idempotency.ts` in the transaction that creates the
 * object. An operation that keeps a record of its own (for uploads, the file's row) sets `idempotent: 'own'`
 * and uses `call.idempotency`.
 */
export interface Idempotency {
  /**
   * A repetition waits at most IDEMPOTENCY_WAIT_MS_MAX for a first call that is still running; the claim of a
   * first call whose process died is taken over when its lease expires. Failures: idempotency_mismatch (other
   * method, path or query), idempotency_running, busy (too many wait), client_gone and others of a signal,
   * store_unavailable.
   */
  begin(input: IdempotencyInput): Promise<Outcome<ClaimOrAnswer>>
  /**
   * Kept for IDEMPOTENCY_KEPT_MS, before the caller gets the answer. Never fails: without the store the write
   * is retried in the background. Does nothing when another process has the claim, or the claim already has an
   * answer.
   */
  remember(claim: IdempotencyClaim, answer: KeptAnswer): Promise<void>
  /** The next call with the key counts as the first again. Never fails: if the write is lost, the claim ends with its lease. */
  forget(claim: IdempotencyClaim): Promise<void>
}

export interface IdempotencyInput {
  readonly idempotency: Repeatable
  /** The workspace (or, without one, the organization) whose number of waiting calls is limited. */
  readonly holder: string
  readonly signal?: AbortSignal
}

/** The right to be the first call with a key. It ends when the fencing token `attempt` changes; its lease is renewed. */
export interface IdempotencyClaim {
  readonly id: string
  readonly attempt: number
}

export interface KeptAnswer {
  /** SHA-256 in lower-case hex of the body, or of the part `file` of an upload. A repetition must have the same one. */
  readonly bodySha256: string
  /** JSON, at most KEPT_ANSWER_BYTES_MAX. */
  readonly json: string
}

export type ClaimOrAnswer =
  | { readonly kind: 'first'; readonly claim: IdempotencyClaim }
  /** The body of the repetition must still be compared. */
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
