import t from 'tap'
import { REQUESTS_FILE_BYTES_MAX } from '../../../../src/schemas/requests/request-limits.ts'
import { FIGURE, FIGURES, FLAG, UNKNOWN } from '../../../../src/schemas/requests/request-record.ts'
import {
  REQUESTS_GATHERED_MAX,
  REQUESTS_REASONS_MAX,
  REQUESTS_TEXT_BYTES_MAX,
  GatheredCalls,
} from '../../../../src/server/observe/requests/gathered-calls.ts'
import { batchOfCalls, settledCall } from '../../../support/requests/settled-call.ts'
import { batchBytes, batchesOf } from '../../../../src/server/observe/requests/spill-folder.ts'

t.test('a batch contains only known provider codes, because others may be words of a prompt', async (t) => {
  const unknown = [
    'sk-live-4f1d',
    'the prompt',
    'zanzibar',
    'ZANZIBAR',
    'x'.repeat(41),
    '{"a":1}',
    'constructor',
  ]
  const known = ['quota_exceeded', 'RESOURCE_EXHAUSTED', 'ECONNRESET', 'UND_ERR_SOCKET', 'upstream_slow']
  const failedAttempts = [...unknown, ...known].map((code) => ({ provider: 'acme', status: 500, code }))
  const { failed } = batchOfCalls({ notes: { failedAttempts } })
  const reported = JSON.parse(failed[0] ?? '') as { readonly code: string }[]
  t.same(
    reported.map(({ code }) => code),
    [...unknown.map(() => 'other'), ...known],
  )
})

t.test('a batch contains neither the session nor the host of a call', async (t) => {
  const notes = { sessionId: 'canary-session', host: 'canary.example' }
  const text = Buffer.concat(batchBytes(batchOfCalls({ notes, cause: new Error('canary-cause') }))).toString()
  t.notMatch(text, 'canary')
})

t.test('calls that fail for the same reason share one text in the batch', async (t) => {
  const because = (path: string) => () => ({ issues: [{ path, expected: 'string' }] })
  const batch = batchOfCalls(
    {},
    { failure: 'body_invalid', reason: because('/model') },
    { failure: 'body_invalid', reason: because('/input') },
    { failure: 'body_invalid', reason: because('/model') },
    { failure: 'key_unknown', reason: () => null },
  )
  t.equal(batch.failed.length, 2)
  t.same(batch.reasons, [
    [1, 1],
    [2, 2],
    [3, 1],
  ])
})

t.test('a batch keeps a limited number of different reasons per organization', async (t) => {
  const call = (organizationId: string, n: number) => ({
    organizationId,
    failure: 'body_invalid' as const,
    reason: () => ({ issues: [{ path: `/messages/${n}`, expected: 'string' }] }),
  })
  const many = Array.from({ length: REQUESTS_REASONS_MAX + 5 }, (_, n) => call('one', n))
  const { failed, reasons } = batchOfCalls(...many, call('one', 0), call('other', 99))
  t.equal(failed.length, REQUESTS_REASONS_MAX + 1)
  t.same(reasons.slice(-2), [
    [many.length, 1],
    [many.length + 1, REQUESTS_REASONS_MAX + 1],
  ])
})

t.test('reads a batch from a version without reasons', async (t) => {
  const batch = batchOfCalls({ requestId: 'a' })
  const [line = new Uint8Array(), figures = new Uint8Array()] = batchBytes(batch)
  const { reasons, ...head } = JSON.parse(Buffer.from(line).toString()) as Record<string, unknown>
  t.same(reasons, [])
  const older = Buffer.from(`${JSON.stringify(head)}\n`)
  t.same(batchesOf(Buffer.concat([older, figures])), [{ ...batch, figures: batch.figures.slice() }])
  const damaged = Buffer.from(`${JSON.stringify({ ...head, reasons: [[1]] })}\n`)
  t.equal(batchesOf(Buffer.concat([damaged, figures])), null)
})

