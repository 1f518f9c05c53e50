import fc from 'fast-check'
import t from 'tap'
import Type from 'typebox'
import { Check } from 'typebox/value'
import { EmbeddingsBody } from '../../src/schemas/embeddings/embeddings.ts'
import { ChatBody } from '../../src/schemas/inference/chat.ts'
import { ASKED_MAX } from '../../src/schemas/inference/inference-limits.ts'
import { expectedBy, issuesOf } from '../../src/schemas/issues.ts'
import { textOf } from '../../src/schemas/failures.ts'
import { ISSUES_MAX } from '../../src/schemas/limits/limits.ts'

const issues = (value: unknown) => issuesOf(EmbeddingsBody, value)

t.test('lists every allowed form when an input matches none', async (t) => {
  t.same(issues({ model: 'm', input: 5 }), [
    {
      path: '/input',
      message: 'is number',
      expected:
        'string, not empty; array of strings, not empty; array of integers from 0 to 2147483647; ' +
        'array of arrays of integers from 0 to 2147483647; or array of objects',
    },
  ])
})

t.test('a value of a type that no branch of a union accepts is reported by its type', async (t) => {
  const textFor = (body: object) =>
    textOf({
      name: 'body_invalid',
      metadata: {
        issues: issuesOf(ChatBody, { model: 'm', messages: [{ role: 'user', content: 'x' }], ...body }),
      },
    })
  t.equal(
    textFor({ max_tokens: '12' }),
    `The body is not valid: /max_tokens is string, expected integer from 1 to ${ASKED_MAX} or null.`,
  )
  t.match(textFor({ temperature: 'hot' }), /\/temperature is string, expected number.* or null/)
  t.match(textFor({ max_tokens: 0 }), /\/max_tokens is too small, expected integer from 1/)
})

t.test('a union of values and null names the values', async (t) => {
  const shape = Type.Union([Type.Literal('low'), Type.Literal('high'), Type.Null()])
  t.same(issuesOf(shape, 'medium'), [
    { path: '', message: 'is not one of the allowed values', expected: 'one of "low", "high"; or null' },
  ])
  t.match(issuesOf(shape, 5), [{ message: 'is number' }])
  const open = Type.Union([Type.String({ pattern: '^a' }), Type.String({ pattern: '^b' })])
  t.match(issuesOf(open, 'c'), [{ message: 'matches none of the allowed forms' }])
})

t.test('reports the path of a fault inside the intended form', async (t) => {
  t.match(issues({ model: 'm', input: [1, 2, 'three'] }), [{ path: '/input/2', message: 'is string' }])
  t.match(issues({ model: 'm', input: [[1], [2.5]] }), [
    { path: '/input/1/0', message: 'is not a whole number' },
  ])
  t.match(issues({ model: 'm', input: [{ content: [{ type: 'image_url', image_url: {} }] }] }), [
    { path: '/input/0/content/0/image_url/url', message: 'is required' },
  ])
})

t.test('lists the known types when the type of a part is unknown', async (t) => {
  const expected = 'one of "text", "image_url", "input_audio", "input_video", "input_file"'
  t.same(issues({ model: 'm', input: [{ content: [{ type: 'image' }] }] }), [
    { path: '/input/0/content/0/type', message: 'is not one of the allowed values', expected },
  ])
  t.same(issues({ model: 'm', input: [{ content: [{ text: 'x' }] }] }), [
    { path: '/input/0/content/0/type', message: 'is required', expected },
  ])
})

for (const [member, request] of [
  ['max_price/promt', { max_price: { promt: 1 } }],
  ['sort/bye', { sort: { bye: 'price' } }],
  ['preferred_max_latency/p42', { preferred_max_latency: { p42: 1 } }],
  ['preferred_min_throughput/p42', { preferred_min_throughput: { p42: 1 } }],
] as const) {
  t.test(`refuses a misspelled preference: ${member}`, async (t) => {
    const body = { model: 'm', input: 'x', provider: request }
    t.notOk(Check(EmbeddingsBody, body))
    t.match(issues(body), [{ path: `/provider/${member}`, message: 'is not a known member' }])
  })
}

t.test('an invalid price is reported with both allowed forms', async (t) => {
  for (const prompt of ['cheap', -1, true]) {
    t.match(issues({ model: 'm', input: 'x', provider: { max_price: { prompt } } }), [
      { path: '/provider/max_price/prompt', expected: /^a number of at least 0, or a decimal string/ },
    ])
  }
})

t.test('the message of a failure has its first issue, and the number of further issues', async (t) => {
  const textFor = (body: unknown) => textOf({ name: 'body_invalid', metadata: { issues: issues(body) } })
  t.equal(
    textFor({ model: 'm', input: 'x', dimensions: 0, user: 1 }),
    'The body is not valid: /dimensions is too small, expected integer of at least 1 (and 1 more).',
  )
  t.equal(textFor([]), 'The body is not valid: it is array, expected object.')
})

t.test('a JSON number outside the range of numbers is too large or too small', async (t) => {
  const shape = Type.Object({ up: Type.Number({ minimum: 0 }), down: Type.Number({ maximum: 0 }) })
  t.match(issuesOf(shape, JSON.parse('{"up":1e999,"down":-1e999}')), [
    { path: '/up', message: 'is too large' },
    { path: '/down', message: 'is too small' },
  ])
})

