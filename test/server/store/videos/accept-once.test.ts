import t from 'tap'
import type { Repeatable } from '../../../../src/schemas/idempotency.ts'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import type { IdempotencyStore } from '../../../../src/server/store/base/idempotency.ts'
import type { IdempotencyClaim } from '../../../../src/server/ports/idempotency.ts'
import type { VideoJobs, VideoView } from '../../../../src/server/ports/videos/videos.ts'
import { checkLedger } from '../../../../src/server/store/money/repair/check.ts'
import { StoreSlow, type Store } from '../../../../src/server/store/base/open.ts'
import { setLimit } from '../../../support/money/money.ts'
import { must } from '../../../support/must.ts'
import {
  answerOf,
  bodyOf,
  nameOf,
  openVideoStand,
  videoInput,
  type VideoStand,
} from '../../../support/videos/video-jobs.ts'

const NEVER_MS = 2 ** 30
const BODY = bodyOf('a kite')

function repeatable(key: string): Repeatable {
  return { key, apiKeyHash: 'a'.repeat(64), requestDigest: 'POST /videos' }
}

function once(claim: IdempotencyClaim, bodySha256 = BODY) {
  return { claim, bodySha256, answer: answerOf }
}

async function firstTurn(answers: IdempotencyStore, key = 'k'): Promise<IdempotencyClaim> {
  const begun = must(await answers.begin({ idempotency: repeatable(key), holder: 'w' }))
  if (begun.kind !== 'first') throw new Error('not the first')
  return begun.claim
}

/** Serves a call under a key as a front does. @returns the answer of the caller */
async function call(
  { owners }: VideoStand,
  answers: IdempotencyStore,
  jobs: VideoJobs,
  key: string,
): Promise<string> {
  const begun = must(await answers.begin({ idempotency: repeatable(key), holder: key }))
  if (begun.kind === 'replay') return begun.answer.json
  const outcome = await jobs.accept(videoInput(owners, { once: once(begun.claim) }))
  if (!outcome.ok) {
    await answers.forget(begun.claim)
    return outcome.failure.name
  }
  await answers.remember(begun.claim, { bodySha256: BODY, json: answerOf(outcome.value) })
  return answerOf(outcome.value)
}

/** A store whose answer to the nth transaction is lost: `before` it ran, or `after` its commit. */
function losing(store: Store, when: 'before' | 'after', problem: Error, nth = 1): Store {
  let count = 0
  return {
    get sql() {
      return store.sql
    },
    async within<T>(ms: number, run: (sql: Store['sql']) => PromiseLike<T>): Promise<T> {
      count += 1
      if (count !== nth) return store.within(ms, run)
      if (when === 'after') await store.within(ms, run)
      throw problem
    },
  } as Store
}

t.test('one of fifty equal calls on two fronts makes the job, and all get its answer', async (t) => {
  const stand = await openVideoStand(t)
  const fronts = [0, 1].map(() => ({ jobs: stand.open(), answers: stand.openAnswers() }))
  const calls = Array.from({ length: 25 }, (_, nth) => fronts[nth % 2]).flatMap((front) =>
    front === undefined
      ? []
      : [call(stand, front.answers, front.jobs, 'k'), call(stand, front.answers, front.jobs, 'l')],
  )
  const answer = await Promise.all(calls)
  t.equal(new Set(answer).size, 2)
  t.equal(await stand.count(), 2)
})

t.test('when a front dies between the commit and its answer, the next call gets the answer', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers({ renewMs: NEVER_MS }))
  const { id } = must(await stand.open().accept(videoInput(stand.owners, { once: once(claim) })))
  const answer = await call(stand, stand.openAnswers(), stand.open(), 'k')
  t.equal(JSON.parse(answer).id, id)
  t.equal(await stand.count(), 1)
})

t.test('a caller whose claim was taken over makes no second job, and gets the first', async (t) => {
  const stand = await openVideoStand(t)
  const late = await firstTurn(stand.openAnswers({ leaseMs: 0, renewMs: NEVER_MS }))
  const claim = await firstTurn(stand.openAnswers())
  t.equal(claim.attempt, late.attempt + 1)
  const input = (own: IdempotencyClaim) => videoInput(stand.owners, { once: once(own) })
  t.equal(nameOf(await stand.jobs.accept(input(late))), 'idempotency_running')
  const { id } = must(await stand.open().accept(input(claim)))
  t.equal(must(await stand.jobs.accept(input(late))).id, id)
  t.equal(await stand.count(), 1)
})

t.test('two fronts that both believe they hold the claim create one job between them', async (t) => {
  const stand = await openVideoStand(t)
  const [one, other] = [stand.open(), stand.open()]
  const [stale, fresh] = [stand.openAnswers({ leaseMs: 0, renewMs: NEVER_MS }), stand.openAnswers()]
  for (let nth = 0; nth < 20; nth++) {
    const late = await firstTurn(stale, String(nth))
    const claim = await firstTurn(fresh, String(nth))
    const [first, second] = await Promise.all([
      one.accept(videoInput(stand.owners, { once: once(late) })),
      other.accept(videoInput(stand.owners, { once: once(claim) })),
    ])
    t.ok(second.ok)
    t.ok(first.ok ? first.value.id === must(second).id : first.failure.name === 'idempotency_running')
  }
  t.equal(await stand.count(), 20)
})

