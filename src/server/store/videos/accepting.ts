import { fail, type Outcome } from '../../../schemas/failures.ts'
import { costUnbounded, moneyRefused } from '../../../schemas/money/money-refusals.ts'
import { VIDEO_JOBS_OPEN_MAX, VIDEO_OPEN_CHARS_MAX } from '../../../schemas/videos/video-limits.ts'
import type { VideoView } from '../../ports/videos/videos.ts'
import { keepAnswers } from '../base/idempotency.ts'
import { saveAccounts } from '../money/lending/counters.ts'
import { addHolds, type HoldLease } from '../money/lending/leases.ts'
import type { Transaction } from '../base/open.ts'
import { holdWorkspaces } from '../base/find-workspace.ts'
import { lookAt } from '../money/lending/lend.ts'
import { Holding, limitedAccounts } from './holds.ts'
import { insertOf, recordsOf, type NewJob, lengthOf, type Accepting } from './job-records.ts'
import { NONE_OPEN, withOneMore, type OpenCounts } from './open-counts.ts'
import { acceptedView } from './views.ts'

export type Verdict =
  | { readonly kind: 'accepted'; readonly view: VideoView }
  | { readonly kind: 'refused'; readonly refusal: Outcome<never> }
  /** Other holders reserve the money that the job needs, and may release it. */
  | { readonly kind: 'short'; readonly refusal: Outcome<never> }
  /** The workspace is gone or locked by another transaction, or the job is not a simple one. The regular way to accept jobs decides. */
  | { readonly kind: 'elsewhere' }

/** Another process has the claim of a job now, or the claim has been answered: the whole transaction must be rolled back. */
export class ClaimLost extends Error {}

export interface AcceptDeps {
  readonly counts: OpenCounts
  /** Milliseconds from the acceptance of a job to its expiry. */
  readonly jobMs: number
  /**
   * Whether the transaction waits for a workspace that another one has locked; only a single job waits. The
   * deletion of a workspace may lock another workspace next, and a batch that waits would deadlock with it.
   */
  readonly mayWait: boolean
}

/**
 * Accepts jobs in one transaction: rows, holds and kept answers. A refused job does not keep the others from
 * being accepted. Locks: the workspaces, then the accounts, each in the order of their ids; rows of claims
 * are locked too, but no other transaction holds such locks for long.
 * @returns verdicts in the order of the jobs
 */
export async function acceptAll(
  tx: Transaction,
  jobs: readonly Accepting[],
  deps: AcceptDeps,
): Promise<readonly Verdict[]> {
  const workspaceIds = [...new Set(jobs.map(({ input }) => input.workspaceId))].sort()
  const [held, open, limited] = await Promise.all([
    holdWorkspaces(tx, workspaceIds, deps.mayWait ? 'wait' : 'skip locked'),
    deps.counts.of(tx, workspaceIds),
    limitedAccounts(
      tx,
      jobs.map(({ input }) => input),
    ),
  ])
  const holding = limited.length === 0 ? null : new Holding(await lookAt(tx, limited, null))
  const accepted: Held[] = []
  const verdicts = jobs.map((job): Verdict => {
    const { workspaceId } = job.input
    if (!held.has(workspaceId))
      return deps.mayWait ? { kind: 'refused', refusal: fail('workspace_unknown') } : { kind: 'elsewhere' }
    const more = withOneMore(open.get(workspaceId) ?? NONE_OPEN, lengthOf(job))
    if (more === null) return { kind: 'refused', refusal: fail('video_jobs_full', FULL) }
    const decision = holding?.decide(job.input) ?? UNHELD
    if (decision.kind === 'unbounded')
      return {
        kind: 'refused',
        refusal: costUnbounded(decision.accounts, { unpriced: job.input.target.endpoint }),
      }
    if (decision.kind === 'refused')
      return { kind: decision.isFinal ? 'refused' : 'short', refusal: moneyRefused(decision.refusing) }
    open.set(workspaceId, more)
    accepted.push({
      ...job,
      day: decision.day,
      leases: decision.leases.map((lease) => ({ ...lease, holdId: job.holdId })),
    })
    return { kind: 'accepted', view: acceptedView(job.id, workspaceId) }
  })
  await Promise.all([
    keepAll(tx, accepted),
    insertJobs(tx, accepted, deps.jobMs),
    addHolds(
      tx,
      accepted.flatMap(({ leases }) => leases),
    ),
    holding === null ? null : saveAccounts(tx, holding.changed, holding.wanted),
  ])
  return verdicts
}

const FULL = { fields: { limit: VIDEO_JOBS_OPEN_MAX, chars: VIDEO_OPEN_CHARS_MAX }, retryAfterS: 10 }
const UNHELD = { kind: 'held', day: null, leases: [] } as const

interface Held extends NewJob {
  readonly leases: readonly HoldLease[]
}

async function keepAll(tx: Transaction, jobs: readonly Held[]): Promise<void> {
  const answers = jobs.flatMap(({ id, input: { once, workspaceId } }) =>
    once === null
      ? []
      : [
          {
            claim: once.claim,
            answer: { bodySha256: once.bodySha256, json: once.answer(acceptedView(id, workspaceId)) },
          },
        ],
  )
  if (!(await keepAnswers(tx, answers))) throw new ClaimLost()
}

async function insertJobs(tx: Transaction, jobs: readonly Held[], jobMs: number): Promise<void> {
  if (jobs.length === 0) return
  await tx`${insertOf(tx, jobMs)}
    FROM (SELECT r.*, w.default_callback_url FROM (${recordsOf(tx, jobs)}) AS r JOIN workspaces w ON w.id = r.workspace_id) AS x`
}
