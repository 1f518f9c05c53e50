/** Rows of video jobs as an acceptance leaves them, written without the code under test. */
import { randomUUID } from 'node:crypto'
import type { VideoRequest } from '../../../src/server/ports/videos/videos.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import type { EndContext } from '../../../src/server/store/videos/ends.ts'
import type { StoredClip } from '../../../src/server/ports/videos/video-work.ts'
import { openVideoWork } from '../../../src/server/store/videos/work.ts'
import { must, present } from '../must.ts'
import { SILENT } from '../log.ts'
import { makeOwners, type Owners } from '../money/money.ts'
import { openTestStore } from '../stores/postgres.ts'
import { createWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'

type Tap = Parameters<typeof openTestStore>[0]

export const CONTEXT: EndContext = { log: SILENT, origin: 'https://sluice.test', clipsKeptMs: 7 * 86_400_000 }
export const LEASE_MS = 3_600_000
/** A lease that has run out before any process can look. */
export const SPENT_MS = -1

export const REQUEST: VideoRequest = {
  prompt: 'a heron',
  seconds: 4,
  resolution: '480p',
  aspectRatio: '16:9',
  size: null,
  seed: null,
  hasAudio: false,
  frames: [],
  references: [],
  creativity: null,
  upscaleFactor: null,
  passthrough: {},
  previousUpstreamId: null,
  user: null,
}

/** Of the nth job of a stand. */
export function videoId(nth: number): string {
  return `vid_${String(nth).padStart(32, '0')}`
}

export interface NewRow {
  readonly workspaceId: string
  readonly provider: string
  readonly costNano: number
  readonly isUnpriced: boolean
  readonly ownSecret: string | null
  readonly callbackUrl: string | null
  /** Held of each account of the owners. */
  readonly heldNano: number
  readonly day: string | null
  /** Milliseconds ago. */
  readonly dueMs: number
  readonly expiresInMs: number
}

export interface VideoStand {
  readonly store: Store
  readonly owners: Owners
  readonly work: ReturnType<typeof openVideoWork>
  /** @returns its id */
  accept(more?: Partial<NewRow>): Promise<string>
  row(id: string): Promise<Record<string, unknown>>
  /** Another workspace of the organization. */
  workspace(): Promise<string>
}

export async function openVideoStand(
  t: Tap,
  poolMax = 8,
  context: Partial<EndContext> = {},
): Promise<VideoStand> {
  const store = await openTestStore(t, poolMax)
  const owners = await makeOwners(store)
  let nth = 0
  return {
    store,
    owners,
    work: openVideoWork(store, { ...CONTEXT, ...context }),
    async accept(more = {}) {
      return insertVideo(store, owners, { id: videoId(++nth), ...more })
    },
    async row(id) {
      return present((await store.sql`SELECT * FROM video_jobs WHERE id = ${id}`)[0])
    },
    async workspace() {
      const slug = `w${randomUUID()}`
      return must(await createWorkspace(store, { organizationId: owners.organizationId, name: slug, slug }))
        .id
    },
  }
}

const DEFAULTS = {
  provider: 'acme',
  costNano: 1_000,
  isUnpriced: false,
  ownSecret: null,
  callbackUrl: null,
  heldNano: 0,
  day: null,
  dueMs: 1,
  expiresInMs: 86_400_000,
}

/** @returns its id */
export async function insertVideo(
  { sql }: Store,
  owners: Omit<Owners, 'accounts'> & Partial<Pick<Owners, 'accounts'>>,
  more: Partial<NewRow> & { readonly id: string },
): Promise<string> {
  const job = { ...DEFAULTS, workspaceId: owners.workspaceId, ...more }
  const holdId = randomUUID()
  await sql.begin(async (tx) => {
    const day = job.day === null ? tx`utc_today()` : tx`${job.day}::date`
    await tx`
      INSERT INTO video_jobs (id, organization_id, workspace_id, key_hash, key_account_id, request_id, model, provider, endpoint,
        upstream_model, own_secret, request, lease_until, submit_token, seconds, cost_nano, is_unpriced, hold_id, hold_day, callback_url, expires_at)
      VALUES (${job.id}, ${owners.organizationId}, ${job.workspaceId}, ${owners.keyHash}, ${owners.keyAccountId}, ${`req_${job.id}`},
        'acme/clip', ${job.provider}, ${`${job.provider}/clip`}, 'clip', ${job.ownSecret}, ${JSON.stringify(REQUEST)},
        clock_timestamp() - ${job.dueMs} * interval '1 ms', ${randomUUID()}, ${REQUEST.seconds}, ${job.costNano}, ${job.isUnpriced},
        ${holdId}, ${day}, ${job.callbackUrl}, clock_timestamp() + ${job.expiresInMs} * interval '1 ms')`
    if (job.heldNano === 0) return
    for (const accountId of Object.values(owners.accounts ?? {}).sort()) {
      await tx`INSERT INTO leases (journal_id, account_id, day, lent_nano, is_hold) VALUES (${holdId}, ${accountId}, ${day}, ${job.heldNano}, true)`
      await tx`
        UPDATE accounts SET daily_lent_nano = daily_lent_nano + ${job.heldNano}, weekly_lent_nano = weekly_lent_nano + ${job.heldNano},
          monthly_lent_nano = monthly_lent_nano + ${job.heldNano}, lifetime_lent_nano = lifetime_lent_nano + ${job.heldNano} WHERE id = ${accountId}`
    }
  })
  return job.id
}

/** A completed job whose clips are these objects, of which nothing else is true. */
export async function insertClips(
  store: Store,
  owners: Omit<Owners, 'accounts'>,
  id: string,
  clips: readonly StoredClip[],
): Promise<void> {
  await insertVideo(store, owners, { id })
  const claim = present((await openVideoWork(store, CONTEXT).claim(new Map([['acme', 1]]), LEASE_MS))[0])
  await openVideoWork(store, CONTEXT).end(claim, { kind: 'completed', clips })
}

export function clip(objectId: string) {
  return { objectId, dataKeyId: '00000000-0000-7000-8000-000000000001', sizeBytes: 9, sha256: 'ab' }
}