t.test('a batch reads back from its bytes as written; part of the bytes is not a batch', async (t) => {
  const batch = batchOfCalls(
    { requestId: 'a', organizationId: 'o', notes: { model: 'm', costUsd: 0.000000003 } },
    { requestId: 'b', organizationId: 'o', failure: 'rate_limited', status: 429, weight: 10 },
  )
  const figures = batch.figures.slice()
  const bytes = Buffer.concat(batchBytes(batch))
  t.same(batchesOf(bytes), [{ ...batch, figures }])
  t.same(batchesOf(Buffer.concat([bytes, bytes])), Array(2).fill({ ...batch, figures }))
  for (let end = 0; end < bytes.length; end += 7)
    t.equal(batchesOf(bytes.subarray(0, end)), null, `${end} bytes`)
  t.equal(batchesOf(Buffer.concat([bytes, Buffer.alloc(8)])), null)
  t.same(batchesOf(Buffer.concat([Buffer.alloc(1), bytes]).subarray(1)), [{ ...batch, figures }], 'anywhere')
  for (const head of ['{', '[]', 'null', '{"format":2}', '{"format":1,"id":"x"}'])
    t.equal(batchesOf(Buffer.from(`${head}\n`)), null, head)
})

t.test('a call has its figures, and missing figures are unknown', async (t) => {
  const limits = {
    isCreditLimited: true,
    isWorkspaceLimited: false,
    isKeyLimited: true,
    workspaceCountsByok: false,
    keyCountsByok: false,
  }
  const notes = {
    authMs: 0.5,
    holdMs: 2,
    promptTokens: 7,
    outputTokens: 9,
    costUsd: 1.5,
    isByok: true as const,
    attempts: 2,
    failedAttempts: [{ provider: 'acme', status: 503, code: 'busy' }],
    attemptTimes: [1_010, 30.04],
  }
  const { figures, names, failed } = batchOfCalls({ endedMs: 5_000, limits, notes, requestBytes: null })
  const at = (figure: keyof typeof FIGURE): number => figures[FIGURE[figure]] ?? Number.NaN
  t.equal(figures.length, FIGURES)
  t.same(
    [at('endedMs'), at('authMs'), at('holdMs'), at('inputTokens'), at('outputTokens'), at('costNano')],
    [5_000, 0.5, 2, 7, 9, 1_500_000_000],
  )
  t.same(
    [at('limitsMs'), at('cachedTokens'), at('requestBytes'), at('model')],
    [UNKNOWN, UNKNOWN, UNKNOWN, 0],
  )
  t.equal(at('flags'), FLAG.byok | FLAG.creditLimited | FLAG.keyLimited)
  t.equal(names[at('provider') - 1], 'acme', 'the last that failed, where none answered')
  t.same(JSON.parse(failed[at('failed') - 1] ?? ''), [
    { provider: 'acme', status: 503, code: 'busy', atMs: 10, durationMs: 30 },
  ])
})

t.test(
  `a batch has room for REQUESTS_GATHERED_MAX (${REQUESTS_GATHERED_MAX}) calls, also after it was emptied`,
  async (t) => {
    const gathered = new GatheredCalls()
    for (const round of [1, 2]) {
      for (let n = 0; n < REQUESTS_GATHERED_MAX; n++)
        gathered.add(settledCall({ requestId: `r${n}` }), round, 1)
      t.ok(gathered.isFull)
      const { requestIds, figures } = gathered.take()
      t.same([requestIds.length, figures[FIGURE.endedMs]], [REQUESTS_GATHERED_MAX, round])
      t.equal(gathered.count, 0)
    }
  },
)

t.test(
  `a batch is full at REQUESTS_TEXT_BYTES_MAX (${REQUESTS_TEXT_BYTES_MAX}) bytes of text, so that it always fits in one file`,
  async (t) => {
    const failed = { provider: 'acme', status: 500, code: 'a'.repeat(40) }
    for (const attempts of [0, 20]) {
      const gathered = new GatheredCalls()
      const notes = attempts === 0 ? {} : { failedAttempts: Array(attempts).fill(failed) }
      for (let n = 0; !gathered.isFull; n++)
        gathered.add(settledCall({ requestId: 'i'.repeat(128), keyHash: `${n}`.padStart(64), notes }), 1, 1)
      const bytes = batchBytes(gathered.take()).reduce((sum, { length }) => sum + length, 0)
      t.ok(bytes <= REQUESTS_FILE_BYTES_MAX, `${bytes} bytes of calls with ${attempts} failed attempts`)
      t.notOk(gathered.isFull)
    }
  },
)
