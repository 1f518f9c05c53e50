/** Why a call failed, as the request log keeps it: without content and words of callers. */
import t from 'tap'
import Type from 'typebox'
import type { Failure } from '../../../src/schemas/failures.ts'
import { costUnbounded, moneyRefused } from '../../../src/schemas/money/money-refusals.ts'
import {
  FAILURE_REASON_CHARS_MAX,
  REASON_EXPECTED_CHARS_MAX,
  reasonOf,
  reasonText,
} from '../../../src/schemas/requests/failure-reason.ts'
import { SchemaNames } from '../../../src/schemas/requests/schema-names.ts'

const Part = Type.Object({ text: Type.String() })
const Content = Type.Union([Type.String(), Type.Array(Part)])
const Body = Type.Object({
  model: Type.String(),
  messages: Type.Array(Type.Object({ role: Type.String(), content: Content })),
  metadata: Type.Record(Type.String(), Type.Object({ label: Type.String() })),
})
const NAMES = new SchemaNames([Body], ['idempotency-key'])

const issuesOf = (...paths: readonly string[]): Failure => ({
  name: 'body_invalid',
  metadata: { issues: paths.map((path) => ({ path, message: 'is wrong', expected: 'string' })) },
})

t.test('a pointer keeps names that a schema has and positions in lists; any other name becomes *', (t) => {
  for (const [path, masked] of [
    ['', ''],
    ['/model', '/model'],
    ['/messages/12/content', '/messages/12/content'],
    ['/messages/0/content/3/text', '/messages/0/content/3/text'],
    ['/messages/0/canary', '/messages/0/*'],
    ['/metadata/canary/label', '/metadata/*/label'],
    ['/metadata/4111', '/metadata/*'],
    ['/model/0', '/model/*'],
    ['/canary~1of~0words', '/*'],
    ['/messages/01234567', '/messages/*'],
    ['/idempotency-key', '/idempotency-key'],
  ] as const)
    t.same(reasonOf(issuesOf(path), NAMES)?.issues, [{ path: masked, expected: 'string' }], path)
  t.end()
})

t.test('an expected value that contains the word of the caller is left out', (t) => {
  const expectedAt = (path: string, expected: string) =>
    reasonOf({ name: 'body_invalid', metadata: { issues: [{ path, message: '', expected }] } }, NAMES)
      ?.issues?.[0]?.expected
  t.equal(expectedAt('/canary', 'no `canary`'), null)
  t.equal(expectedAt('/canarybird', 'not "a-canarybird-or-so"'), null)
  t.equal(expectedAt('/a', 'an array'), 'an array', 'a short word is a word alone')
  t.equal(expectedAt('/a', 'no `a`'), null)
  t.equal(expectedAt(`/${'canary'.repeat(11)}…`, `no ${'canary'.repeat(30)}`), null, 'a word that was cut')
  t.equal(expectedAt('/model', `one of ${'x'.repeat(999)}`)?.length, REASON_EXPECTED_CHARS_MAX + 1)
  t.end()
})

t.test('a reason has a maximum length', (t) => {
  const paths = Array.from({ length: 200 }, (_, n) => `/messages/${n}/content`)
  const reason = reasonOf(issuesOf(...paths), NAMES)
  t.ok(JSON.stringify(reason).length <= FAILURE_REASON_CHARS_MAX)
  t.ok((reason?.issues?.length ?? 0) > 10)
  t.equal(reasonOf(issuesOf(`/${'messages/0/'.repeat(200)}`), NAMES), null, 'nothing that fits')
  t.end()
})

t.test('a refusal for lack of money is kept with its message and its amounts', (t) => {
  const limit = { span: 'lifetime', limitNano: 9e9, spentNano: 8e9, restNano: 1e9, resetsAtMs: null } as const
  const refused = moneyRefused([{ kind: 'key', limit, boundNano: 2e9 }])
  const reason = refused.ok ? null : reasonOf(refused.failure, NAMES)
  t.same(reason, {
    message:
      "The key's spending limit does not cover this call. 8 of 9 USD is used, and this call may cost up to 2 USD. " +
      "Make a smaller request, or raise the key's limit.",
    facts: {
      ...{ limit_source: 'key_limit', scope: 'key', interval: 'lifetime' },
      ...{ limit: 9, spend: 8, max_cost: 2 },
    },
  })
  t.end()
})

t.test('a refusal for an unknown maximum cost is kept with its remedy', (t) => {
  const reason = (cause: Parameters<typeof costUnbounded>[1]) => {
    const refused = costUnbounded(['key'], cause)
    return refused.ok ? null : reasonOf(refused.failure, NAMES)
  }
  const facts = { limit_source: 'key_limit', scope: 'key' }
  t.same(reason({}), {
    message:
      'The maximum cost of this call is unknown, and the key has a spending limit. ' +
      'Send `max_tokens`, or set `default_max_output_tokens` on the key.',
    facts,
  })
  t.match(reason({ unpriced: 'acme/m' })?.message, /has no price for acme\/m: the operator can set `pricing`/)
  const unbounded = { path: '/metadata/canary', message: 'is canary', expected: 'number' }
  t.same(reason({ unbounded }), { facts, issues: [{ path: '/metadata/*', expected: 'number' }] })
  t.end()
})

t.test('words of a caller or a provider are not kept, but the way in which a connection failed is', (t) => {
  const cause = new Error('canary')
  const refused: Failure = {
    name: 'upstream_refused',
    fields: { status: 400, refusal: 'moderation', secret: 'canary', what: 'canary', party: 'canary' },
    detail: 'The provider answered 400: canary',
    metadata: { provider_code: 'canary', provider_param: 'canary', provider_name: 'canary' },
    param: 'canary',
    data: 'canary',
    cause,
  }
  t.same(reasonOf(refused, NAMES), { facts: { status: 400, refusal: 'moderation' } })
  t.same(reasonOf({ name: 'upstream_failed', detail: 'The answer broke off: canary', cause }, NAMES), null)
  const connection: Failure = {
    name: 'upstream_failed',
    fields: { connection: 'refused', party: 'provider Acme' },
    detail: 'The server refused the connection.',
    cause,
  }
  t.same(reasonOf(connection, NAMES), {
    message: 'The provider Acme failed. The server refused the connection.',
    facts: { connection: 'refused' },
  })
  t.equal(reasonOf({ name: 'model_unknown', detail: 'canary', askedModel: 'canary' }, NAMES), null)
  t.end()
})

t.test('the line for a reason is its message, or else its inputs', (t) => {
  const issues = [
    { path: '/model', expected: 'string' },
    { path: '', expected: 'object' },
    { path: '/*', expected: null },
  ]
  t.equal(reasonText({ message: 'words', issues }), 'words')
  t.equal(reasonText({ message: null, issues }), '/model: expected string; the whole: expected object; /*')
  t.equal(reasonText({ message: null, issues: [] }), '')
  t.end()
})
