import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { IDEMPOTENCY_KEPT_MS } from '../../../schemas/limits/idempotency-limits.ts'
import { MONEY_TRIED_MS_MAX, MONEY_TRY_MS } from '../../../schemas/money/money-limits.ts'
import { organizationAccount, workspaceAccount } from '../../../schemas/money/accounts.ts'
import type { VideoView, VideoViews, VideoInput } from '../../ports/videos/videos.ts'
import type { Sql, Store } from '../base/open.ts'
import { isAway, reach, violatedUnique } from '../base/translate.ts'
import { acceptAll, type AcceptDeps, ClaimLost, type Verdict } from './accepting.ts'
import { NONE_OPEN, OpenCounts, withOneMore } from './open-counts.ts'
import { acceptedView } from './views.ts'
import { insertOf, recordsOf, type Accepting, acceptingOf, lengthOf } from './job-records.ts'

/** Jobs of one front that wait to be accepted; `busy` beyond. Decision. */
export const VIDEO_ACCEPTS_WAITING_MAX = 4_096
/** Bytes of the requests of the jobs that wait in one front to be accepted; `busy` beyond. Decision. */
export const VIDEO_ACCEPTS_BYTES_MAX = 67_108_864
/** Jobs that one transaction accepts. Decision. */
export const VIDEO_BATCH_JOBS_MAX = 64
/** Bytes of the requests of the jobs that one transaction accepts; a single job may be larger. Decision. */
export const VIDEO_BATCH_BYTES_MAX = 8_388_608
/** Milliseconds of a transaction that accepts jobs. Decision. */
export const VIDEO_ACCEPT_MS_MAX = 5_000

export interface AcceptorOptions {
  readonly store: Store
  readonly views: Pick<VideoViews, 'putAll' | 'wake'>
  /** Milliseconds from the acceptance of a job to its expiry. */
  readonly jobMs: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => void
}

interface Waiting {
  readonly job: Accepting
  readonly settle: (outcome: Outcome<VideoView>) => void
  readonly reject: (problem: unknown) => void
  /** Monotonic milliseconds until which a job is retried that lacks money reserved by others; null before the first refusal. */
  triedUntil: number | null
}

/**
 * `free`: jobs that seem to have no limit; a job with a limit moves to `limited`. `alone`: one job at a time, whose
 * transaction may wait for others.
 */
type LaneKind = 'free' | 'limited' | 'alone'

/** Jobs of one kind: jobs that arrive while a transaction runs share the next one. */
interface Lane {
  readonly kind: LaneKind
  readonly waiting: Waiting[]
  isRunning: boolean
}

/**
 * Accepts jobs in batches: a commit costs as much for many as for one. Jobs of keys without any limit have
 * batches of their own, so that they never wait for accounts of others; the limits in a key's record are
 * checked again. A job that would make its batch wait, or that may have failed the batch, is tried alone, at
 * the same time as the others.
 */
