import { isUtf8 } from 'node:buffer'
import fc from 'fast-check'
import t from 'tap'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../../src/schemas/limits/limits.ts'
import { scanBody } from '../../src/workers/body-scan.ts'

const NAMES = ['model', 'input']
const scan = (text: string | Uint8Array, names = NAMES) =>
  scanBody(typeof text === 'string' ? Buffer.from(text) : text, { names, othersMax: 0 })
const verdictOf = (text: string | Uint8Array, names = NAMES): string => {
  const scanned = scan(text, names)
  return scanned.ok ? 'ok' : (scanned.detail ?? 'syntax')
}
const repeated = (head: string, unit: string, tail: string): Buffer => {
  const times = Math.floor((EMBEDDINGS_BODY_BYTES_MAX - head.length - tail.length) / unit.length)
  return Buffer.concat([Buffer.from(head), Buffer.alloc(times * unit.length, unit), Buffer.from(tail)])
}

/**
 * What `JSON.parse` takes, less what we do not: every string and number is looked at, also of members that
 * come twice.
 */
function isTaken(text: string): boolean {
  try {
    JSON.parse(text)
  } catch {
    return false
  }
  const strings = /"(?:[^"\\]|\\.)*"/gs
  const areWellFormed = [...text.matchAll(strings)].every(([literal]) =>
    (JSON.parse(literal) as string).isWellFormed(),
  )
  const rest = text.replaceAll(strings, 's')
  const areFinite = [...rest.matchAll(/-?\d[\d.eE+-]*/g)].every(([number]) => Number.isFinite(Number(number)))
  let [depth, deepest] = [0, 0]
  for (const letter of rest) {
    if (letter === '[' || letter === '{') deepest = Math.max(deepest, ++depth)
    if (letter === ']' || letter === '}') depth--
  }
  return areWellFormed && areFinite && deepest <= JSON_DEPTH_MAX
}

const TOKENS = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '"a"',
  '"a":1,',
  '\\',
  '\\u',
  '\\ud83d',
  '\\udE00',
  '\\u0000',
  '\\n',
  '\\x',
  '\\"',
  '\\/',
  'd83d',
  '0',
  '1',
  '9',
  '-',
  '.',
  'e',
  'E',
  '+',
  'e308',
  '1e309',
  '-1e400',
  '0e999',
  '1e-999',
  '00',
  `1${'0'.repeat(309)}`,
  'true',
  'false',
  'null',
  'nul',
  'truex',
  'NaN',
  ' ',
  '\n',
  '\r',
  '\t',
  '\v',
  '\u0001',
  '\u007f',
  '\u00a0',
  '\u2028',
  '\ufeff',
  'é',
  '😀',
  '//',
  "'",
  '['.repeat(JSON_DEPTH_MAX - 1),
  ']'.repeat(JSON_DEPTH_MAX - 1),
]
const token = fc.constantFrom(...TOKENS)
/** JSON, into which tokens are put, in place of some of its letters. */
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), token), { maxLength: 3 })
const edited = fc.tuple(fc.jsonValue({ maxDepth: 5 }), fc.nat(2), edits).map(([value, indent, changes]) => {
  let text = JSON.stringify(value, null, indent)
  for (const [place, gone, put] of changes) {
    const at = place % (text.length + 1)
    text = text.slice(0, at) + put + text.slice(at + gone)
  }
  return text
})

t.test('accepts and refuses the same texts as JSON.parse', async () => {
  const text = fc.oneof(
    { arbitrary: edited, weight: 4 },
    fc.array(token, { maxLength: 12 }).map((tokens) => tokens.join('')),
  )
  fc.assert(
    fc.property(text, (json) => !json.isWellFormed() || (verdictOf(json) === 'ok') === isTaken(json)),
    { numRuns: 1_000 },
  )
})

