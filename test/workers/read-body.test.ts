import t from 'tap'
import fc from 'fast-check'
import { textOf } from '../../src/schemas/failures.ts'
import { INLINE_JSON_BYTES_MAX, JSON_DEPTH_MAX } from '../../src/schemas/limits/limits.ts'
import { readBody } from '../../src/workers/read-body.ts'

const bytesOf = (body: string | Uint8Array): Uint8Array =>
  typeof body === 'string' ? Buffer.from(body) : body
/** As a front does. */
const read = (body: string | Uint8Array) => {
  const bytes = bytesOf(body)
  return readBody({ body: 'embeddings', bytes, isOnLoop: bytes.length <= INLINE_JSON_BYTES_MAX })
}
const detailOf = (body: string | Uint8Array): string | undefined => {
  const verdict = read(body)
  return verdict.ok ? 'accepted' : (verdict.failure.detail ?? verdict.failure.name)
}
const messageOf = (body: string | Uint8Array): string | undefined => {
  const verdict = read(body)
  return verdict.ok ? 'accepted' : textOf(verdict.failure)
}
const nested = (levels: number): string =>
  `{"model":"m","input":"x","extra":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
const large = (input: unknown, more: Record<string, unknown> = {}) => ({
  pad: 'p'.repeat(INLINE_JSON_BYTES_MAX),
  model: 'm',
  input,
  ...more,
})

t.test('a small body is returned complete', async (t) => {
  t.same(read('{"model":"m","input":["a","é"]}'), {
    ok: true,
    value: { model: 'm', input: ['a', 'é'] },
    bulk: null,
  })
})

t.test('a text that is not strict JSON is malformed, with a reason that omits the text', async (t) => {
  t.match(messageOf(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])), /is not UTF-8/)
  t.equal(detailOf('{"model":"m","input":"\\ud83d"}'), 'A string contains a lone surrogate.')
  t.equal(detailOf('{"model":"m","input":"x","\\udc00":1}'), 'A string contains a lone surrogate.')
  t.equal(detailOf('{"model":"m","input":"x","n":1e999}'), 'A number is out of range.')
  for (const text of [
    '{"model":secret}',
    '{"a":1,}',
    "{'a':1}",
    '[1 2]',
    '{"a":NaN}',
    '// c\n{}',
    '{"a":01}',
  ]) {
    t.notMatch(JSON.stringify(read(text)), /secret/)
    t.match(read(text), { ok: false, failure: { name: 'body_malformed' } })
  }
})

t.test('a pair of escaped surrogates is a character', async (t) => {
  t.match(read('{"model":"m","input":"\\ud83d\\ude00"}'), { ok: true, value: { input: '😀' } })
})

t.test(`JSON of ${JSON_DEPTH_MAX} levels is read, and JSON with one level more is refused`, async (t) => {
  t.equal(detailOf(nested(JSON_DEPTH_MAX)), 'accepted')
  t.equal(detailOf(nested(JSON_DEPTH_MAX + 1)), `The JSON nests deeper than ${JSON_DEPTH_MAX} levels.`)
  t.equal(detailOf(nested(100_000)), `The JSON nests deeper than ${JSON_DEPTH_MAX} levels.`)
})

t.test('a member __proto__ is dropped and changes no prototype', async (t) => {
  const verdict = read(
    '{"model":"m","input":"x","__proto__":{"polluted":1},"trace":{"\\u005f_proto__":{"polluted":1}}}',
  )
  t.ok(verdict.ok)
  if (!verdict.ok) return
  t.notOk(Object.hasOwn(verdict.value, '__proto__'))
  t.same(Object.keys(verdict.value['trace'] as object), [])
  t.equal((verdict.value as { polluted?: number }).polluted, undefined)
})

t.test('a member __proto__ is refused where other unknown members are, at any depth', async (t) => {
  for (const name of ['__proto__', '\\u005f_proto__'])
    for (const more of ['', `,"user":"${'u'.repeat(1_000)}"`])
      t.match(read(`{"model":"m","input":"x","provider":{"${name}":{"only":["a"]}}${more}}`), {
        failure: {
          name: 'body_invalid',
          metadata: { issues: [{ path: '/provider/__proto__', message: 'is not a known member' }] },
        },
      })
  t.match(read('{"model":"m","input":"x","provider":{"max_price":{"__proto__":1}}}'), {
    failure: { metadata: { issues: [{ path: '/provider/max_price/__proto__' }] } },
  })
})

t.test('the last of two members with the same name counts, also in a large body', async (t) => {
  t.match(read('{"model":"a","input":"x","model":"b"}'), { value: { model: 'b' } })
  const text = JSON.stringify(large('first')).replace(/}$/, ',"\\u0069nput":["last"],"model":"n"}')
  const verdict = read(text)
  t.match(verdict, { ok: true, value: { model: 'n' }, bulk: { kind: 'strings', count: 1 } })
  if (verdict.ok) t.equal(Buffer.from(verdict.bulk?.json ?? []).toString(), '["last"]')
})

t.test('the error for a body that the schema refuses has the path of each issue', async (t) => {
  t.match(read('{"model":5,"input":["a",5],"dimensions":0,"provider":{"foo":1},"encoding_format":"hex"}'), {
    failure: {
      name: 'body_invalid',
      metadata: {
        issues: [
          { path: '/model', message: 'is number' },
          { path: '/input/1', message: 'is number', expected: 'string, not empty' },
          { path: '/dimensions', message: 'is too small', expected: 'integer of at least 1' },
          { path: '/provider/foo', message: 'is not a known member' },
          {
            path: '/encoding_format',
            message: 'is not one of the allowed values',
            expected: 'one of "float", "base64"',
          },
        ],
      },
    },
  })
})

t.test('a large body keeps only known members besides the bulky one', async (t) => {
  const verdict = read(JSON.stringify(large([[1, 2], [3]], { user: 'u', unknown: 1 })))
  t.match(verdict, { ok: true, bulk: { kind: 'lists', count: 2 } })
  if (verdict.ok) t.same(verdict.value, { model: 'm', user: 'u' })
})

t.test('pictures of a large body are counted in the thread that parses it', async (t) => {
  const picture = { type: 'image_url', image_url: { url: 'https://acme.example/a.png' } }
  const input = [{ content: [{ type: 'text', text: 'x' }, picture] }, { content: [picture, picture] }]
  const verdict = read(JSON.stringify(large(input)))
  t.match(verdict, { ok: true, bulk: { kind: 'objects', count: 2, pictures: 3 } })
})

t.test('a large member that is not the bulky one is refused', async (t) => {
  t.match(read(JSON.stringify(large('x', { user: 'u'.repeat(INLINE_JSON_BYTES_MAX) }))), {
    failure: { name: 'body_invalid', metadata: { issues: [{ message: 'is too large' }] } },
  })
})

t.test('the bytes of the bulky member parse to the value that was sent', async () => {
  const text = fc.string({ unit: 'binary', minLength: 1 }).filter((word) => word.isWellFormed())
  const input = fc.oneof(
    text,
    fc.array(text, { minLength: 1 }),
    fc.array(fc.nat(), { minLength: 1 }),
    fc.array(fc.array(fc.nat(), { minLength: 1 }), { minLength: 1 }),
  )
  fc.assert(
    fc.property(input, text, fc.nat(2), (value, name, indent) => {
      const verdict = read(
        JSON.stringify({ [name]: [{ input: '}"' }], ...large(value), 'z,"input":': '"}' }, null, indent),
      )
      return (
        verdict.ok &&
        JSON.stringify(JSON.parse(Buffer.from(verdict.bulk?.json ?? []).toString())) === JSON.stringify(value)
      )
    }),
    { numRuns: 60 },
  )
})

t.test('a small body is read as JSON.parse reads it, without `__proto__` members', async () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 6 })), fc.nat(2), (trace, indent) => {
      const verdict = read(
        JSON.stringify({ model: 'm', input: 'x', user: 'ü\u{1F600}', trace: { more: trace } }, null, indent),
      )
      return (
        verdict.ok &&
        JSON.stringify(verdict.value['trace']) ===
          JSON.stringify(JSON.parse(JSON.stringify({ more: trace }), withoutProto))
      )
    }),
    { numRuns: 300 },
  )
})

function withoutProto(this: unknown, name: string, value: unknown): unknown {
  return name === '__proto__' ? undefined : value
}

t.test('an optional member with the value null counts as missing, in small and large bodies', async (t) => {
  const nulls = { dimensions: null, encoding_format: null, user: null, input_type: null }
  t.same(read(JSON.stringify({ model: 'm', input: 'x', ...nulls })), {
    ok: true,
    value: { model: 'm', input: 'x' },
    bulk: null,
  })
  t.match(read(JSON.stringify(large(['a', 'b'], nulls))), {
    ok: true,
    value: { model: 'm', dimensions: undefined },
    bulk: { count: 2 },
  })
  t.match(read('{"model":"m","input":null}'), {
    ok: false,
    failure: { metadata: { issues: [{ path: '/input' }] } },
  })
  t.match(read('{"model":"m","input":"x","dimensions":null,"user":5}'), {
    failure: { metadata: { issues: [{ path: '/user' }] } },
  })
})
