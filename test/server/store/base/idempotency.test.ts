import t from 'tap'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import type { Repeatable } from '../../../../src/schemas/idempotency.ts'
import { KEPT_ANSWER_BYTES_MAX } from '../../../../src/schemas/limits/idempotency-limits.ts'
import type { IdempotencyClaim, ClaimOrAnswer } from '../../../../src/server/ports/idempotency.ts'
import {
  TURN_LEASE_MS,
  TURN_RENEW_MS,
  keepAnswer,
  openIdempotency,
  type IdempotencyOptions,
  type IdempotencyStore,
} from '../../../../src/server/store/base/idempotency.ts'
import { FACTS, openFileStand, untilBusy, type FileStand } from '../../../support/files/files.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import {
  agedRows,
  IDEMPOTENCY,
  IDEMPOTENCY_KEPT,
} from '../../../../src/server/store/lifecycle/retention/aged-rows.ts'
import { must } from '../../../support/must.ts'
import { runStep } from '../../../support/operator/retention.ts'
import { WAITING_REPEATS_MAX } from '../../../../src/server/store/base/waiters.ts'

const KEY: Repeatable = { key: 'once', apiKeyHash: 'a'.repeat(64), requestDigest: 'POST /things' }
const ANSWER = { bodySha256: 'b'.repeat(64), json: '{"id":"thing_1"}' }
/** Longer than any run. */
const NEVER_MS = 2 ** 30

interface Stand extends FileStand {
  readonly answers: IdempotencyStore
  begin(more?: Partial<Repeatable>): Promise<Outcome<ClaimOrAnswer>>
  first(): Promise<IdempotencyClaim>
  /** Another process on the same database. */
  openAnswers(more?: Partial<IdempotencyOptions>): IdempotencyStore
}

async function openStand(
  t: Parameters<typeof openFileStand>[0],
  more: Partial<IdempotencyOptions> = {},
): Promise<Stand> {
  const stand = await openFileStand(t)
  const openAnswers = (again: Partial<IdempotencyOptions> = {}): IdempotencyStore => {
    const answers = openIdempotency({
      store: stand.store,
      now: () => performance.now(),
      random: Math.random,
      waitMs: 0,
      leaseMs: NEVER_MS,
      renewMs: NEVER_MS,
      ...more,
      ...again,
    })
    t.teardown(async () => answers.close())
    return answers
  }
  const answers = openAnswers()
  const begin: Stand['begin'] = (input) => answers.begin({ idempotency: { ...KEY, ...input }, holder: 'w' })
  return { ...stand, answers, openAnswers, begin, first: async () => claimOf(await begin()) }
}

function claimOf(begun: Outcome<ClaimOrAnswer>): IdempotencyClaim {
  const value = must(begun)
  if (value.kind !== 'first') throw new Error('not the first')
  return value.claim
}

t.test('a repetition gets the answer of the first call', async (t) => {
  const { answers, begin, first } = await openStand(t)
  await answers.remember(await first(), ANSWER)
  t.same(await begin(), { ok: true, value: { kind: 'replay', answer: ANSWER } })
})

t.test(
  'another request under the same key is a mismatch, during and after the first call, and another key is not',
  async (t) => {
    const { answers, begin, first } = await openStand(t)
    const claim = await first()
    t.match(await begin({ requestDigest: 'POST /others' }), { failure: { name: 'idempotency_mismatch' } })
    await answers.remember(claim, ANSWER)
    t.match(await begin({ requestDigest: 'POST /others' }), { failure: { name: 'idempotency_mismatch' } })
    t.match(await begin({ key: 'twice' }), { value: { kind: 'first' } })
    t.match(await begin({ apiKeyHash: 'c'.repeat(64) }), { value: { kind: 'first' } })
  },
)

t.test('one of many racing calls in two processes is the first, and the others get its answer', async (t) => {
  const { answers, openAnswers } = await openStand(t, { waitMs: NEVER_MS })
  const processes = [answers, openAnswers()]
  let firsts = 0
  const ends = await Promise.all(
    Array.from({ length: 12 }, async (_, nth) => {
      const own = processes[nth % 2] ?? answers
      const begun = must(await own.begin({ idempotency: KEY, holder: 'w' }))
      if (begun.kind === 'replay') return begun.answer
      firsts++
      await own.remember(begun.claim, ANSWER)
      return ANSWER
    }),
  )
  t.equal(firsts, 1)
  t.same(ends, Array(12).fill(ANSWER))
})

t.test('a repetition waits for a limited time, and ends at once when its caller disconnects', async (t) => {
  const { answers, begin, first } = await openStand(t, { waitMs: 20 })
  await first()
  t.match(await begin(), { failure: { name: 'idempotency_running', retryAfterS: 5 } })
  t.match(await answers.begin({ idempotency: KEY, holder: 'w', signal: AbortSignal.abort() }), { ok: false })
})

t.test('refuses at once repetitions beyond the maximum number of waiting ones', async (t) => {
  const { answers, begin, first } = await openStand(t, { waitMs: NEVER_MS })
  const claim = await first()
  const ends = Array.from({ length: WAITING_REPEATS_MAX + 2 }, () => begin())
  await untilBusy(ends, 2)
  await answers.remember(claim, ANSWER)
  const replays = (await Promise.all(ends)).filter((end) => end.ok && end.value.kind === 'replay')
  t.equal(replays.length, WAITING_REPEATS_MAX)
})

