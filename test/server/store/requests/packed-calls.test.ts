import t from 'tap'
import {
  FIGURE,
  FIGURES,
  UNKNOWN,
  type RequestBatch,
} from '../../../../src/schemas/requests/request-record.ts'
import { numberOfRequestId, prefixOfRequestId } from '../../../../src/schemas/requests/request-id.ts'
import { packCalls, PackedCalls } from '../../../../src/server/store/requests/packed-calls.ts'
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../../support/inference/generations.ts'
import { batchOfCalls, KEY_HASH, ownId } from '../../../support/requests/settled-call.ts'

const FIGURE_NAMES = Object.keys(FIGURE) as (keyof typeof FIGURE)[]

/** A batch of calls that differ in one figure alone, which has these values. */
function batchWith(figure: keyof typeof FIGURE, values: readonly number[]): RequestBatch {
  const batch = batchOfCalls(...values.map((_, n) => ({ requestId: ownId(n), endedMs: 1_000 })))
  for (const [nth, value] of values.entries()) batch.figures[nth * FIGURES + FIGURE[figure]] = value
  return batch
}

function pack(batch: RequestBatch, places: readonly number[]): Buffer {
  const idNumbers = places.map((place) => numberOfRequestId(batch.requestIds[place] ?? '') ?? NaN)
  return packCalls(batch, { prefix: prefixOfRequestId(ownId(0)), places, idNumbers })
}

function unpacked(batch: RequestBatch): PackedCalls {
  return new PackedCalls(pack(batch, [...batch.requestIds.keys()]))
}

const RANGES: Readonly<Record<string, readonly number[]>> = {
  'all equal': [7, 7, 7],
  'none known': [UNKNOWN, UNKNOWN],
  'a byte': [UNKNOWN, 0, 254],
  'more than a byte': [UNKNOWN, 255, 3],
  'two bytes': [5, 65_540],
  'more than two bytes': [5, 65_541],
  'four bytes': [UNKNOWN, 2 ** 32 - 2],
  'more than four bytes': [UNKNOWN, 2 ** 32 - 1, 0],
  'the largest whole numbers': [UNKNOWN, Number.MAX_SAFE_INTEGER - 1],
}
for (const [what, values] of Object.entries(RANGES))
  t.test(`a column of ${what} is read as it was written`, async (t) => {
    t.same([...unpacked(batchWith('costNano', values)).figures('costNano')], values)
  })

t.test('stores durations to 0.01 ms, and invalid numbers as unknown', async (t) => {
  const calls = unpacked(batchWith('authMs', [0.126, 12.344, NaN, -3, Infinity, UNKNOWN]))
  t.same(
    [0, 1, 2, 3, 4, 5].map((nth) => calls.figureAt(nth, 'authMs')),
    [0.13, 12.34, null, null, null, null],
  )
})

t.test('each failure reason belongs to its own call in the segment', async (t) => {
  const reason = { message: 'words', issues: [{ path: '/model', expected: 'string' }] }
  const calls = [0, 1, 2, 3].map((n) => ({
    requestId: ownId(n),
    ...(n % 2 === 1 && {
      failure: 'body_invalid' as const,
      reason: () => ({ ...reason, facts: { limit: n } }),
    }),
  }))
  const packed = new PackedCalls(pack(batchOfCalls(...calls), [1, 2, 3]))
  t.same(
    [0, 1, 2].map((nth) => JSON.parse(packed.reasonAt(nth) ?? 'null') as unknown),
    [{ ...reason, facts: { limit: 1 } }, null, { ...reason, facts: { limit: 3 } }],
  )
  t.same(
    [0, 1, 2].map((nth) => packed.failedAt(nth)),
    [null, null, null],
  )
  const without = new PackedCalls(pack(batchOfCalls({ requestId: ownId(0) }), [0]))
  t.equal(without.reasonAt(0), null)
})

t.test('each figure has its own column', async (t) => {
  const batch = batchOfCalls({ requestId: ownId(1) }, { requestId: ownId(2) })
  const plain = FIGURE_NAMES.filter((name) => FIGURE[name] < FIGURE.organization && !name.endsWith('Ms'))
  for (const name of plain) batch.figures[FIGURES + FIGURE[name]] = 1_000 + FIGURE[name]
  const calls = unpacked(batch)
  for (const name of plain) t.equal(calls.figureAt(1, name), 1_000 + FIGURE[name], name)
})

t.test('a segment has the texts and failures of its own calls only', async (t) => {
  const failed = (code: string) => ({ failedAttempts: [{ provider: 'acme', status: 500, code }] })
  const batch = batchOfCalls(
    { requestId: ownId(1), organizationId: OTHER_ORGANIZATION, notes: { model: 'theirs/1', ...failed('a') } },
    { requestId: ownId(2), organizationId: ORGANIZATION, keyHash: KEY_HASH, notes: failed('b') },
    { requestId: ownId(40), organizationId: ORGANIZATION, notes: { model: 'own/1' } },
  )
  const bytes = pack(batch, [1, 2])
  const calls = new PackedCalls(bytes)
  t.equal(calls.calls, 2)
  t.same([calls.requestIdAt(0), calls.requestIdAt(1)], [ownId(2), ownId(40)])
  t.same([calls.numberAt(0), calls.numberAt(1)], [2, 3], 'their numbers in the batch')
  t.same([calls.textAt(0, 'model'), calls.textAt(1, 'model')], [null, 'own/1'])
  t.same([calls.textAt(0, 'key'), calls.textAt(1, 'key')], [KEY_HASH, null])
  t.match([calls.failedAt(0), calls.failedAt(1)], [/"status":500/, null])
  t.notOk(bytes.includes('theirs') || bytes.includes(OTHER_ORGANIZATION))
})

t.test('reads packed calls from a view into a larger buffer', async (t) => {
  const bytes = pack(batchWith('status', [200, 404]), [0, 1])
  const larger = Buffer.concat([Buffer.from('xyz'), bytes])
  t.same([...new PackedCalls(larger.subarray(3)).figures('status')], [200, 404])
})
