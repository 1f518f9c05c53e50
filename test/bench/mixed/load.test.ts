import t from 'tap'
import { startMixedLoad, mixedCeiling } from '../../../bench/mixed/load.ts'
import {
  MIXED_KINDS,
  MIXED_SHARES,
  mixedRequests,
  mixInTurn,
  UPLOAD_BYTES_LEAST,
  UPLOAD_BYTES_MOST,
} from '../../../bench/mixed/mix.ts'
import { startMixedStand } from '../../../bench/mixed/stand.ts'
import { STAND_MODEL } from '../../support/nodes/stand.ts'
import { sizesOf } from '../../support/load/load-request.ts'
import { foundAtPace } from '../../support/load/pace.ts'

t.setTimeout(600_000)

const embeddings = {
  method: 'POST',
  path: '/api/v1/embeddings',
  headers: {},
  body: JSON.stringify({ model: STAND_MODEL, input: 'x' }),
}
const requests = mixedRequests({ embeddings, apiKey: 'k', fileId: 'file_1', seed: 1 })

t.test('each 100 requests hold each kind at its share, with the uploads spread apart', async (t) => {
  const mix = mixInTurn(requests)
  t.equal(mix.length, 100)
  for (const kind of MIXED_KINDS)
    t.equal(mix.filter((one) => requests[kind].includes(one)).length, MIXED_SHARES[kind], kind)
  const uploads = mix.flatMap((one, at) => (one.payload === undefined ? [] : [at]))
  t.ok(
    uploads.every((at, nth) => nth === 0 || at - (uploads[nth - 1] ?? 0) > 15),
    uploads.join(', '),
  )
})

t.test('upload sizes are between 1 and 20 MB, and half of them are below 4.5 MB', async (t) => {
  const nextBytes = sizesOf({
    leastBytes: UPLOAD_BYTES_LEAST,
    mostBytes: UPLOAD_BYTES_MOST,
    seed: 3,
    after: '',
  })
  const sizes = Array.from({ length: 2_000 }, nextBytes).sort((a, b) => a - b)
  t.ok((sizes[0] ?? 0) >= UPLOAD_BYTES_LEAST && (sizes.at(-1) ?? 0) <= UPLOAD_BYTES_MOST)
  t.ok(Math.abs((sizes[1_000] ?? 0) - 4_472_136) < 600_000, String(sizes[1_000]))
})

/** Milliseconds that a busy machine may take to answer. */
const PATIENCE_MS = 60_000

t.test('a node under the mix', async (t) => {
  const stand = await startMixedStand({ settings: { SLUICE_WORKERS: '2' } })
  t.teardown(() => stand.stop())

  await t.test('requests every kind at its share, and nothing fails', async (t) => {
    const load = await startMixedLoad(stand, { ratePerS: 60, durationMs: 2_000, patienceMs: PATIENCE_MS })
    const { kinds, failed, failures } = await load.result
    t.equal(failed, 0, failures.join('; '))
    for (const kind of MIXED_KINDS) {
      const due = (60 * 2 * MIXED_SHARES[kind]) / 100
      const { requests } = kinds[kind]
      t.ok(requests > 0 && Math.abs(requests - due) <= 2, `${kind}: ${requests} of ${due}`)
    }
    t.ok(kinds.uploads.sentBytes > UPLOAD_BYTES_LEAST * kinds.uploads.requests)
  })

  await t.test('removes the uploads at the end', async (t) => {
    const answer = await fetch(`http://127.0.0.1:${stand.port}/api/v1/files`, {
      headers: { authorization: `Bearer ${stand.keys.inference_key}` },
    })
    t.same(((await answer.json()) as { data: unknown[] }).data, [])
  })

  await t.test('can be stopped, and a closed loop finds the highest rate of the machine', async (t) => {
    const load = await startMixedLoad(stand, { ratePerS: 20 })
    const { kinds, failed } = await load.stop()
    t.equal(failed, 0)
    t.ok(kinds.embeddings.measuredMs < 60_000)
    // A generator that stands still for longer than its whole load has sent nothing when that ends.
    const { requests: answered, statuses } = await foundAtPace(
      500,
      (durationMs) => mixedCeiling(stand, { durationMs, connections: 8 }),
      (found) => found.requests > 0,
    )
    t.equal((statuses[200] ?? 0) + (statuses[202] ?? 0), answered)
    t.ok(answered > 0)
  })

  await t.test('reports a refused request with its kind', async (t) => {
    const refused = { ...stand, embeddings: () => stand.embeddings('sk-sluice-v1-wrong') }
    const { failed, failures, kinds } = await (
      await startMixedLoad(refused, { ratePerS: 20, durationMs: 500 })
    ).result
    t.equal(failed, kinds.embeddings.requests)
    t.match(failures[0], /^embeddings: 401 × \d+$/)
  })
})