t.test(
  'when the first call fails the next one becomes the first, and late answers of the failed one are ignored',
  async (t) => {
    const { store, answers, begin, first } = await openStand(t, { waitMs: NEVER_MS })
    const claim = await first()
    const waiting = begin()
    await answers.forget(claim)
    const next = claimOf(await waiting)
    await answers.remember(claim, { ...ANSWER, json: '"late"' })
    t.notOk(await keepAnswer(store.sql, claim, { ...ANSWER, json: '"late"' }))
    await answers.remember(next, ANSWER)
    t.match(await begin(), { value: { kind: 'replay', answer: ANSWER } })
  },
)

t.test('a caller that disconnects while it becomes the first keeps no claim', async (t) => {
  const { answers, begin } = await openStand(t, { waitMs: NEVER_MS })
  const leaving = new AbortController()
  const begun = answers.begin({ idempotency: KEY, holder: 'w', signal: leaving.signal })
  leaving.abort()
  t.match(await begun, { ok: false })
  t.match(await begin(), { value: { kind: 'first' } })
})

t.test('a key whose process died is taken over after its lease, while a repetition waits', async (t) => {
  const { store, first, openAnswers } = await openStand(t, { waitMs: NEVER_MS })
  const dead = await first()
  await store.sql`UPDATE idempotency SET lease_until = clock_timestamp() + interval '50 ms'`
  const next = claimOf(await openAnswers().begin({ idempotency: KEY, holder: 'w' }))
  t.equal(next.attempt, dead.attempt + 1)
  t.notOk(await keepAnswer(store.sql, dead, ANSWER))
  t.ok(TURN_RENEW_MS * 2 < TURN_LEASE_MS)
})

t.test('a call that takes longer than a lease keeps its key', async (t) => {
  const { store, answers } = await openStand(t, { leaseMs: 60_000, renewMs: 5 })
  const claim = claimOf(await answers.begin({ idempotency: KEY, holder: 'w' }))
  const [begun] = await store.sql`SELECT lease_until FROM idempotency WHERE id = ${claim.id}`
  for (let isRenewed = false; !isRenewed;) {
    const [row] =
      await store.sql`SELECT lease_until > ${begun?.['lease_until']} AS "isLater" FROM idempotency WHERE id = ${claim.id}`
    isRenewed = row?.['isLater'] === true
  }
  await answers.remember(claim, ANSWER)
})

t.test('an answer that arrives during an outage of the store is stored after it', async (t) => {
  const { begin, openAnswers, store } = await openStand(t, { waitMs: NEVER_MS })
  const away = openStore({
    url: 'postgres://nobody@127.0.0.1:1/nothing',
    poolMax: 1,
    applicationName: 'test',
  })
  t.teardown(() => away.close())
  let isAway = false
  const own = openAnswers({
    store: {
      get sql() {
        return isAway ? away.sql : store.sql
      },
    } as typeof store,
    renewMs: 5,
  })
  const claim = claimOf(await own.begin({ idempotency: KEY, holder: 'w' }))
  isAway = true
  await own.remember(claim, ANSWER)
  isAway = false
  t.match(await begin(), { value: { kind: 'replay', answer: ANSWER } })
})

t.test(
  'an answer can be stored in the transaction that it describes, and is not overwritten then',
  async (t) => {
    const { store, answers, begin, first } = await openStand(t)
    const claim = await first()
    await store.sql.begin(async (tx) => t.ok(await keepAnswer(tx, claim, ANSWER)))
    await answers.remember(claim, { ...ANSWER, json: '"second"' })
    t.match(await begin(), { value: { kind: 'replay', answer: ANSWER } })
  },
)

t.test('a key of a file upload cannot be used for another operation, and the reverse', async (t) => {
  const { answers, begin, first, files, workspaceId } = await openStand(t)
  const upload = (key: string) => files.begin({ workspaceId, reserveBytes: 1, idempotency: { ...KEY, key } })
  const begun = must(await upload('file'))
  if (begun.kind === 'new') must(await files.commit(begun.upload, FACTS))
  t.match(await begin({ key: 'file' }), { failure: { name: 'idempotency_mismatch' } })
  const claim = await first()
  t.match(await upload('once'), { failure: { name: 'idempotency_mismatch' } })
  await answers.forget(claim)
  t.match(await upload('once'), { value: { kind: 'new' } })
})

t.test('after a day a key can be used again, whether or not it was pruned', async (t) => {
  const { store, answers, begin, first } = await openStand(t)
  for (const isSwept of [false, true]) {
    await answers.remember(await first(), ANSWER)
    await store.sql`UPDATE idempotency SET answered_at = answered_at - interval '24 hours 1 second'`
    if (isSwept) t.match(await runStep(store, agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)), { rows: 1 })
    await answers.forget(claimOf(await begin()))
  }
})

t.test('the sweep keeps running calls and the answers of the last day', async (t) => {
  const { store, answers, begin, first } = await openStand(t)
  await answers.remember(await first(), ANSWER)
  claimOf(await begin({ key: 'runs' }))
  t.match(await runStep(store, agedRows(store, IDEMPOTENCY, IDEMPOTENCY_KEPT)), { rows: 0 })
})

t.test('an answer above KEPT_ANSWER_BYTES_MAX is not stored', async (t) => {
  const { answers, first } = await openStand(t)
  const claim = await first()
  await t.rejects(answers.remember(claim, { ...ANSWER, json: `"${'x'.repeat(KEPT_ANSWER_BYTES_MAX)}"` }))
})
