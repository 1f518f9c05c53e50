/** What one run came to: judged as any run of video jobs, and by the rest that a dying process may leave. */
import type { Storage } from '../../../../src/server/ports/files/storage.ts'
import type { VideoViews } from '../../../../src/server/ports/videos/videos.ts'
import type { Store } from '../../../../src/server/store/base/open.ts'
import { imbalances, type Owners } from '../../../support/money/money.ts'
import type { ReceivedWebhook } from '../../../support/webhooks/webhook-receiver.ts'
import { Proof } from '../../proof.ts'
import { judge, readJobs, some, type JobRow, type Submission } from '../judging.ts'
import type { Answer } from './order.ts'
import type { Plan } from './plans.ts'

/** What Postgres, Redis and storage hold in the end. */
export interface Remains {
  readonly rows: readonly JobRow[]
  readonly leases: number
  /** Rows of the ledger for operators, by the request that made the job. */
  readonly overruns: ReadonlyMap<string, number>
  readonly unbalanced: readonly string[]
  /** Jobs of which pollers see something else than their row. */
  readonly misled: readonly string[]
  /** Clips of completed jobs that are not there. */
  readonly absent: readonly string[]
}

export interface RunResult {
  readonly plan: Plan
  readonly isHit: boolean
  /** How the process ended, or that it did not, which was to die. */
  readonly firstEnd: string
  /** All had ended and were reported in time. */
  readonly isCalm: boolean
  /** What each process said, the one that died first. */
  readonly shown: readonly (readonly Answer[])[]
  /** What they said that they should not. */
  readonly errors: string
  readonly remains: Remains
}

/** Milliseconds in which pollers see how a job has ended, once its row says so. */
const SEEN_MS_MAX = 30_000

export async function remainsOf(
  { sql }: Store,
  {
    owners,
    views,
    storage,
  }: {
    readonly owners: Owners
    readonly views: Pick<VideoViews, 'get'>
    readonly storage: Pick<Storage, 'stat'>
  },
): Promise<Remains> {
  const { workspaceId, organizationId, keyHash } = owners
  const own = await sql<
    { id: string; hold_id: string }[]
  >`SELECT id, hold_id FROM video_jobs WHERE workspace_id = ${workspaceId}`
  const ids = new Set(own.map(({ id }) => id))
  const rows = (await readJobs(sql)).filter(({ id }) => ids.has(id))
  const [held] = await sql<{ count: number }[]>`
    SELECT count(*)::int AS count FROM leases WHERE journal_id IN (SELECT hold_id FROM video_jobs WHERE workspace_id = ${workspaceId})`
  const overruns = await sql<{ request_id: string; count: number }[]>`
    SELECT request_id, count(*)::int AS count FROM ledger WHERE kind = 'overrun' AND workspace_id = ${workspaceId} GROUP BY 1`
  const clips = await sql<
    { object_id: string }[]
  >`SELECT object_id FROM video_clips WHERE workspace_id = ${workspaceId}`
  const there = await Promise.all(
    clips.map(async ({ object_id: id }) => ({ id, facts: await storage.stat(id) })),
  )
  const wrong = (await imbalances(sql)).map((one) => JSON.stringify(one))
  return {
    rows,
    leases: held?.count ?? -1,
    overruns: new Map(overruns.map((row) => [row.request_id, row.count])),
    // The database has other runs, too.
    unbalanced: wrong.filter((one) => [workspaceId, organizationId, keyHash].some((id) => one.includes(id))),
    misled: await misledPollers(rows, views),
    absent: there.filter(({ facts }) => !facts.ok || facts.value === null).map(({ id }) => id),
  }
}

async function misledPollers(
  rows: readonly JobRow[],
  views: Pick<VideoViews, 'get'>,
): Promise<readonly string[]> {
  for (const endsAt = performance.now() + SEEN_MS_MAX; ;) {
    const seen = await Promise.all(
      rows.map(async ({ id, state }) => ({ id, state, view: await views.get(id) })),
    )
    const misled = seen.filter(({ view, state }) => view !== null && view.status !== state)
    if (misled.length === 0 || performance.now() > endsAt)
      return misled.map(({ id, state, view }) => `${id} is ${state}, seen ${view?.status}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** @returns each check of the run, by its text: what was found where it is not met */
export function judgeRun(
  { plan, isCalm, shown, errors, remains }: RunResult,
  {
    submissions,
    webhooks,
  }: { readonly submissions: readonly Submission[]; readonly webhooks: readonly ReceivedWebhook[] },
): ReadonlyMap<string, string | null> {
  const quiet = new Proof({ seed: 0, isShort: true, say: () => undefined })
  const answers = shown.flat().filter((one) => one.what === 'accepted')
  const accepted = plan.wanted.flatMap((offer) =>
    answers
      .filter(({ nth }) => nth === offer.nth)
      .slice(0, 1)
      .map(({ id }) => ({ offer, id, calls: 1 })),
  )
  judge(quiet, {
    offered: plan.wanted.length,
    accepted,
    rows: remains.rows,
    submissions,
    webhooks,
    leases: remains.leases,
  })
  const { length: wanted } = plan.wanted
  quiet.check(
    'all are accepted, and all has ended and is told',
    isCalm && accepted.length === wanted,
    `${accepted.length} of ${wanted}`,
  )
  const changed = answers.filter(({ nth, id }) =>
    accepted.some(({ offer, id: first }) => offer.nth === nth && id !== first),
  )
  quiet.check(
    'who asks again under the same key gets the same job',
    changed.length === 0,
    `${changed.length}${some(changed.map(({ id }) => id))}`,
  )
  quiet.check(
    'no job is made twice',
    remains.rows.length === wanted,
    `${remains.rows.length} rows for ${wanted}`,
  )
  const blind = plan.wanted.filter(
    ({ tag, kind }) => kind === 'blind' && submissions.filter((one) => one.tag === tag).length > 1,
  )
  quiet.check(
    'blind: nothing is sent twice, whatever became of it',
    blind.length === 0,
    some(blind.map(({ tag }) => tag)),
  )
  const costs = remains.rows.filter((row) => !isOverrunRight(row, remains.overruns.get(row.request_id) ?? 0))
  quiet.check(
    'operators are told once of a job that may have cost',
    costs.length === 0,
    some(costs.map(({ id, state, error }) => `${id} ${state} ${error}`)),
  )
  quiet.check(
    'counters and roll-ups are what the ledger says',
    remains.unbalanced.length === 0,
    some(remains.unbalanced),
  )
  quiet.check('pollers see how each job has ended', remains.misled.length === 0, some(remains.misled))
  quiet.check('every clip is there', remains.absent.length === 0, some(remains.absent))
  quiet.check('no process fails otherwise', errors === '', errors.slice(0, 500))
  return new Map(quiet.findings.map(({ text, isMet, found }) => [text, isMet ? null : found]))
}

/** One that was cancelled on its way may have cost or not. */
function isOverrunRight({ state, error }: JobRow, overruns: number): boolean {
  if (state === 'failed' && error?.startsWith('provider_outcome_unknown') === true) return overruns === 1
  return overruns <= (state === 'cancelled' ? 1 : 0)
}
