/** A front of an operator's, and video jobs of its organization that a test brings to where it wants them. */
import type { Test } from 'tap'
import type { ClaimedVideo, StoredClip } from '../../../src/server/ports/videos/video-work.ts'
import { openVideoWork } from '../../../src/server/store/videos/work.ts'
import { openInternsFront, type InternsFront } from '../workspaces/interns-front.ts'
import { present } from '../must.ts'
import { clip, CONTEXT, insertVideo, LEASE_MS, videoId, type NewRow } from '../videos/video-rows.ts'

export interface AdminJobs extends InternsFront {
  /** Adds the next job, of provider `acme` unless another is named. @returns its id */
  add(more?: Partial<NewRow>): Promise<string>
  claim(provider: string): Promise<ClaimedVideo>
  /** Brings a claimed job to its provider, under this id there. */
  submit(claim: ClaimedVideo, upstreamId: string): Promise<ClaimedVideo>
  complete(claim: ClaimedVideo, clips?: readonly StoredClip[]): Promise<void>
  fail(claim: ClaimedVideo, error: string): Promise<void>
  /** Of `/admin/jobs`. */
  list(query?: string): Promise<ListedIds>
}

export async function openAdminJobs(t: Test): Promise<AdminJobs> {
  const front = await openInternsFront(t)
  const { data } = (await front.call('POST', '/keys', { body: { name: 'jobs' } })).body as {
    data: { hash: string }
  }
  const owners = {
    organizationId: front.organizationId,
    workspaceId: front.workspace.id,
    keyHash: data.hash,
    keyAccountId: `k${data.hash}`,
  }
  const work = openVideoWork(front.store, CONTEXT)
  let nth = 0
  return {
    ...front,
    add: (more = {}) => insertVideo(front.store, owners, { id: videoId(++nth), ...more }),
    claim: async (provider) => present((await work.claim(new Map([[provider, 1]]), LEASE_MS))[0]),
    async submit(claim, upstreamId) {
      const taken = await work.submitted(
        present(await work.submitting(claim, { leaseMs: LEASE_MS, callMs: 1_000 })),
        upstreamId,
      )
      if (typeof taken === 'string') throw new Error(taken)
      return taken
    },
    async complete(claim, clips = [clip(`${claim.id}-0-a`)]) {
      present(await work.end(claim, { kind: 'completed', clips }))
    },
    async fail(claim, error) {
      present(await work.end(claim, { kind: 'failed', error, mayHaveCost: false }))
    },
    list: (query = '') => listedBy(front, `/admin/jobs?${query}`),
  }
}

export interface ListedIds {
  readonly ids: readonly string[]
  /** Of all pages. */
  readonly count: number
}

/** A page of an operator's list. */
export async function listedBy({ call }: Pick<InternsFront, 'call'>, path: string): Promise<ListedIds> {
  const { status, body } = await call('GET', path)
  if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
  return { ids: (body['data'] as { id: string }[]).map(({ id }) => id), count: Number(body['total_count']) }
}