t.test('when the answer is lost after the commit, repeating the call creates no second job', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers())
  const jobs = stand.open({ store: losing(stand.store, 'after', new StoreSlow()) })
  const input = videoInput(stand.owners, { once: once(claim) })
  t.equal(nameOf(await jobs.accept(input)), 'store_unavailable')
  const again = must(await jobs.accept(input))
  const [row] = await stand.store.sql`SELECT id FROM video_jobs`
  t.equal(again.id, row?.['id'])
  t.equal(await stand.count(), 1)
})

t.test('a job whose transaction did not begin is created by the next try', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers())
  const jobs = stand.open({ store: losing(stand.store, 'before', new StoreSlow()) })
  const input = videoInput(stand.owners, { once: once(claim) })
  t.equal(nameOf(await jobs.accept(input)), 'store_unavailable')
  must(await jobs.accept(input))
  t.equal(await stand.count(), 1)
})

t.test('a batch with an unknown outcome is retried job by job, and creates each job once', async (t) => {
  const stand = await openVideoStand(t)
  await setLimit(stand.store.sql, stand.owners.accounts.key, 'daily', 1_000_000)
  const answers = stand.openAnswers()
  // The first call goes alone; the others are the second transaction.
  const jobs = stand.open({ store: losing(stand.store, 'after', new Error('lost'), 2) })
  const inputs = await Promise.all(
    Array.from({ length: 9 }, async (_, nth) =>
      videoInput(stand.owners, nth % 2 === 0 ? {} : { once: once(await firstTurn(answers, String(nth))) }),
    ),
  )
  const outcomes: readonly Outcome<VideoView>[] = await Promise.all(inputs.map((input) => jobs.accept(input)))
  t.same(new Set(outcomes.map(nameOf)), new Set(['ok']))
  t.equal(await stand.count(), 9)
  t.same(must(await checkLedger(stand.store)).differences, [])
})

t.test('another body under the same key is refused on the first front and on others', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers())
  must(await stand.jobs.accept(videoInput(stand.owners, { once: once(claim) })))
  const other = videoInput(stand.owners, { once: once(claim, bodyOf('a boat')) })
  t.equal(nameOf(await stand.jobs.accept(other)), 'idempotency_mismatch')
  t.equal(nameOf(await stand.open().accept(other)), 'idempotency_mismatch')
  t.equal(await stand.count(), 1)
})

t.test('a lost claim does not affect other jobs of its batch', async (t) => {
  const stand = await openVideoStand(t)
  const answers = stand.openAnswers()
  const late = await firstTurn(stand.openAnswers({ leaseMs: 0, renewMs: NEVER_MS }), 'x')
  await firstTurn(answers, 'x')
  const turns = await Promise.all(['a', 'b', 'c'].map((key) => firstTurn(answers, key)))
  const inputs = [null, ...turns, late].map((claim) =>
    videoInput(stand.owners, { once: claim === null ? null : once(claim) }),
  )
  const outcomes = await Promise.all(inputs.map((input) => stand.jobs.accept(input)))
  t.same(outcomes.map(nameOf), ['ok', 'ok', 'ok', 'ok', 'idempotency_running'])
  t.equal(await stand.count(), 4)
})

t.test('a repeated call gets the first job, even if its hold leaves too little money', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers())
  await setLimit(stand.store.sql, stand.owners.accounts.key, 'daily', 150)
  const input = videoInput(stand.owners, { once: once(claim) })
  const { id } = must(await stand.jobs.accept(input))
  t.equal(must(await stand.open().accept(input)).id, id)
})

t.test('two jobs with one claim in the same batch become one job', async (t) => {
  const stand = await openVideoStand(t)
  const claim = await firstTurn(stand.openAnswers())
  const inputs = [null, claim, claim, null].map((own) =>
    videoInput(stand.owners, { once: own === null ? null : once(own) }),
  )
  const ids = await Promise.all(inputs.map(async (input) => must(await stand.jobs.accept(input)).id))
  t.equal(ids[1], ids[2])
  t.equal(new Set(ids).size, 3)
  t.equal(await stand.count(), 3)
})

t.test('a refused job stores no answer, so that a retry with its key may succeed', async (t) => {
  const stand = await openVideoStand(t)
  const answers = stand.openAnswers()
  await setLimit(stand.store.sql, stand.owners.accounts.key, 'daily', 10)
  t.equal(await call(stand, answers, stand.jobs, 'k'), 'key_limit_exceeded')
  await setLimit(stand.store.sql, stand.owners.accounts.key, 'daily', 1_000)
  t.match(await call(stand, answers, stand.jobs, 'k'), /pending/)
})
