import t from 'tap'
import { openEgress } from '../../../src/server/egress/egress.ts'
import type { EgressRequest } from '../../../src/server/ports/egress/egress.ts'
import { must } from '../must.ts'
import { startVideosProcess } from './video-provider-process.ts'

const OPEN_JOBS = 2_000
const AT_ONCE = 64

t.test(
  'the fake provider keeps thousands of open jobs, each with its token once, and notes all calls',
  async (t) => {
    const videos = await startVideosProcess({ makeMs: 600_000 })
    const egress = openEgress()
    t.teardown(() => Promise.all([egress.close(), videos.stop()]))
    const call = async (more: Partial<EgressRequest>): Promise<{ readonly id: string }> => {
      const answer = must(
        await egress.trusted(videos.origin).call({
          method: 'GET',
          path: '/',
          headers: ['content-type', 'application/json'],
          body: null,
          attemptEndsAt: performance.now() + 20_000,
          call: { signal: new AbortController().signal },
          mayCutSent: false,
          mayRepeat: false,
          answerBytesMax: 10_000,
          ...more,
        }),
      )
      answer.release()
      return JSON.parse(Buffer.from(answer.body).toString()) as { id: string }
    }
    const ids: string[] = []
    await inParallel(OPEN_JOBS, async (nth) => {
      const body = JSON.stringify({ model: 'film-1', prompt: `job ${nth}`, seconds: '4', size: '1280x720' })
      const headers = ['content-type', 'application/json', 'idempotency-key', `token-${nth}`]
      ids.push((await call({ method: 'POST', path: '/v1/videos', body, headers })).id)
    })
    const begun = performance.now()
    await inParallel(OPEN_JOBS, async (nth) => void (await call({ path: `/v1/videos/${ids[nth]}` })))
    t.comment(
      `${Math.round(OPEN_JOBS / ((performance.now() - begun) / 1_000))} polls a second, from one client`,
    )
    const log = await videos.log()
    t.equal(new Set(ids).size, OPEN_JOBS)
    t.equal(log.jobs, OPEN_JOBS)
    t.equal(new Set(log.submissions.map(({ token }) => token)).size, OPEN_JOBS)
    t.equal(
      Object.values(log.polls).reduce((sum, count) => sum + count, 0),
      OPEN_JOBS,
    )
  },
)

async function inParallel(count: number, work: (nth: number) => Promise<void>): Promise<void> {
  let next = 0
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (next < count) await work(next++)
    }),
  )
}
