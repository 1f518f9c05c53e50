import fc from 'fast-check'
import t from 'tap'
import { INLINE_ISSUES_BYTES_MAX, JSON_DEPTH_MAX, KIB } from '../../src/schemas/limits/limits.ts'
import { textOf } from '../../src/schemas/failures.ts'
import { malformationOf } from '../../src/workers/json-position.ts'
import { readBody } from '../../src/workers/read-body.ts'

const VALUE = 'an object, a list, a string in double quotes, a number, true, false or null'
const NAME = 'a member name in double quotes'

/** As `line:column/offset expected`. */
const placeOf = (body: string | Uint8Array): string | null => {
  const found = malformationOf(Buffer.from(body as string), JSON_DEPTH_MAX)
  return found === null
    ? null
    : `${found.line}:${found.column}/${found.offset} ${found.issues?.[0]?.expected}`
}
const messageOf = (body: string | Uint8Array, isOnLoop = true): string => {
  const read = readBody({ body: 'embeddings', bytes: Buffer.from(body as string), isOnLoop })
  return read.ok ? 'accepted' : textOf(read.failure)
}

t.test('the message of a malformed body gives the place and the expected text', async (t) => {
  const text = '{\n  "model": "m",\n}'
  const place = 'line 3, column 1 (byte offset 18)'
  const message = `The body is not valid JSON: it has an error at ${place}, expected ${NAME}, or no comma before \`}\`.`
  t.equal(messageOf(text), message)
  t.equal(messageOf(text, false), message, 'in a thread too')
  const read = readBody({ body: 'embeddings', bytes: Buffer.from(text) })
  t.match(read, {
    failure: { name: 'body_malformed', metadata: { line: 3, column: 1, offset: 18, issues: [{ path: '' }] } },
  })
})

t.test('the error names an empty body, a byte order mark and bytes that are not UTF-8', async (t) => {
  t.equal(messageOf(''), 'The body is not valid JSON: it is empty, expected a JSON object.')
  t.match(
    messageOf('\uFEFF{}'),
    /: it begins with a byte order mark, expected UTF-8 without a byte order mark\.$/,
  )
  const broken = Buffer.from('{\n"é":"\xff"}', 'latin1')
  broken.set(Buffer.from('"e"'), 2)
  t.match(
    messageOf(broken),
    /: it is not UTF-8 at line 2, column 6 \(byte offset 7\), expected valid UTF-8\.$/,
  )
})

t.test(
  'the place of the first invalid UTF-8 byte is exact, also after a block and within a character',
  async (t) => {
    for (const before of [
      '',
      'é'.repeat(2_047),
      'é'.repeat(2_048),
      `a${'é'.repeat(9_000)}`,
      '😀'.repeat(5_000),
    ])
      for (const bad of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0x80], [0xf0, 0x9f, 0x98]]) {
        const bytes = Buffer.concat([Buffer.from(before), Buffer.from(bad), Buffer.from('"é"')])
        const column = [...before].length + 1
        t.equal(placeOf(bytes), `1:${column}/${Buffer.byteLength(before)} valid UTF-8`)
      }
  },
)

t.test('each kind of error is reported with its place and what was expected', async (t) => {
  for (const [text, place] of [
    ['hello', '1:1/0 a JSON object'],
    ['  \n ', '2:2/4 a JSON object'],
    ['{"a":1,}', `1:8/7 ${NAME}, or no comma before \`}\``],
    ['{"a":[1,]}', `1:9/8 ${VALUE}, or no comma before \`]\``],
    ['{a:1}', `1:2/1 ${NAME}, or \`}\``],
    ["{'a':1}", `1:2/1 ${NAME}, or \`}\``],
    ['{"a":\'b\'}', `1:6/5 ${VALUE}`],
    ['{"a":True}', `1:6/5 ${VALUE}`],
    ['{"a":[NaN]}', `1:7/6 ${VALUE}, or \`]\``],
    ['{"a":-}', '1:6/5 a JSON number, such as `-1.5e3`'],
    ['{"a":01}', '1:7/6 `,` or `}`'],
    ['{"a" 1}', '1:6/5 `:` after the member name'],
    ['{"a":1 "b":2}', '1:8/7 `,` or `}`'],
    ['{"a":[1 2]}', '1:9/8 `,` or `]`'],
    ['{"a":"é\\x"}', '1:8/8 a JSON escape, such as `\\n`, `\\"` or `\\u00e9`'],
    ['{"a":"b\n"}', '1:8/7 a closing `"`, or an escape such as `\\n` for the control character'],
    ['{"a":"b', '1:8/7 a closing `"`'],
    ['{"a":[{"b":1}', '1:14/13 `,` or `]`'],
    ['{"a":1}}', '1:8/7 the end of the body'],
    ['{"a":1e999,}', `1:12/11 ${NAME}, or no comma before \`}\``],
  ] as const)
    t.equal(placeOf(text), place, text)
})

t.test('a body that ends too early is reported as incomplete', async (t) => {
  t.match(
    messageOf('{"model":"m"'),
    /: it ends too early at line 1, column 13 \(byte offset 12\), expected `,` or `}`\.$/,
  )
})

t.test('a long body is left to a thread, which finds an error after 64 KiB', async (t) => {
  const text = `{"model":"m",\n"input":"${'é'.repeat(32 * KIB)}",\n "user": me}`
  const offset = Buffer.byteLength(text) - 3
  t.ok(offset > 64 * KIB && text.length > INLINE_ISSUES_BYTES_MAX)
  t.match(readBody({ body: 'embeddings', bytes: Buffer.from(text), isOnLoop: true }), { isForThread: true })
  t.match(readBody({ body: 'embeddings', bytes: Buffer.from(text) }), {
    failure: { metadata: { line: 3, column: 10, offset, issues: [{ expected: VALUE }] } },
  })
})

t.test('a body that is nested too deep before its syntax error is refused for its depth', async (t) => {
  t.equal(
    messageOf('['.repeat(JSON_DEPTH_MAX + 1)),
    `The body is not valid JSON. The JSON nests deeper than ${JSON_DEPTH_MAX} levels.`,
  )
})

t.test('no part of a malformed body is in its failure', async (t) => {
  for (const text of [
    '{"model":secret}',
    '{secret:1}',
    '{"a":"secret',
    '{"secret":1 "secret"}',
    'secret',
    '{"a":"\\secret"}',
  ])
    for (const isOnLoop of [true, false])
      t.notMatch(
        JSON.stringify(readBody({ body: 'embeddings', bytes: Buffer.from(text), isOnLoop })),
        /secret/,
      )
})

t.test('an error is found in exactly the texts that the parser refuses', async () => {
  const pieces = fc.constantFrom(
    ...'{}[],:"\\ \n\u00019-.eE+0tu',
    'true',
    'nul',
    '"a"',
    '\\u00e9',
    '1e999',
    'é',
    '"a":1',
  )
  const edits = fc.array(fc.tuple(fc.nat(), fc.nat(2), pieces), { maxLength: 3 })
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.nat(2), edits, (value, indent, put) => {
      let text = JSON.stringify(value, null, indent)
      for (const [place, gone, piece] of put) {
        const at = place % (text.length + 1)
        text = text.slice(0, at) + piece + text.slice(at + gone)
      }
      if (!text.isWellFormed()) return true
      return isJson(text) === (placeOf(text) === null)
    }),
    { numRuns: 1_000 },
  )
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
