import t from 'tap'
import { openVideoWork } from '../../../../src/server/store/videos/work.ts'
import { present } from '../../../support/must.ts'
import {
  accepted,
  openVideoStand,
  VIDEO_REQUEST,
  videoInput,
  type VideoStand,
} from '../../../support/videos/video-jobs.ts'
import { CONTEXT, LEASE_MS, SPENT_MS } from '../../../support/videos/video-rows.ts'

const ATTACHED = {
  frames: [{ frame: 'first_frame' as const, url: `data:image/png;base64,${'A'.repeat(1_000_000)}` }],
  references: [{ kind: 'image' as const, url: 'https://cdn.example/a.png' }],
  passthrough: { note: 'two\nlines, and \0' },
}
const LARGE = { ...VIDEO_REQUEST, ...ATTACHED }
const BARE = { ...VIDEO_REQUEST, frames: [], references: [], passthrough: {} }

const claimAll = ({ store }: VideoStand, leaseMs = LEASE_MS) =>
  openVideoWork(store, CONTEXT).claim(new Map([['acme', 10]]), leaseMs)

// Limits decide which way a job is accepted.
for (const limits of [{}, { isCreditLimited: true }]) {
  t.test(
    `a claim does not include large parts of a request, which only its holder can read: ${JSON.stringify(limits)}`,
    async (t) => {
      const stand = await openVideoStand(t)
      const work = openVideoWork(stand.store, CONTEXT)
      const ids = await Promise.all(
        [LARGE, VIDEO_REQUEST, LARGE].map((request) =>
          accepted(stand.jobs, videoInput(stand.owners, { request, limits })),
        ),
      )
      const claims = new Map((await claimAll(stand, SPENT_MS)).map((claim) => [claim.id, claim]))
      const [large, small, other] = ids.map((id) => present(claims.get(id)))
      t.ok(JSON.stringify([...claims.values()]).length < 10_000)
      t.match(
        [large, other],
        [
          { request: BARE, hasAttached: true },
          { request: BARE, hasAttached: true },
        ],
      )
      t.match(small, { request: BARE, hasAttached: false })
      t.same(await work.attached(present(large)), ATTACHED)
      const again = present((await claimAll(stand)).find(({ id }) => id === large?.id))
      t.equal(await work.attached(present(large)), null, 'a claim that is over')
      const next = present(await work.submitting(again, { leaseMs: LEASE_MS, callMs: 1_000 }))
      t.match(next, { request: BARE, hasAttached: true })
      t.same(await work.attached(next), ATTACHED)
    },
  )
}

t.test('the request of a job is deleted once the job has ended', async (t) => {
  const stand = await openVideoStand(t)
  const work = openVideoWork(stand.store, CONTEXT)
  const id = await accepted(stand.jobs, videoInput(stand.owners, { request: LARGE }))
  t.match(
    await work.end(present((await claimAll(stand))[0]), {
      kind: 'failed',
      error: 'x: y',
      mayHaveCost: false,
    }),
    { id },
  )
  t.match(await stand.store.sql`SELECT request, attached FROM video_jobs WHERE id = ${id}`, [
    { request: null, attached: null },
  ])
})
