import t from 'tap'
import { REQUESTS_PACKED_MS_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import { ownRequestId, requestIdPrefix } from '../../../../src/schemas/requests/request-id.ts'
import {
  REQUESTS_PACKED_MIN,
  boundsOf,
  JOB_OPERATION,
  splitBatch,
} from '../../../../src/server/store/requests/split-batch.ts'
import { ORGANIZATION, OTHER_ORGANIZATION } from '../../../support/inference/generations.ts'
import { present } from '../../../support/must.ts'
import { batchOfCalls, ownId, type EndedCall } from '../../../support/requests/settled-call.ts'

const END_MS = 1_800_000_000_000

function calls(count: number, more: Partial<EndedCall> = {}): readonly EndedCall[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ organizationId: ORGANIZATION, endedMs: END_MS, requestId: ownId(n) },
    ...more,
  }))
}

t.test(
  `REQUESTS_PACKED_MIN (${REQUESTS_PACKED_MIN}) calls of an organization are a segment, fewer are rows`,
  async (t) => {
    const others = calls(REQUESTS_PACKED_MIN - 1, { organizationId: OTHER_ORGANIZATION })
    const { segments, rows } = splitBatch(batchOfCalls(...others, ...calls(REQUESTS_PACKED_MIN)))
    t.same(
      segments.map(({ places }) => places),
      [Array.from({ length: REQUESTS_PACKED_MIN }, (_, n) => others.length + n)],
    )
    t.same(rows, [...others.keys()])
  },
)

t.test('alternating calls of two organizations make one segment for each', async (t) => {
  const [own, others] = [calls(REQUESTS_PACKED_MIN), calls(REQUESTS_PACKED_MIN, { organizationId: null })]
  const { segments, rows } = splitBatch(batchOfCalls(...own.flatMap((call, n) => [call, others[n] ?? call])))
  t.same(
    [segments.map(({ places }) => places.slice(0, 2)), rows],
    [
      [
        [0, 2],
        [1, 3],
      ],
      [],
    ],
  )
  t.equal(segments[1]?.organization, 0, 'nobody')
})

for (const [what, odd] of [
  ['an id of its caller', { requestId: 'r-1' }],
  ['an id of its caller that is nearly one of ours', { requestId: `${ownId(1).slice(0, -1)}A` }],
  ['an id of another process', { requestId: ownRequestId(requestIdPrefix(8n), 1) }],
  ['a job', { operation: JOB_OPERATION }],
  [
    `REQUESTS_PACKED_MS_MAX (${REQUESTS_PACKED_MS_MAX}) and more before the rest`,
    { endedMs: END_MS - REQUESTS_PACKED_MS_MAX - 1 },
  ],
] as const)
  t.test(`writes a call as a row of its own: ${what}`, async (t) => {
    const batch = batchOfCalls(...calls(REQUESTS_PACKED_MIN), ...calls(1, odd))
    const { segments, rows } = splitBatch(batch)
    t.same([segments.length, rows], [1, [REQUESTS_PACKED_MIN]])
  })

t.test('a segment has the range of its end times and request numbers, and its failure count', async (t) => {
  const batch = batchOfCalls(
    ...calls(REQUESTS_PACKED_MIN),
    ...calls(1, { endedMs: END_MS - REQUESTS_PACKED_MS_MAX, requestId: ownId(900), failure: 'busy' }),
    ...calls(1, { endedMs: END_MS + 5 }),
  )
  const { segments } = splitBatch({ ...batch, figures: batch.figures })
  t.same(boundsOf(batch, present(segments[0])), {
    ...{ firstMs: END_MS, lastMs: END_MS + 5, idFirst: 0, idLast: REQUESTS_PACKED_MIN - 1, failures: 0 },
  })
  const whole = splitBatch(
    batchOfCalls(...calls(REQUESTS_PACKED_MIN), ...calls(1, { requestId: ownId(900), failure: 'busy' })),
  )
  t.match(present(whole.segments[0]).places.length, REQUESTS_PACKED_MIN + 1)
})
