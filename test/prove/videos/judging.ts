/** The results of a run of video jobs, by Postgres, by the provider's log and by the receiver's. */
import type { Sql } from '../../../src/server/store/base/open.ts'
import type { ReceivedWebhook } from '../../support/webhooks/webhook-receiver.ts'
import type { Proof } from '../proof.ts'
import type { Accepted } from './offers.ts'

export type SubmitKind = 'token' | 'lookup' | 'blind'

/** A submission that reached a provider. */
export interface Submission {
  readonly kind: SubmitKind
  /** Names the job. */
  readonly tag: string
  readonly token: string | null
  /** Of the job that the provider made of it; null: it was given that of an equal one before, or none. */
  readonly madeId: string | null
}

export interface JobRow {
  readonly id: string
  readonly state: string
  readonly error: string | null
  readonly request_id: string
  readonly cost_nano: string
  readonly hold_id: string
  readonly usages: number
  readonly charged_nano: string
  readonly clips: number
}

export function readJobs(sql: Sql): Promise<readonly JobRow[]> {
  return sql<JobRow[]>`
    SELECT j.id, j.state, j.error, j.request_id, j.cost_nano::text, j.hold_id,
      (SELECT count(*)::int FROM video_clips c WHERE c.job_id = j.id) AS clips,
      coalesce(l.usages, 0)::int AS usages, coalesce(l.charged, 0)::text AS charged_nano
    FROM video_jobs j LEFT JOIN (
      SELECT request_id, count(*) AS usages, sum(cost_nano) AS charged FROM ledger WHERE kind IN ('usage', 'estimated') GROUP BY request_id
    ) l USING (request_id)`
}

export interface Run {
  readonly offered: number
  readonly accepted: readonly Accepted[]
  readonly rows: readonly JobRow[]
  readonly submissions: readonly Submission[]
  readonly webhooks: readonly ReceivedWebhook[]
  /** Leases that are left when all is calm. */
  readonly leases: number
}

const ENDED = new Set(['completed', 'failed', 'cancelled', 'expired'])

/**
 * Lines 1 to 3: nothing lost, charged twice, stuck or unreported, and no submission that the provider's kind
 * forbids.
 */
export function judge(proof: Proof, { offered, accepted, rows, submissions, webhooks, leases }: Run): void {
  const byId = new Map(rows.map((row) => [row.id, row]))
  const lost = accepted.filter(({ id }) => !byId.has(id))
  proof.check(
    'no accepted job is lost',
    lost.length === 0,
    `${lost.length} of ${accepted.length}${some(lost.map(({ id }) => id))}`,
  )
  const twice = new Set(accepted.map(({ id }) => id)).size
  proof.check('every accepted job has a row of its own', twice === accepted.length, `${twice} ids`)
  const stuck = rows.filter(({ state }) => !ENDED.has(state))
  proof.check(
    'no job is stuck',
    stuck.length === 0,
    `${stuck.length}${some(stuck.map(({ id, state }) => `${id} ${state}`))}`,
  )
  charges(proof, rows, leases)
  callbacks(proof, accepted, { byId, webhooks })
  provider(proof, submissions)
  const states = countOf(
    rows.map(({ state, error }) => (state === 'failed' ? `failed: ${(error ?? '').slice(0, 60)}` : state)),
  )
  proof.say(`${offered} offered, ${accepted.length} accepted, ${rows.length} rows: ${states}`)
}

function charges(proof: Proof, rows: readonly JobRow[], leases: number): void {
  const wrong = rows.filter(({ state, usages, charged_nano: charged, cost_nano: cost, clips }) =>
    state === 'completed' ? usages !== 1 || charged !== cost || clips === 0 : usages !== 0 || clips > 0,
  )
  proof.check(
    'each completed job is charged once and has its clip, and no other is',
    wrong.length === 0,
    `${wrong.length} of ${rows.length}${some(wrong.map((row) => JSON.stringify(row)))}`,
  )
  proof.check('nothing is held any more', leases === 0, `${leases} leases`)
}

function callbacks(
  proof: Proof,
  accepted: readonly Accepted[],
  {
    byId,
    webhooks,
  }: {
    readonly byId: ReadonlyMap<string, JobRow>
    readonly webhooks: readonly ReceivedWebhook[]
  },
): void {
  const reported = new Map<string, ReceivedWebhook[]>()
  for (const webhook of webhooks) {
    const { data } = JSON.parse(webhook.body) as { data: { id: string } }
    reported.set(data.id, [...(reported.get(data.id) ?? []), webhook])
  }
  const unreported = accepted.filter(
    ({ id }) => !(reported.get(id) ?? []).some(({ status }) => status === 200),
  )
  proof.check(
    'no job is without callback',
    unreported.length === 0,
    `${unreported.length} of ${accepted.length}${some(unreported.map(({ id }) => id))}`,
  )
  const wrong = [...reported].filter(([id, all]) => {
    const [first] = all
    const { type } = JSON.parse(first?.body ?? '{}') as { type?: string }
    const isSame = all.every(
      ({ body, headers }) => body === first?.body && headers['webhook-id'] === first?.headers['webhook-id'],
    )
    return !isSame || type !== `video.generation.${byId.get(id)?.state}`
  })
  const text = 'every callback says how its job ended, the same each time'
  proof.check(text, wrong.length === 0, `${wrong.length} jobs; ${webhooks.length - reported.size} duplicates`)
}

function provider(proof: Proof, submissions: readonly Submission[]): void {
  for (const kind of ['token', 'lookup', 'blind'] as const) {
    const ofKind = new Map<string, Submission[]>()
    for (const one of submissions)
      if (one.kind === kind) ofKind.set(one.tag, [...(ofKind.get(one.tag) ?? []), one])
    const wrong = [...ofKind].filter(([, all]) =>
      kind === 'token'
        ? new Set(all.map(({ token }) => token)).size > 1 || all.some(({ token }) => token === null)
        : all.filter(({ madeId }) => madeId !== null).length > 1,
    )
    const repeated = [...ofKind.values()].reduce((sum, all) => sum + all.length - 1, 0)
    const text = {
      token: 'every submission of a job has the same token',
      lookup: 'no job is submitted twice',
      blind: 'no job is submitted twice',
    }[kind]
    const found = `${wrong.length} of ${ofKind.size} jobs, ${repeated} repeated submissions${some(wrong.map(([tag]) => tag))}`
    proof.check(`${kind}: ${text}`, wrong.length === 0, found)
  }
}

export function some(texts: readonly string[]): string {
  return texts.length === 0 ? '' : `: ${texts.slice(0, 3).join(', ')}`
}

export function countOf(texts: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([text, count]) => `${text} × ${count}`)
    .join(', ')
}
