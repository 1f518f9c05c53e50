/** Members of a body that its shape does not name: known slips are refused, others are named. C25. */
import t from 'tap'
import { BODIES, type BodyForm } from '../../../../src/schemas/bodies.ts'
import { INLINE_JSON_BYTES_MAX, JSON_BODY_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { COMPARED_MAX, IGNORED_NAMES_MAX, otherMembers } from '../../../../src/schemas/other-members.ts'
import { openKeysFront } from '../../../support/keys/keys-front.ts'

const { call, make, look } = await openKeysFront(t)
const IGNORED = 'x-sluice-ignored'

interface Refusal {
  readonly error: { readonly message: string; readonly metadata: { readonly issues: readonly Issue[] } }
}
interface Issue {
  readonly path: string
  readonly message: string
  readonly expected: string
}

async function refused(method: 'POST' | 'PATCH', path: string, body: object): Promise<readonly Issue[]> {
  const answer = await call(method, path, { body })
  t.equal(answer.status, 400)
  const { error } = answer.body as unknown as Refusal
  t.equal((error.metadata as { error_type?: string }).error_type, 'body_invalid')
  return error.metadata.issues
}

t.test('a misspelt member is refused, with the name that was probably meant', async (t) => {
  const issue = { path: '/limt', message: 'is not a known member', expected: '`limit`' }
  t.same(await refused('POST', '/keys', { name: 'k', limt: 5 }), [issue])
  const { data } = await make({ limit: 7 })
  t.same(await refused('PATCH', `/keys/${data.hash}`, { limt: 5 }), [issue])
  t.equal((await look(data.hash)).limit, 7)
})

t.test('a misspelt member and a missing one are refused in one answer', async (t) => {
  const answer = await call('POST', '/keys', { body: { limt: 5, zebra: 1 } })
  t.equal(answer.status, 400)
  t.equal(answer.headers.get(IGNORED), 'limt,zebra')
  const { issues } = (answer.body as unknown as Refusal).error.metadata
  t.same(issues[0], { path: '/limt', message: 'is not a known member', expected: '`limit`' })
  t.match(issues.slice(1), [{ path: '/name', message: 'is required' }])
  const wrong = await refused('POST', '/keys', { nmae: 'k', limit: 'much', blocked: true })
  t.same(
    wrong.map(({ path }) => path),
    ['/nmae', '/blocked', '/name', '/limit'],
  )
  const large = 'z'.repeat(INLINE_JSON_BYTES_MAX)
  t.same(
    (await refused('POST', '/keys', { large, limt: 5 })).map(({ path }) => path),
    ['/limt', '/name'],
  )
})

t.test('names from other gateways are refused with the names that Sluice uses', async (t) => {
  const issues = await refused('POST', '/keys', {
    name: 'k',
    max_budget: 5,
    budget_duration: '30d',
    rpm_limit: 3,
    tpm_limit: 3,
    max_parallel_requests: 2,
    models: ['a/b'],
    duration: '30d',
    team_id: 'default',
    blocked: true,
  })
  t.same(
    issues.map(({ path, expected }) => `${path} ${expected}`),
    [
      '/max_budget `limit`',
      '/budget_duration `limit_reset`',
      '/rpm_limit `rate_limit_rpm`',
      '/tpm_limit `rate_limit_tpm`',
      '/max_parallel_requests `max_parallel`',
      '/models `allowed_models`',
      '/duration `expires_at`',
      '/team_id `workspace_id`',
      '/blocked `disabled`',
    ],
  )
  t.same(
    (await refused('PATCH', `/keys/${(await make()).data.hash}`, { key_alias: 'x', blocked: true })).map(
      ({ expected }) => expected,
    ),
    ['`name`', '`disabled`'],
  )
})

t.test('a name in another spelling, as SDKs and shells write it, is refused', async (t) => {
  const issues = await refused('POST', '/keys', {
    name: 'k',
    LIMIT: 5,
    limitReset: 'daily',
    'allowed-models': [],
    maxBudget: 5,
    rateLimitRmp: 3,
  })
  t.same(
    issues.map(({ path, expected }) => `${path} ${expected}`),
    [
      '/LIMIT `limit`',
      '/limitReset `limit_reset`',
      '/allowed-models `allowed_models`',
      '/maxBudget `limit`',
      '/rateLimitRmp `rate_limit_rpm`',
    ],
  )
})

t.test('the answer about a key can be sent back as an update', async (t) => {
  const { data } = await make({ limit: 7 })
  const answer = await call('PATCH', `/keys/${data.hash}`, { body: { ...data, name: 'renamed' } })
  t.equal(answer.status, 200)
  t.match(answer.headers.get(IGNORED), /(^|,)created_at(,|$)/)
  t.notMatch(answer.headers.get(IGNORED), /(^|,)(?:name|limit)(,|$)/)
  t.equal((await look(data.hash)).name, 'renamed')
})

t.test('lists ignored names in a header, at any depth, with unsafe characters replaced', async (t) => {
  const body = { name: 'k', zebra: 1, 'a,b\r\nc': 2, external: { user: 'u', colour: 'red' } }
  const answer = await call('POST', '/keys', { body })
  t.equal(answer.status, 201)
  t.equal(answer.headers.get(IGNORED), 'zebra,a_b__c,external.colour')
  t.equal((await call('POST', '/keys', { body: { name: 'k' } })).headers.get(IGNORED), null)
})

t.test('a refusal for another reason lists ignored names too', async (t) => {
  const answer = await call('POST', '/keys', { body: { name: 'k', zebra: 1, workspace_id: 'nowhere' } })
  t.equal(answer.status, 404)
  t.equal(answer.headers.get(IGNORED), 'zebra')
})

t.test('lists only the first of many ignored names, and truncates a long one', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`zebra${nth}`, nth]))
  const answer = await call('POST', '/keys', { body: { name: 'k', ...many } })
  t.equal(answer.headers.get(IGNORED)?.split(',').length, IGNORED_NAMES_MAX)
  const long = await call('POST', '/keys', { body: { name: 'k', ['z'.repeat(10_000)]: 1 } })
  t.match(long.headers.get(IGNORED), /^z{64}$/)
})

