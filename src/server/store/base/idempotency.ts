import { createHash } from 'node:crypto'
import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import type { Repeatable } from '../../../schemas/idempotency.ts'
import {
  IDEMPOTENCY_KEPT_MS,
  IDEMPOTENCY_WAIT_MS_MAX,
  KEPT_ANSWER_BYTES_MAX,
} from '../../../schemas/limits/idempotency-limits.ts'
import type {
  Idempotency,
  KeptAnswer,
  IdempotencyClaim,
  ClaimOrAnswer,
  IdempotencyInput,
} from '../../ports/idempotency.ts'
import { guardedRows } from './guarded-row.ts'
import type { Queryable, Sql, Store } from './open.ts'
import { Backoff, type BackoffOptions } from './backoff.ts'
import { reach } from './translate.ts'
import { Waiters, type Waiter } from './waiters.ts'

/**
 * Milliseconds of the lease of a call with an `Idempotency-Key`: shorter than the wait of a repeated call,
 * which takes over from a process that died. Decision.
 */
export const TURN_LEASE_MS = 24_000
/** Milliseconds between two renewals of the lease of a call with an `Idempotency-Key`. Decision. */
export const TURN_RENEW_MS = 6_000

export interface IdempotencyOptions extends BackoffOptions {
  readonly store: Store
  readonly waitMs?: number
  readonly leaseMs?: number
  readonly renewMs?: number
}

export interface IdempotencyStore extends Idempotency {
  /** Stops renewing leases: open claims end with their leases. */
  close(): void
}

type State = 'running' | 'answered'
const claimRows = guardedRows<State>({ table: 'idempotency', claimable: ['running'] })

/** Manages the rows of answers and the leases of this process's claims. */
export function openIdempotency(options: IdempotencyOptions): IdempotencyStore {
  return new AnswerStore(options)
}

/** The key is the caller's text: only its digest is kept. */
export function idempotencyIdOf({ key, apiKeyHash }: Repeatable): string {
  return createHash('sha256').update(`${apiKeyHash}\n${key}`).digest('hex')
}

/**
 * Stores an answer; called by a store in the transaction that creates the object of the answer.
 * @returns false when another process has taken the claim, or the claim is already answered: the transaction
 * must then be rolled back
 */
export async function keepAnswer(
  sql: Queryable,
  { id, attempt }: IdempotencyClaim,
  answer: KeptAnswer,
): Promise<boolean> {
  if (Buffer.byteLength(answer.json) > KEPT_ANSWER_BYTES_MAX)
    throw new Error('the answer is too large to be kept')
  const { count } = await sql`
    UPDATE idempotency SET state = 'answered', body_sha256 = ${answer.bodySha256}, answer = ${answer.json}, answered_at = clock_timestamp()
    WHERE id = ${id} AND attempt = ${attempt} AND state = 'running'`
  return count === 1
}

/** Does the same as `keepAnswer` for several answers. @returns false when an answer was not stored; others may have been */
export async function keepAnswers(
  sql: Queryable,
  kept: readonly { readonly claim: IdempotencyClaim; readonly answer: KeptAnswer }[],
): Promise<boolean> {
  if (kept.length === 0) return true
  if (kept.some(({ answer }) => Buffer.byteLength(answer.json) > KEPT_ANSWER_BYTES_MAX))
    throw new Error('an answer is too large to be kept')
  const rows = kept.map(({ claim, answer }) => ({
    id: claim.id,
    attempt: claim.attempt,
    body_sha256: answer.bodySha256,
    answer: answer.json,
  }))
  const { count } = await sql`
    UPDATE idempotency AS i SET state = 'answered', body_sha256 = x.body_sha256, answer = x.answer, answered_at = clock_timestamp()
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS x(id text, attempt integer, body_sha256 text, answer text)
    WHERE i.id = x.id AND i.attempt = x.attempt AND i.state = 'running'`
  return count === kept.length
}

/** True while a call with the key is running or its answer is stored. Records of files are separate and not checked here. */
export async function isTaken(sql: Queryable, id: string): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM idempotency WHERE id = ${id} AND (${isFree(sql)}) IS NOT TRUE`
  return row !== undefined
}

/** A condition for a row that no longer belongs to a call: the next call takes it over. */
function isFree(sql: Queryable) {
  return sql`(idempotency.state = 'running' AND idempotency.lease_until < clock_timestamp())
    OR idempotency.answered_at < clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms'`
}

type Tried = ClaimOrAnswer | { readonly kind: 'running' } | { readonly kind: 'mismatch' }

