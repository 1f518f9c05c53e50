import type { Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'

/**
 * Answers that are kept for a day under their `Idempotency-Key`, where no row of another table stands for
 * them. C16.
 *
 * A JSON `create` says `idempotent: true` in its definition and nothing else: the pipeline validates the
 * header, waits for the first call, compares the bodies, answers a repetition with what the first one said,
 * and remembers or forgets when `run` has ended; OpenAPI gains the header, what a replay says of itself, and
 * the failures. Its answer is kept as it is: what may be read once only (a key, a secret) must not be part of
 * it.
 *
 * Between the commit of what `run` made and that of its answer a process can die; the repetition then runs a
 * second time. Where that must not happen, `run` hands `call.turn` to its store, which calls `keepAnswer` of
 * `store/base/idempotency.ts` in the transaction that makes the thing; what the pipeline remembers afterwards
 * changes nothing.
 *
 * An operation with a record of its own (uploads: their row) says `idempotent: 'own'` and uses
 * `call.idempotency`.
 */
export interface Idempotency {
  /**
   * Begins a call, or finds what became of the first one under its key. A repetition waits for a first call
   * that runs IDEMPOTENCY_WAIT_MS_MAX at most; one whose process died is taken over when its lease runs out.
   * Failures: idempotency_mismatch (another method, path or query), idempotency_running, busy (too many
   * wait), client_gone and its kin, store_unavailable.
   */
  begin(input: TurnInput): Promise<Outcome<ClaimOrAnswer>>
  /**
   * Keeps the answer of a turn, for IDEMPOTENCY_KEPT_MS from now on, before the caller gets it. While the
   * store is away it is tried again behind the caller's back, so it never fails. Nothing happens when another
   * has the turn by now, or it has an answer already.
   */
  remember(turn: IdempotencyClaim, answer: KeptAnswer): Promise<void>
  /**
   * Ends a turn without an answer: the next call under the key is the first. Never fails; else the lease ends
   * it.
   */
  forget(turn: IdempotencyClaim): Promise<void>
}

export interface TurnInput {
  readonly idempotency: Repeatable
  /** Of whom only so many wait at once: the workspace, or the organization where there is none. */
  readonly holder: string
  readonly signal?: AbortSignal
}

/**
 * The right to be the first call under a key, until `attempt` changes; its lease is renewed until it ends.
 */
export interface IdempotencyClaim {
  readonly id: string
  /** The fencing token. */
  readonly attempt: number
}

export interface KeptAnswer {
  /** Lower-case hex, of the body; of an upload: of the part `file`. A repetition must have the same. */
  readonly bodySha256: string
  /** JSON, at most KEPT_ANSWER_BYTES_MAX. */
  readonly json: string
}

export type ClaimOrAnswer =
  | { readonly kind: 'first'; readonly turn: IdempotencyClaim }
  /** The body of the repetition is still to be compared. */
  | { readonly kind: 'replay'; readonly answer: KeptAnswer }