t.test('a misspelt member after many unknown names is refused, too', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 100 }, (_, nth) => [`zebra${nth}`, nth]))
  t.same(
    (await refused('POST', '/keys', { name: 'k', ...many, limt: 5 })).map(({ path }) => path),
    ['/limt'],
  )
})

t.test('a body that is read in a thread is checked in the same way', async (t) => {
  t.ok(JSON_BODY_BYTES_MAX > INLINE_JSON_BYTES_MAX)
  const large = 'z'.repeat(INLINE_JSON_BYTES_MAX)
  const answer = await call('POST', '/keys', { body: { name: 'k', large, zebra: { limt: 1 } } })
  t.equal(answer.status, 201)
  t.equal(answer.headers.get(IGNORED), 'large,zebra')
  t.same(
    (await refused('POST', '/keys', { name: 'k', large, limt: 5 })).map(({ path }) => path),
    ['/limt'],
  )
})

t.test('warns about allowed_models entries that match nothing, on creation and on change', async (t) => {
  const allowed_models = ['sluice/lexical-1', 'sluice/*', 'Nobody/nothing', 'nowhere/*']
  const made = await call('POST', '/keys', { body: { name: 'k', allowed_models } })
  t.equal(made.status, 201)
  t.match(
    made.headers.get('x-sluice-remark'),
    / matches Nobody\/nothing, nowhere\/\* \(models of private endpoints are not checked\)$/,
  )
  const { hash } = (await make()).data
  const changed = await call('PATCH', `/keys/${hash}`, {
    body: { allowed_models: allowed_models.slice(0, 2) },
  })
  t.equal(changed.headers.get('x-sluice-remark'), null)
})

t.test('a misspelt member gets the right suggestion, for every body', (t) => {
  for (const [form, { schema, isDigested, keepsOthers }] of Object.entries<BodyForm>(BODIES)) {
    const { properties = {}, additionalProperties } = schema as {
      readonly properties?: object
      readonly additionalProperties?: unknown
    }
    if (isDigested === true || keepsOthers === true || additionalProperties !== undefined) continue
    for (const name of Object.keys(properties).filter(({ length }) => length > 4)) {
      const [slip] = otherMembers(schema, { [`${name.slice(0, 2)}${name.slice(3)}`]: 1 })
      t.not(slip?.meant ?? null, null, `${form}: ${name}`)
    }
  }
  t.end()
})

t.test('compares at most COMPARED_MAX members with the known names', async (t) => {
  const many = Object.fromEntries(Array.from({ length: COMPARED_MAX }, (_, n) => [`q${n}`, 1]))
  const found = otherMembers(BODIES.create_key.schema, { name: 'k', ...many, limt: 5 })
  t.ok(found.every(({ meant }) => meant === null))
  const [first] = otherMembers(BODIES.create_key.schema, { name: 'k', limt: 5, ...many })
  t.equal(first?.meant, 'limit')
})
