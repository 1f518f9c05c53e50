import t, { type Test } from 'tap'
import { insertRequests } from '../../../../src/server/store/requests/request-rows.ts'
import { insertKey } from '../../../../src/server/store/keys/api-keys.ts'
import { followed, LOGS_LATE_MS, LOGS_LOOK_MS } from '../../../../src/server/cli/requests/logs.ts'
import type { LoggedRequest } from '../../../../src/server/ports/requests/request-log.ts'
import { openInstallation } from '../../../support/operator/installation.ts'
import { batchOfCalls, KEY_HASH } from '../../../support/requests/settled-call.ts'

t.setTimeout(600_000)

async function stand(t: Test) {
  const { store, organizationId, workspaceId, run } = await openInstallation(t)
  const { apiKey } = await store.sql.begin((tx) =>
    insertKey(tx, {
      ...{ kind: 'inference', name: 'shop search', organizationId, workspaceId },
      ...{ rateLimitRpm: null, expiresAt: null },
    }),
  )
  const endedMs = Date.parse('2026-03-18T12:00:00Z')
  await insertRequests(
    store,
    batchOfCalls(
      {
        organizationId,
        endedMs,
        requestId: 'r0',
        keyHash: KEY_HASH,
        notes: { model: 'a/one', provider: 'acme', costUsd: 0.5 },
      },
      {
        organizationId,
        endedMs: endedMs + 1,
        requestId: 'r1',
        keyHash: apiKey.hash,
        status: 402,
        failure: 'key_limit_exceeded',
        limit: 'key daily',
        reason: () => ({ message: "The key's spending limit does not cover this call. \u001b[2J" }),
        weight: 10,
        notes: { model: 'own/\u001b[2J' },
      },
      ...UNEXPLAINED.map((call, nth) => ({ requestId: `u${nth}`, ...call })),
      { requestId: 'r2', status: 401, failure: 'key_unknown' },
    ),
  )
  return (...args: readonly string[]) => run('logs', ...args)
}

/** Calls that failed without a recorded message, and belong to no organization. */
const UNEXPLAINED = [
  { status: 502, failure: 'upstream_failed', reason: () => ({ facts: { status: 503 } }) },
  { status: 413, failure: 'upstream_too_large', reason: () => ({ facts: { limit: 512 } }) },
  { status: 401, failure: 'credentials_missing' },
  {
    status: 400,
    failure: 'body_invalid',
    reason: () => ({ issues: [{ path: '/messages', expected: 'array' }] }),
  },
  {
    status: 429,
    failure: 'rate_limited',
    reason: () => ({
      facts: { holder: 'key', limit: 60, limit_source: 'key_rate_limit', limit_kind: 'requests' },
    }),
  },
  {
    status: 403,
    failure: 'cost_unbounded',
    reason: () => ({ message: 'A cure.', facts: { limit_source: 'key_limit', scope: 'key' } }),
  },
  {
    status: 403,
    failure: 'cost_unbounded',
    reason: () => ({ issues: [{ path: '/tools', expected: 'none' }], facts: { scope: 'key' } }),
  },
  { status: 404, failure: 'model_unknown', reason: () => ({ facts: { nearest: 'a/one' } }) },
  {
    status: 404,
    failure: 'endpoint_unconfigured',
    reason: () => ({ message: 'Unset.', facts: { variables: 'A_KEY for a' } }),
  },
] as const

t.test('logs shows the reason and remedy of each failed call, recorded or not', async (t) => {
  const { stdout } = await (await stand(t))('--unauthenticated')
  t.match(stdout, / r2 +Invalid API key\. Fix: Check whether a key still in use was deleted/)
  t.match(stdout, / u0 +The provider failed \(status 503\)\. Fix: Check whether the provider has an outage/)
  t.match(
    stdout,
    / u1 +The provider returned more than 512 bytes\. Fix: Split the request into smaller ones\.$/m,
  )
  t.match(stdout, / u2 +credentials_missing\. Fix: Give the clients a key\.$/m)
  t.match(stdout, / u3 +The body is not valid: \/messages: expected array$/m, 'what was expected is the cure')
  t.match(
    stdout,
    / u4 +The key is over its limit of 60 requests per minute \(limit_source key_rate_limit\)\. Fix: /,
  )
  t.match(stdout, / u5 +A cure\.$/m, 'the message names its cure')
  t.match(stdout, / u6 +The maximum .* and the key has a spending limit: \/tools: expected none$/m)
  t.match(stdout, / u7 +There is no such model \(nearest a\/one\)\. Fix: Look up the model names/)
  t.match(stdout, / u8 +Unset\. Fix: Set A_KEY for a\.$/m)
})

