import fc from 'fast-check'
import t from 'tap'
import { JSON_TEXT_DEPTH_MAX } from '../../../../src/schemas/files/file-limits.ts'
import { AUTOMATA } from '../../../../src/workers/content/automaton.ts'
import { JsonScanner, type JsonFinding } from '../../../../src/workers/content/text/json.ts'
import { chunks } from '../../../support/wire/chunks.ts'

function scan(text: string, sizes: readonly number[] = [4_096]): JsonFinding {
  const scanner = new JsonScanner()
  for (const chunk of chunks(Buffer.from(text), sizes)) scanner.push(AUTOMATA.hold(chunk))
  return scanner.finish()
}

/** What `JSON.parse` says of one value. */
function isContainer(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null
  } catch {
    return false
  }
}

function isLines(text: string): boolean {
  const lines = text.split('\n').filter((line) => !/^[ \t\r]*$/.test(line))
  return lines.length >= 2 && lines.every(isContainer)
}

const SIZES = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
const SPACE = fc.constantFrom('', '', '', ' ', '\n', '\r\n', '\t')
const SPOILERS = [
  ...'{}[]:,"\\ \n\t0123456789.+-eEtrufalsn',
  '\u0001',
  'é',
  '\u2028',
  '\\u12',
  '\\ud800',
  '\f',
  '/*',
]

/** A text near to JSON: a document with white space, changed at up to three places. */
const NEAR_JSON = fc
  .tuple(
    fc.json({ maxDepth: 4 }),
    SPACE,
    SPACE,
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...SPOILERS)), { maxLength: 3 }),
  )
  .map(([json, before, after, changes]) => {
    let text = before + json.replaceAll(/([{,])"/g, `$1${after}"`) + after
    for (const [place, removed, inserted] of changes) {
      const at = place % (text.length + 1)
      text = text.slice(0, at) + inserted + text.slice(at + removed)
    }
    return Buffer.from(text).toString()
  })

t.test(
  'a text is JSON exactly when JSON.parse makes an object or array of it, however it is cut',
  async (t) => {
    fc.assert(
      fc.property(NEAR_JSON, SIZES, (text, sizes) => scan(text, sizes).isJson === isContainer(text)),
      { numRuns: 4_000 },
    )
    t.pass('no difference')
  },
)

t.test('a text is NDJSON exactly when two or more lines are JSON and no line is anything else', async (t) => {
  const lines = fc.array(fc.oneof(NEAR_JSON, fc.json(), fc.constantFrom('', ' ', '{}', '[1]', '{"a":"b"}')), {
    maxLength: 4,
  })
  fc.assert(
    fc.property(lines, SIZES, (parts, sizes) => {
      const text = parts.join('\n')
      return scan(text, sizes).isNdjson === isLines(text)
    }),
    { numRuns: 4_000 },
  )
  t.pass('no difference')
})

t.test('texts made only of characters that JSON uses are read as JSON.parse reads them', async (t) => {
  const noise = fc
    .array(fc.constantFrom(...'{}[]:,"\\ \n01.-eE', 'true', 'false', 'null', '"a"'), { maxLength: 12 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(noise, (text) => {
      const found = scan(text)
      return found.isJson === isContainer(text) && found.isNdjson === isLines(text)
    }),
    { numRuns: 20_000 },
  )
  t.pass('no difference')
})

t.test('nesting is followed to the limit and no further', async (t) => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  t.same(scan(nested(JSON_TEXT_DEPTH_MAX)), { isJson: true, isNdjson: false, isTooDeep: false })
  t.same(scan(nested(JSON_TEXT_DEPTH_MAX + 1)), { isJson: false, isNdjson: false, isTooDeep: true })
})