async function tryBegin(sql: Sql, idempotency: Repeatable, leaseMs: number): Promise<Tried> {
  const id = idempotencyIdOf(idempotency)
  const { requestDigest } = idempotency
  const ofFile = sql`SELECT 1 FROM files WHERE idempotency_id = ${id} AND state <> 'abandoned'
    AND (ready_at IS NULL OR ready_at > clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms')`
  const [begun] = await sql<{ attempt: number }[]>`
    INSERT INTO idempotency (id, state, lease_until, request_digest)
    SELECT ${id}, 'running', clock_timestamp() + ${leaseMs} * interval '1 ms', ${requestDigest} WHERE NOT EXISTS (${ofFile})
    ON CONFLICT (id) DO UPDATE SET state = 'running', attempt = idempotency.attempt + 1, lease_until = excluded.lease_until,
      request_digest = excluded.request_digest, body_sha256 = NULL, answer = NULL, answered_at = NULL
    WHERE ${isFree(sql)} RETURNING attempt`
  if (begun !== undefined) return { kind: 'first', claim: { id, attempt: begun.attempt } }
  const [row] = await sql<AnswerRow[]>`
    SELECT request_digest, body_sha256, answer, (${isFree(sql)}) AS "isFree" FROM idempotency WHERE id = ${id}`
  // When this table has no row, the key belongs to a file.
  if (row === undefined) return { kind: 'mismatch' }
  // The first call ended between the two reads.
  if (row.isFree === true) return { kind: 'running' }
  if (row.request_digest !== requestDigest) return { kind: 'mismatch' }
  if (row.body_sha256 === null || row.answer === null) return { kind: 'running' }
  return { kind: 'replay', answer: { bodySha256: row.body_sha256, json: row.answer } }
}

interface AnswerRow {
  readonly request_digest: string
  readonly body_sha256: string | null
  readonly answer: string | null
  readonly isFree: boolean | null
}

class AnswerStore implements IdempotencyStore {
  readonly #options: IdempotencyOptions
  readonly #leaseMs: number
  readonly #waiters = new Waiters()
  /** Claims of this process, each with an answer that could not be written yet. */
  readonly #claims = new Map<IdempotencyClaim, KeptAnswer | null>()
  readonly #renewing: NodeJS.Timeout

  constructor(options: IdempotencyOptions) {
    this.#options = options
    this.#leaseMs = options.leaseMs ?? TURN_LEASE_MS
    this.#renewing = setInterval(() => void this.#renewAll(), options.renewMs ?? TURN_RENEW_MS).unref()
  }

  async begin(input: IdempotencyInput): Promise<Outcome<ClaimOrAnswer>> {
    const waiter = this.#waiters.waiter({ workspaceId: input.holder, idempotency: input.idempotency })
    try {
      return await this.#begin(input, waiter)
    } finally {
      waiter.leave()
    }
  }

  async #begin({ idempotency, signal }: IdempotencyInput, waiter: Waiter): Promise<Outcome<ClaimOrAnswer>> {
    const backoff = new Backoff(this.#options)
    for (;;) {
      const tried = await reach(async () => ok(await tryBegin(this.#sql, idempotency, this.#leaseMs)))
      if (!tried.ok) return tried
      const found = tried.value
      if (found.kind === 'mismatch') return fail('idempotency_mismatch')
      if (found.kind === 'replay') return ok(found)
      if (found.kind === 'first') return this.#first(found.claim, signal)
      if (!waiter.enter()) return fail('busy', { retryAfterS: 1 })
      if (await backoff.wait(this.#options.waitMs ?? IDEMPOTENCY_WAIT_MS_MAX, signal)) continue
      return signal?.aborted === true
        ? { ok: false, failure: endedBy(signal) }
        : fail('idempotency_running', { retryAfterS: 5 })
    }
  }

  async #first(claim: IdempotencyClaim, signal: AbortSignal | undefined): Promise<Outcome<ClaimOrAnswer>> {
    this.#claims.set(claim, null)
    if (signal?.aborted !== true) return ok({ kind: 'first', claim })
    // The caller has left, and nothing else would end the claim.
    await this.forget(claim)
    return { ok: false, failure: endedBy(signal) }
  }

  async remember(claim: IdempotencyClaim, answer: KeptAnswer): Promise<void> {
    if (!this.#claims.has(claim)) return
    this.#claims.set(claim, answer)
    await this.#keep(claim, answer)
  }

  async forget(claim: IdempotencyClaim): Promise<void> {
    if (!this.#claims.delete(claim)) return
    await reach(async () => ok(await claimRows.release(this.#sql, { ...claim, state: 'running' }, 0)))
  }

  close(): void {
    clearInterval(this.#renewing)
  }

  async #keep(claim: IdempotencyClaim, answer: KeptAnswer): Promise<void> {
    const kept = await reach(async () => ok(await keepAnswer(this.#sql, claim, answer)))
    if (kept.ok) this.#claims.delete(claim)
  }

  async #renewAll(): Promise<void> {
    await Promise.all(
      [...this.#claims].map(async ([claim, answer]) => {
        if (answer !== null) return this.#keep(claim, answer)
        const row = { ...claim, state: 'running' } as const
        const renewed = await reach(async () => ok(await claimRows.renew(this.#sql, row, this.#leaseMs)))
        if (renewed.ok && !renewed.value) this.#claims.delete(claim)
      }),
    ).catch(() => undefined)
  }

  get #sql(): Sql {
    return this.#options.store.sql
  }
}