t.test('logs explains why it refuses an invalid filter', async (t) => {
  const run = await stand(t)
  t.match(await run('--status', 'bad'), { code: 2, stderr: /--status.* Expected a status such as 429/ })
  t.match(await run('--key', 'xyz'), { code: 1, stderr: /--key takes the hash of a key/ })
  t.match(await run('--min-cost', 'much'), { code: 2, stderr: /--min-cost.* Expected a number/ })
  t.match(await run('--from', 'yesterday'), { code: 2, stderr: /Expected a time/ })
  t.match(await run('--workspace', 'nope'), { code: 1, stderr: /workspace/i })
})

t.test('logs shows calls, newest first, and no characters that move the cursor of a terminal', async (t) => {
  const run = await stand(t)
  const { code, stdout } = await run()
  t.equal(code, 0)
  const [heads, newest, older] = stdout.split('\n')
  t.match(heads, /^ENDED +STATUS +OPERATION /)
  t.match(
    newest,
    /^2026-03-18T12:00:00\.001Z +402 +embeddings\.create ×10 .*key_limit_exceeded \(key daily\) +r1 +The key's spending limit does not cover this call\./,
  )
  t.match(newest, ' shop search ', 'a key is shown by its name')
  t.match(older, / 200 .*abababababab +a\/one .* 0\.5 +- +r0$/)
  t.notMatch(stdout, '\u001b')
})

t.test('logs accepts the filters of the API, and writes JSON, lines and tables', async (t) => {
  const run = await stand(t)
  const ids = async (...args: readonly string[]): Promise<readonly string[]> =>
    (JSON.parse((await run(...args, '--json')).stdout) as { data: { request_id: string }[] }).data.map(
      ({ request_id }) => request_id,
    )
  t.same(await ids(), ['r1', 'r0'])
  t.same(await ids('--limit', '1'), ['r1'])
  t.same(await ids('--failed'), ['r1'])
  t.same(await ids('--left'), [])
  t.same(await ids('--key', KEY_HASH.slice(0, 8)), ['r0'])
  t.same(await ids('--status', '4xx', '--error', 'key_limit_exceeded'), ['r1'])
  t.same(await ids('--min-cost', '0.5'), ['r0'])
  t.same(await ids('--min-duration', '12'), ['r1', 'r0'])
  t.same(await ids('--min-duration', '13'), [])
  t.same(await ids('--request-id', 'r0'), ['r0'])
  t.same(await ids('--operation', 'embeddings.create'), ['r1', 'r0'])
  t.same(await ids('--operation', 'chat.create'), [])
  t.same(await ids('--model', 'a/one'), ['r0'])
  t.same(await ids('--provider', 'acme'), ['r0'])
  t.same(await ids('--to', '2026-03-18T12:00:00.001Z'), ['r0'])
  t.same(await ids('--from', '2026-03-18T12:00:00.001Z'), ['r1'])
  t.same(await ids('--unauthenticated'), ['r2', 'u8', 'u7', 'u6', 'u5', 'u4', 'u3', 'u2', 'u1', 'u0'])
  t.match((await run('--format', 'csv')).stdout, /^id,request_id,.*\n.*,r1,/)
  t.equal((await run('--format', 'ndjson')).stdout.trimEnd().split('\n').length, 2)
})

const row = (n: number): LoggedRequest => ({ batch: '1', n, requestId: `r${n}` }) as LoggedRequest

t.test('shows each row once, oldest first, including rows that arrive late', async (t) => {
  const looks = [[], [row(2), row(1)], [row(3), row(2), row(0), row(1)], [row(3), row(2), row(0), row(1)]]
  const froms: string[] = []
  let [nowMs, looked] = [100_000, 0]
  const rows: string[][] = []
  for await (const some of followed({
    find: async (from) => {
      froms.push(from)
      return looks[looked++] ?? []
    },
    pause: async (ms) => {
      t.equal(ms, LOGS_LOOK_MS)
      nowMs += 2 * LOGS_LATE_MS
      return looked < looks.length
    },
    now: () => nowMs,
  }))
    rows.push(some.map(({ requestId }) => requestId))
  t.same(rows, [
    ['r1', 'r2'],
    ['r0', 'r3'],
  ])
  const instants = [100_000, 100_000, 100_000 + LOGS_LATE_MS]
  t.same(
    froms.slice(0, 3),
    instants.map((ms) => new Date(ms).toISOString()),
  )
})