t.test('lengths, bounds, patterns and closed sets have their own wording', async (t) => {
  const shape = Type.Object(
    {
      long: Type.String({ maxLength: 2 }),
      slug: Type.String({ pattern: '^[a-z]+$' }),
      id: Type.String({ format: 'uuid' }),
      some: Type.Array(Type.Number({ maximum: 5 }), { minItems: 1, maxItems: 2 }),
      kind: Type.Enum(['a', 'b']),
      yes: Type.Boolean(),
    },
    { additionalProperties: false },
  )
  const found = issuesOf(shape, {
    long: 'abc',
    slug: 'A',
    id: 'x',
    some: [9],
    kind: 'c',
    yes: null,
    'a/b~c': 1,
  })
  t.same(
    found.map(({ path, message, expected }) => `${path} ${message}: ${expected}`),
    [
      '/long is too long: string of 0 to 2 characters',
      '/slug has the wrong form: string matching ^[a-z]+$',
      '/id has the wrong form: string (uuid)',
      '/some/0 is too large: number of at most 5',
      '/kind is not one of the allowed values: one of "a", "b"',
      '/yes is null: boolean',
      '/a~1b~0c is not a known member: long, slug, id, some, kind, yes',
    ],
  )
  t.match(issuesOf(shape, { some: [1, 2, 3] }).at(-1), {
    message: 'has too many elements',
    expected: '1 to 2 elements',
  })
  const ends = [
    Type.Array(Type.Number(), { minItems: 2 }),
    Type.Array(Type.Number(), { maxItems: 0 }),
    Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }),
  ]
  t.same(
    ends.map((ended) => issuesOf(ended, [1])[0]?.expected),
    ['at least 2 elements', 'at most 0 elements', '2 elements'],
  )
})

t.test('there are never more issues than the bound, however much is wrong', async (t) => {
  t.equal(
    issues({ model: 'm', input: [[1], ...Array.from({ length: 1_000 }, () => ['x'])] }).length,
    ISSUES_MAX,
  )
})

t.test('every refused value has an issue, and no issue contains the value', async () => {
  const near = fc.record(
    {
      model: fc.oneof(fc.constant('canary'), fc.anything()),
      input: fc.oneof(
        fc.constant('canary'),
        fc.array(fc.constant('canary')),
        fc.array(fc.array(fc.double())),
        fc.anything(),
      ),
      dimensions: fc.oneof(fc.nat(), fc.anything()),
      encoding_format: fc.constantFrom('float', 'canary', null),
      provider: fc.oneof(
        fc.constant(null),
        fc.record({ sort: fc.constantFrom('price', 'canary'), max_price: fc.object() }),
      ),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(near, fc.jsonValue()), (value) => {
      if (Check(EmbeddingsBody, value)) return true
      const found = issues(value)
      return (
        found.length >= 1 &&
        found.length <= ISSUES_MAX &&
        !/canary/.test(JSON.stringify(found.map(({ message, expected }) => [message, expected])))
      )
    }),
    { numRuns: 500 },
  )
})

t.test('shapes are described in words', async (t) => {
  t.equal(expectedBy(Type.Union([Type.String(), Type.Null()])), 'string or null')
  t.equal(expectedBy(Type.Array(Type.Array(Type.Boolean()))), 'array of arrays of booleans')
})

t.test('reports too many members at their object, and an invalid name by that name', async (t) => {
  const shape = Type.Object(
    {},
    {
      additionalProperties: Type.String(),
      maxProperties: 2,
      propertyNames: Type.String({ pattern: '^[a-z]+$', title: 'small letters' }),
    },
  )
  t.same(issuesOf(shape, { a: '', b: '', c: '' }), [
    { path: '', message: 'has too many members', expected: 'at most 2 members' },
  ])
  t.same(issuesOf(shape, { A: '' }), [
    { path: '/A', message: 'has a name that is not allowed', expected: 'name: small letters' },
  ])
})

t.test(
  'recognizes the kind of an object by a `type` that is optional, one of several words, or matches a pattern',
  async (t) => {
    const kinds = Type.Union([
      Type.Object({ type: Type.Optional(Type.Literal('plain')), text: Type.String() }),
      Type.Object({ type: Type.Enum(['a', 'b']), size: Type.Integer() }),
      Type.Object({ type: Type.String({ pattern: '^x:', title: 'x:*' }), rest: Type.Boolean() }),
      Type.Null(),
    ])
    const pathOf = (value: unknown): readonly string[] => issuesOf(kinds, value).map(({ path }) => path)
    t.same(
      [pathOf({ text: 5 }), pathOf({ type: 'b', size: 'x' }), pathOf({ type: 'x:y', rest: 5 })],
      [['/text'], ['/size'], ['/rest']],
    )
    t.same(issuesOf(kinds, { type: 'c' }), [
      {
        path: '/type',
        message: 'is not one of the allowed values',
        expected: 'one of "plain", "a", "b"; x:*',
      },
    ])
  },
)

t.test('reports the faulty element if only one of the forms is a list', async (t) => {
  t.match(issuesOf(Type.Union([Type.String(), Type.Array(Type.Integer())]), ['x', 1]), [
    { path: '/0', message: 'is string' },
  ])
})