export class Acceptor {
  readonly #options: AcceptorOptions
  readonly #counts: OpenCounts
  readonly #lanes: Readonly<Record<LaneKind, Lane>> = {
    free: { kind: 'free', waiting: [], isRunning: false },
    limited: { kind: 'limited', waiting: [], isRunning: false },
    alone: { kind: 'alone', waiting: [], isRunning: false },
  }
  #jobs = 0
  #bytes = 0

  constructor(options: AcceptorOptions) {
    this.#options = options
    this.#counts = new OpenCounts(options.now)
  }

  /** Failures: those of `VideoJobs.accept`. */
  accept(input: VideoInput): Promise<Outcome<VideoView>> {
    const job = acceptingOf(input)
    if (this.#jobs >= VIDEO_ACCEPTS_WAITING_MAX || this.#bytes + lengthOf(job) > VIDEO_ACCEPTS_BYTES_MAX) {
      return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    }
    this.#jobs += 1
    this.#bytes += lengthOf(job)
    const { isCreditLimited, isWorkspaceLimited, isKeyLimited } = input.key.money
    const kind = isCreditLimited || isWorkspaceLimited || isKeyLimited ? 'limited' : 'free'
    const accepted = new Promise<Outcome<VideoView>>((settle, reject) => {
      this.#enter(kind, { job, settle, reject, triedUntil: null })
    })
    return accepted.finally(() => {
      this.#jobs -= 1
      this.#bytes -= lengthOf(job)
    })
  }

  #enter(kind: LaneKind, ...waiting: readonly Waiting[]): void {
    const lane = this.#lanes[kind]
    lane.waiting.push(...waiting)
    if (lane.isRunning || lane.waiting.length === 0) return
    lane.isRunning = true
    void this.#serveAll(lane)
  }

  async #serveAll({ kind, waiting }: Lane): Promise<void> {
    while (waiting.length > 0)
      await this.#serve(kind, kind === 'alone' ? waiting.splice(0, 1) : nextBatch(waiting))
    this.#lanes[kind].isRunning = false
  }

  /** Never rejects: each job of the batch is settled or goes back to the waiting jobs. */
  async #serve(kind: LaneKind, batch: readonly Waiting[]): Promise<void> {
    let verdicts: readonly Verdict[]
    try {
      verdicts = await this.#transact(
        kind,
        batch.map(({ job }) => job),
      )
    } catch (problem) {
      return this.#mend(kind, batch, problem)
    }
    this.#publish(batch.filter((_waiting, nth) => verdicts[nth]?.kind === 'accepted').map(({ job }) => job))
    for (const [nth, waiting] of batch.entries()) {
      const verdict = verdicts[nth]
      switch (verdict?.kind) {
        case 'accepted':
          waiting.settle(ok(verdict.view))
          break
        case 'refused':
          this.#refuse(waiting, verdict.refusal)
          break
        case 'short':
          this.#tryAgain(waiting, verdict.refusal)
          break
        default:
          this.#enter(kind === 'free' ? 'limited' : 'alone', waiting)
      }
    }
  }

  #transact(kind: LaneKind, jobs: readonly Accepting[]): Promise<readonly Verdict[]> {
    const deps = { counts: this.#counts, jobMs: this.#options.jobMs, mayWait: kind === 'alone' }
    return this.#options.store.within(VIDEO_ACCEPT_MS_MAX, async (sql) => {
      if (kind !== 'free') return sql.begin((tx) => acceptAll(tx, jobs, deps))
      const accepted = await acceptFree(sql, jobs, deps)
      return jobs.map(({ id, input }): Verdict =>
        accepted.has(id)
          ? { kind: 'accepted', view: acceptedView(id, input.workspaceId) }
          : { kind: 'elsewhere' },
      )
    })
  }

  /** Both may fail without a report: the rows exist, and runners that look for work find them. */
  #publish(jobs: readonly Accepting[]): void {
    if (jobs.length === 0) return
    const { views } = this.#options
    for (const job of jobs) this.#counts.add(job.input.workspaceId, lengthOf(job))
    void views.putAll(jobs.map(({ id, input }) => acceptedView(id, input.workspaceId)))
    for (const provider of new Set(jobs.map(({ input }) => input.target.provider)))
      views.wake({ kind: 'jobs', provider })
  }

  /** Refuses a job unless it exists already: its own hold may be the reason that too little is left. */
  #refuse({ job, settle, reject }: Waiting, refusal: Outcome<never>): void {
    if (job.input.once === null) return settle(refusal)
    void reach(() => madeBefore(this.#options.store.sql, job)).then(
      (made) => settle(isNone(made) ? refusal : made),
      reject,
    )
  }

  #tryAgain(waiting: Waiting, refusal: Outcome<never>): void {
    const { now, after } = this.#options
    waiting.triedUntil ??= now() + MONEY_TRIED_MS_MAX
    if (now() >= waiting.triedUntil) return this.#refuse(waiting, refusal)
    after(MONEY_TRY_MS, () => this.#enter('limited', waiting))
  }

  /** Handles a transaction that failed, or whose result is unknown: trying each job alone finds the one that fails. */
  async #mend(kind: LaneKind, batch: readonly Waiting[], problem: unknown): Promise<void> {
    if (isAway(problem)) {
      for (const { settle } of batch) settle(fail('store_unavailable', { retryAfterS: 1, cause: problem }))
      return
    }
    if (kind !== 'alone') return this.#enter('alone', ...batch)
    const isMade = problem instanceof ClaimLost || violatedUnique(problem) === 'video_jobs_pkey'
    for (const { job, settle, reject } of batch) {
      if (isMade) await reach(() => madeBefore(this.#options.store.sql, job)).then(settle, reject)
      else reject(problem)
    }
  }
}

