import t from 'tap'
import { newApiKey } from '../../../../src/schemas/keys/api-keys.ts'
import {
  ADMIN_KEY_CHECK_MS_MAX,
  ADMIN_KEY_MS_MAX,
  ADMIN_KEYS_MAX,
} from '../../../../src/schemas/operator/admin-port-limits.ts'
import { OperatorKeys } from '../../../../src/server/supervisor/admin-port/operator-keys.ts'
import type { SmallAnswer } from '../../../../src/server/supervisor/admin-port/public-port.ts'

const bearer = (): string => `Bearer ${newApiKey('management').key}`
const answerOf = (status: number): SmallAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(`{"status":${status}}`),
})

/** Keys whose front gives the answer of the test. */
function keysWith(answer: () => Promise<SmallAnswer | null>) {
  const asked: { readonly path: string; readonly headers: readonly string[]; readonly msMax: number }[] = []
  let nowMs = 0
  const port = {
    read(path: string, headers: readonly string[], msMax: number) {
      asked.push({ path, headers, msMax })
      return answer()
    },
  }
  return { keys: new OperatorKeys(port, () => nowMs), asked, pass: (ms: number) => void (nowMs += ms) }
}

t.test('checks an operator key once, until the result is too old', async (t) => {
  const { keys, asked, pass } = keysWith(() => Promise.resolve(answerOf(200)))
  const key = bearer()
  t.same(await keys.check(key), { kind: 'operator' })
  pass(ADMIN_KEY_MS_MAX)
  t.same(await keys.check(key), { kind: 'operator' })
  t.same(asked, [
    { path: '/api/v1/admin/session', headers: ['authorization', key], msMax: ADMIN_KEY_CHECK_MS_MAX },
  ])
  pass(1)
  await keys.check(key)
  t.equal(asked.length, 2)
  await keys.check(key, -1)
  t.equal(asked.length, 3)
})

for (const status of [401, 403]) {
  t.test(`a refusal with ${status} is passed on, and never remembered`, async (t) => {
    const { keys, asked } = keysWith(() => Promise.resolve(answerOf(status)))
    const key = bearer()
    t.match(await keys.check(key), {
      kind: 'refused',
      answer: { status, body: Buffer.from(`{"status":${status}}`) },
    })
    await keys.check(key)
    t.equal(asked.length, 2)
  })
}

t.test('a cached key that is refused is removed from the cache', async (t) => {
  let status = 200
  const { keys } = keysWith(() => Promise.resolve(answerOf(status)))
  const key = bearer()
  await keys.check(key)
  status = 401
  t.match(await keys.check(key, -1), { kind: 'refused' })
  t.match(await keys.check(key), { kind: 'refused' })
})

for (const header of [undefined, '', 'Bearer', 'Basic abc', `Bearer ${'a'.repeat(300)}`, 'Bearer a b']) {
  t.test(`'${String(header).slice(0, 20)}' is no credential`, async (t) => {
    const { keys, asked } = keysWith(() => Promise.resolve(answerOf(200)))
    t.match(await keys.check(header), {
      kind: 'refused',
      answer: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
    })
    t.same(asked, [])
  })
}

t.test('a refusal by the admin port itself also has the request id where clients look for it', async (t) => {
  const { keys } = keysWith(() => Promise.resolve(answerOf(200)))
  const check = await keys.check(undefined)
  if (check.kind === 'operator') throw new Error('it was no refusal')
  const { body, headers } = check.answer
  t.match(headers, { 'x-request-id': /^[\w-]{36}$/ })
  t.match(JSON.parse(String(body)), { error: { metadata: { request_id: headers['x-request-id'] } } })
})

t.test('does not ask a front about text that cannot be a key', async (t) => {
  const { keys, asked } = keysWith(() => Promise.resolve(answerOf(200)))
  t.match(await keys.check('Bearer sk-sluice-mgmt-v1-short'), {
    kind: 'refused',
    answer: { status: 401, headers: { 'www-authenticate': 'Bearer' } },
  })
  t.same(asked, [])
})

t.test('decides nothing while no front answers, or none can check the key', async (t) => {
  t.match(await keysWith(() => Promise.resolve(null)).keys.check(bearer()), {
    kind: 'undecided',
    answer: { status: 503 },
  })
  t.match(await keysWith(() => Promise.resolve(answerOf(503))).keys.check(bearer()), {
    kind: 'undecided',
    answer: { status: 503 },
  })
})

t.test('concurrent checks of one key share one request, and keys checked at once are limited', async (t) => {
  let answer: (answer: SmallAnswer) => void = () => undefined
  const answered = new Promise<SmallAnswer>((resolve) => {
    answer = resolve
  })
  const { keys, asked } = keysWith(() => answered)
  const all = Array.from({ length: ADMIN_KEYS_MAX }, bearer)
  const looks = [...all, ...all].map((key) => keys.check(key))
  t.match(await keys.check(bearer()), { kind: 'undecided', answer: { status: 503 } })
  answer(answerOf(200))
  t.ok((await Promise.all(looks)).every(({ kind }) => kind === 'operator'))
  t.equal(asked.length, ADMIN_KEYS_MAX)
})

t.test('the oldest key is checked again when more keys are used than fit in the cache', async (t) => {
  const { keys, asked } = keysWith(() => Promise.resolve(answerOf(200)))
  const all = Array.from({ length: ADMIN_KEYS_MAX + 1 }, bearer)
  for (const key of all) await keys.check(key)
  await keys.check(all[1])
  t.equal(asked.length, all.length)
  await keys.check(all[0])
  t.equal(asked.length, all.length + 1)
})
