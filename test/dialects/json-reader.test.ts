import t from 'tap'
import { JSON_DEPTH_MAX } from '../../src/schemas/limits/limits.ts'
import { JsonReader } from '../../src/dialects/walk/json-reader.ts'
import { randomFrom } from '../support/embeddings/random-answers.ts'

const isWhole = (text: string): boolean => new JsonReader(Buffer.from(text)).isWhole()

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

t.test('the JSON reader accepts the same texts as JSON.parse', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 32)
  const random = randomFrom(seed)
  const pieces = [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '"a"',
    '"a":',
    '1',
    '-',
    '0',
    '.',
    'e',
    'E+',
    'true',
    'null',
  ]
  const more = [
    ' ',
    '\n',
    '\t',
    '\u00a0',
    '\\',
    '\\"',
    '\\u00e9',
    '\\ud83d',
    '\\x',
    'é',
    '\u0001',
    'false',
    '[]',
    '{}',
  ]
  const all = [...pieces, ...more]
  for (let nth = 0; nth < 10_000; nth++) {
    const length = 1 + Math.floor(random() * 8)
    const text = Array.from({ length }, () => all[Math.floor(random() * all.length)] ?? '').join('')
    if (isWhole(text) !== isParsed(text)) t.fail(`seed ${seed}, text ${nth}: ${JSON.stringify(text)}`)
  }
  for (const text of [
    '',
    '01',
    '-',
    '1.',
    '.5',
    '1e',
    '1e+',
    '-0',
    '1e400',
    '"\\u12g4"',
    '"',
    '{"a":1,}',
    '[1,]',
    'nul',
  ])
    t.equal(isWhole(text), isParsed(text), text)
})

t.test('counts the decoded bytes of strings', async (t) => {
  for (const text of [
    '',
    'plain',
    'é€😀',
    '\n\t"\\/',
    '\u0001',
    '\ud83d',
    '\ude00\ud83d',
    'a\u0000b\u07ff\u0800',
  ]) {
    const escaped = [...text].map((one) => [
      ...Buffer.from(one, 'utf16le').swap16().toString('hex').matchAll(/.{4}/g),
    ])
    for (const json of [
      JSON.stringify(text),
      `"${escaped
        .flat()
        .map(([unit]) => `\\u${unit}`)
        .join('')}"`,
    ]) {
      const reader = new JsonReader(Buffer.from(json))
      t.equal(reader.string(0), Buffer.byteLength(json))
      t.equal(reader.textBytes, Buffer.byteLength(text), json)
    }
  }
})

t.test('the depth of a value has the same maximum as the depth of a body', async (t) => {
  const lists = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  t.equal(isWhole(lists(JSON_DEPTH_MAX)), true)
  t.equal(isWhole(lists(JSON_DEPTH_MAX + 1)), false)
  t.equal(isWhole(`${'{"a":'.repeat(JSON_DEPTH_MAX + 1)}1${'}'.repeat(JSON_DEPTH_MAX + 1)}`), false)
  t.equal(isWhole('['.repeat(10_000_000)), false)
})

t.test('a string of any length ends where JSON.parse ends it, with escapes or special bytes', (t) => {
  const odd = ['\\n', '\\"', '\\\\', '\\u00e9', '\\ud83d\\ude00', '\\x', '\u0001', '"', 'é', '\u{1f600}']
  // Around the bytes that are read one by one, at each place among four.
  const lengths = [0, 1_000, 2_040].flatMap((from) => Array.from({ length: 30 }, (_, more) => from + more))
  for (const before of lengths)
    for (const one of odd)
      for (const after of [0, 1, 5, 1_100]) {
        const text = `["${'a'.repeat(before)}${one}${'b'.repeat(after)}"]`
        const reader = new JsonReader(Buffer.from(`  ${text}`).subarray(2))
        const isWhole = reader.isWhole()
        if (isWhole !== isParsed(text)) t.fail(JSON.stringify({ before, one, after }))
        if (!isWhole) continue
        const [value] = JSON.parse(text) as readonly string[]
        if (reader.textBytes !== Buffer.byteLength(value ?? ''))
          t.fail(`${reader.textBytes} bytes of ${text}`)
      }
  t.end()
})
