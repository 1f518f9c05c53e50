import type { Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'

/**
 * Answers that are kept for a day under their `Idempotency-Key`, where no row of another table keeps them.
 *
 * A JSON `create` sets `idempotent: true` in its definition and nothing else. The pipeline validates the
 * header, waits for the first call, compares the bodies, returns the first answer to a repetition, and calls
 * `remember` or `forget` when `run` has ended. OpenAPI gains the header, the mark of a replay, and the
 * failures. The answer is kept as it is: values that may be read only once (a key, a secret) must not be
 * part of it.
 *
 * A process can die between the commit of the object that `run` made and the commit of its answer; the
 * repetition then runs a second time. Where that must not happen, `run` hands `call.claim` to its store,
 * which calls `keepAnswer` of `store/base/idempotency.ts` in the transaction that makes the object; a later
 * `remember` of the pipeline changes nothing.
 *
 * An operation with a record of its own (uploads: their row) sets `idempotent: 'own'` and uses
 * `call.idempotency`.
 */
export interface Idempotency {
  /**
   * Begins a call, or finds the answer of the first call under its key. A repetition waits for a first call
   * that runs, for IDEMPOTENCY_WAIT_MS_MAX at most; a first call whose process died is taken over when its
   * lease runs out. Failures: idempotency_mismatch (another method, path or query), idempotency_running, busy
   * (too many wait), client_gone and the other failures of a signal, store_unavailable.
   */
  begin(input: IdempotencyInput): Promise<Outcome<ClaimOrAnswer>>
  /**
   * Keeps the answer of a claim, for IDEMPOTENCY_KEPT_MS from now on, before the caller gets it. While the
   * store is away the write is retried in the background, so the call never fails. Nothing happens when
   * another process has the claim by now, or the claim has an answer already.
   */
  remember(claim: IdempotencyClaim, answer: KeptAnswer): Promise<void>
  /**
   * Ends a claim without an answer: the next call under the key is the first. Never fails; if the write is
   * lost, the lease ends the claim.
   */
  forget(claim: IdempotencyClaim): Promise<void>
}

export interface IdempotencyInput {
  readonly idempotency: Repeatable
  /** The workspace, else the organization: the number of its waiting calls is limited. */
  readonly holder: string
  readonly signal?: AbortSignal
}

/**
 * The right to be the first call under a key, until `attempt` changes; its lease is renewed until the claim
 * ends.
 */
export interface IdempotencyClaim {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

export interface KeptAnswer {
  /**
   * Lower-case hex SHA-256 of the body, or of the part `file` of an upload. A repetition must have the same.
   */
  readonly bodySha256: string
  /** JSON, at most KEPT_ANSWER_BYTES_MAX. */
  readonly json: string
}

export type ClaimOrAnswer =
  | { readonly kind: 'first'; readonly claim: IdempotencyClaim }
  /** The body of the repetition is still to be compared. */
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