t.test('checks every escape, surrogate and control character in strings', async () => {
  const control = fc.nat(0x20).map((code) => String.fromCharCode(code))
  const units = ['\\ud83d', '\\uDBFF', '\\uDC00', '\\ude00', '\\udfff', '\\uD800', '\\u00e9', '\\ue000']
  const escape = fc.constantFrom(...units, '\\u12g4', '\\u', '\\\\', '\\"', '\\b', '\\x')
  const content = fc.array(
    fc.oneof(escape, { arbitrary: control, weight: 1 }, fc.constantFrom('abcd', 'x', 'é', '\u007f')),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(
      content,
      (parts) => (verdictOf(`"${parts.join('')}"`) === 'ok') === isTaken(`"${parts.join('')}"`),
    ),
    { numRuns: 1_000 },
  )
})

t.test('checks UTF-8 bytes alike at every offset within a four-byte word', async () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 24 }), fc.nat(3), (bytes, shift) => {
      const json = Buffer.concat([Buffer.from('"'), Buffer.alloc(shift, 'x'), bytes, Buffer.from('"')])
      return !isUtf8(json) || (verdictOf(json) === 'ok') === isTaken(json.toString())
    }),
    { numRuns: 1_000 },
  )
})

t.test('finds known members at their place, the last of repeated ones, whatever surrounds them', async () => {
  const word = fc.oneof(
    fc.constantFrom('model', 'input', 'mode', 'inputs', '__proto__', 'm"odel', 'é'),
    fc.string(),
  )
  const member = fc.tuple(word, fc.jsonValue({ maxDepth: 3 }), fc.boolean())
  fc.assert(
    fc.property(fc.array(member, { maxLength: 6 }), (members) => {
      const written = members.map(
        ([name, value, isEscaped]) => `${quoted(name, isEscaped)} :${JSON.stringify(value)}`,
      )
      const json = Buffer.from(` {${written.join(' , ')}}\n`)
      const scanned = scan(json)
      const parsed = JSON.parse(json.toString()) as Record<string, unknown>
      if (!scanned.ok || scanned.known === null) return false
      const found = scanned.known.map(({ name, start, end }) => [
        name,
        JSON.stringify(JSON.parse(json.toString('utf8', start, end))),
      ])
      const wanted = Object.entries(parsed)
        .filter(([name]) => NAMES.includes(name))
        .map(([name, value]) => [name, JSON.stringify(value)])
      return JSON.stringify(found) === JSON.stringify(wanted)
    }),
    { numRuns: 1_000 },
  )
})

function quoted(name: string, isEscaped: boolean): string {
  if (!isEscaped) return JSON.stringify(name)
  return `"${[...name].map((_, at) => `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
}

t.test('an endless nested list is refused at the first level above the limit', async (t) => {
  t.match(verdictOf(Buffer.alloc(EMBEDDINGS_BODY_BYTES_MAX, '[')), 'The JSON nests deeper')
  t.match(verdictOf(repeated('{"input":"x","pad":', '{"a":', '')), 'The JSON nests deeper')
  const bomb = `{"input":"x","pad":${'['.repeat(JSON_DEPTH_MAX)}${']'.repeat(JSON_DEPTH_MAX)}}`
  t.match(verdictOf(bomb), 'The JSON nests deeper')
})

t.test('counts objects, lists and members in known members, and none in skipped ones', async (t) => {
  const listOf = (count: number): string => `[${'{},'.repeat(count - 1)}{}]`
  const most = JSON_VALUES_MAX - 2
  t.equal(verdictOf(`{"input":${listOf(most)}}`), 'ok')
  t.match(verdictOf(`{"input":${listOf(most + 1)}}`), `more than ${JSON_VALUES_MAX}`)
  t.match(verdictOf(repeated('{"input":[', '[],', '[]]}')), `more than ${JSON_VALUES_MAX}`)
  t.match(verdictOf(repeated('{"input":{"a":1', ',"a":1', '}}')), `more than ${JSON_VALUES_MAX}`)
  t.equal(verdictOf(repeated('{"input":"x","pad":[', '{},', '{}]}')), 'ok')
  t.equal(verdictOf(repeated('{"input":[', '1,', '1]}')), 'ok', 'numbers take no more than the body')
})