function nextBatch(waiting: Waiting[]): readonly Waiting[] {
  let bytes = 0
  let count = 0
  for (const { job } of waiting.slice(0, VIDEO_BATCH_JOBS_MAX)) {
    bytes += lengthOf(job)
    if (count > 0 && bytes > VIDEO_BATCH_BYTES_MAX) break
    count += 1
  }
  return waiting.splice(0, count)
}

function isNone(made: Outcome<VideoView>): boolean {
  return !made.ok && made.failure.name === 'idempotency_running'
}

/**
 * The job that an earlier, unanswered try made, or that another front made with the same key after it took over the
 * claim. Failures: idempotency_mismatch; idempotency_running when the other front has not made the job yet.
 */
async function madeBefore(
  sql: Sql,
  { id, input: { once, workspaceId } }: Accepting,
): Promise<Outcome<VideoView>> {
  const [row] = await sql<{ id: string; body_sha256: string | null }[]>`
    SELECT id, body_sha256 FROM video_jobs
    WHERE id = ${id} OR (turn_id = ${once?.claim.id ?? null} AND created_at > clock_timestamp() - ${IDEMPOTENCY_KEPT_MS} * interval '1 ms')
    ORDER BY created_at DESC LIMIT 1`
  if (row === undefined) return fail('idempotency_running', { retryAfterS: 1 })
  // The first answer is repeated, even when the job has progressed.
  return row.body_sha256 === (once?.bodySha256 ?? null)
    ? ok(acceptedView(row.id, workspaceId))
    : fail('idempotency_mismatch')
}

/**
 * Accepts in one statement the simple jobs among several: no paying account has a limit, the claim is the job's, and
 * the workspace exists, is not locked by another transaction and has room. Nothing is written for other jobs;
 * `acceptAll` decides them. The statement waits for no account and no workspace. When an account gets its first limit
 * at this moment, the limit counts from the next statement on.
 * @returns ids of the accepted jobs
 */
async function acceptFree(
  sql: Sql,
  jobs: readonly Accepting[],
  { counts, jobMs }: AcceptDeps,
): Promise<ReadonlySet<string>> {
  const workspaceIds = [...new Set(jobs.map(({ input }) => input.workspaceId))]
  const open = await counts.of(sql, workspaceIds)
  const claims = new Set<string>()
  const fit = jobs.filter((job) => {
    const { workspaceId, once } = job.input
    const more = withOneMore(open.get(workspaceId) ?? NONE_OPEN, lengthOf(job))
    // Only one of two jobs under the same claim may be made.
    if (more === null || (once !== null && claims.has(once.claim.id))) return false
    if (once !== null) claims.add(once.claim.id)
    open.set(workspaceId, more)
    return true
  })
  if (fit.length === 0) return new Set()
  const paying = fit.filter(({ input }) => input.costNano > 0 || input.isUnpriced)
  const accountIds = new Set(
    paying.flatMap(({ input: { key, workspaceId } }) => [
      organizationAccount(key.organizationId),
      workspaceAccount(workspaceId),
      key.money.accountId,
    ]),
  )
  const rows = await sql<{ id: string }[]>`
    WITH records AS MATERIALIZED (${recordsOf(
      sql,
      fit.map((job) => ({ ...job, day: null })),
    )}),
    held AS MATERIALIZED (
      SELECT id, default_callback_url FROM workspaces
      WHERE id = ANY(string_to_array(${workspaceIds.join(',')}, ',')::uuid[]) AND deleted_at IS NULL FOR SHARE SKIP LOCKED),
    limited AS MATERIALIZED (
      SELECT account_id FROM account_limits WHERE account_id = ANY(string_to_array(${[...accountIds].join(',')}, ','))),
    free AS MATERIALIZED (
      SELECT r.*, held.default_callback_url FROM records r JOIN held ON held.id = r.workspace_id
      WHERE (r.cost_nano = 0 AND NOT r.is_unpriced) OR NOT EXISTS (
        SELECT FROM limited l WHERE l.account_id IN ('o' || r.organization_id, 'w' || r.workspace_id, r.key_account_id))),
    kept AS (
      UPDATE idempotency AS i SET state = 'answered', body_sha256 = x.body_sha256, answer = x.answer, answered_at = clock_timestamp()
      FROM free AS x WHERE i.id = x.turn_id AND i.attempt = x.attempt AND i.state = 'running' RETURNING i.id)
    ${insertOf(sql, jobMs)} FROM free AS x
    WHERE x.turn_id IS NULL OR x.turn_id IN (SELECT id FROM kept) RETURNING id`
  return new Set(rows.map(({ id }) => id))
}
