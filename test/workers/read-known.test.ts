import fc from 'fast-check'
import t from 'tap'
import { EMBEDDINGS_BODY_BYTES_MAX } from '../../src/schemas/embeddings/embedding-limits.ts'
import {
  INLINE_JSON_BYTES_MAX,
  ISSUES_MAX,
  JSON_BODY_BYTES_MAX,
  INLINE_DIGESTED_COMMAS_MAX,
  INLINE_JSON_COMMAS_MAX,
  OUTLINED_BYTES_MIN,
} from '../../src/schemas/limits/limits.ts'
import type { BodyName } from '../../src/schemas/bodies.ts'
import { readBody } from '../../src/workers/read-body.ts'
import { INLINE_JSON_VALUES_MAX } from '../../src/workers/json-outline.ts'

const inThread = (text: string | Buffer, body: BodyName = 'embeddings') =>
  readBody({ body, bytes: Uint8Array.from(Buffer.from(text)) })
const onLoop = (text: string, body: BodyName = 'embeddings') =>
  readBody({ body, bytes: Buffer.from(text), isOnLoop: true })
type Verdict = ReturnType<typeof readBody>

function reported(verdict: Verdict): unknown {
  if (!verdict.ok) return verdict.failure
  const { value, bulk } = verdict
  return {
    ...value,
    ...(bulk !== null && { input: JSON.parse(Buffer.from(bulk.json).toString()) as unknown }),
  }
}

const KNOWN = ['model', 'input', 'dimensions', 'trace', 'user']
function knownOf(reported: unknown): unknown {
  const known = Object.entries(reported as object).filter(([name]) => KNOWN.includes(name))
  return JSON.stringify(Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1))))
}

const PUT = [
  '\\ud83d',
  '\\ude00',
  '\\u0041',
  '\\x',
  '\u0001',
  '"',
  '\\',
  ',',
  ':',
  '1e999',
  '01',
  '{',
  '}',
  '[',
  ']',
  '"model":"n",',
  'é',
  '"__proto__":1,',
  'null',
  '',
]
const some = { minLength: 1 }
const input = fc.oneof(
  fc.string(),
  fc.array(fc.string(some), some),
  fc.array(fc.nat(9), some),
  fc.jsonValue({ maxDepth: 3 }),
)
const members = fc.tuple(
  input,
  fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })),
  fc.jsonValue({ maxDepth: 3 }),
)
const edits = fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...PUT)), { maxLength: 2 })

t.test('a thread judges a body as the loop does, and reads the same known members', async () => {
  fc.assert(
    fc.property(members, edits, fc.nat(2), ([input, trace, other], put, indent) => {
      let text = JSON.stringify(
        { other, model: 'm', input, trace, more: [other], user: 'é"\\' },
        null,
        indent,
      )
      for (const [place, gone, piece] of put) {
        const at = place % text.length
        text = text.slice(0, at) + piece + text.slice(at + gone)
      }
      if (!text.isWellFormed()) return true
      const [known, whole] = [inThread(text), onLoop(text)]
      // Of what comes twice the loop judges the last alone.
      if (whole.ok && !known.ok)
        return known.failure.name === 'body_malformed' && /"model".*"model"/s.test(text)
      return (
        known.ok === whole.ok &&
        (known.ok ? knownOf(reported(known)) === knownOf(reported(whole)) : reported(known) !== null)
      )
    }),
    { numRuns: 600 },
  )
})

t.test('a preset of a body with other members is the same in a thread', async (t) => {
  const text = JSON.stringify({
    zebra: [{}],
    model: 'a/b',
    messages: [{ role: 'system', content: 'Be brief.' }],
    temperature: 0.5,
    store: false,
    other: null,
    stream: false,
    '': 1,
    seed: 7,
  })
  t.same(reported(inThread(text, 'preset_chat')), reported(onLoop(text, 'preset_chat')))
  t.match(inThread(text, 'preset_chat'), { ok: true, value: { ignored: ['', 'messages', 'zebra'] } })
})

t.test('a schema without other members names each unknown member, in a thread too', async (t) => {
  const text = '{"value":"v","hosts":["a.example"],"extra":{"a":[1]},"other":1}'
  t.same(reported(inThread(text, 'secret')), reported(onLoop(text, 'secret')))
  t.match(inThread('{"value":"v","hosts":["a.example"],"__proto__":1}', 'secret'), {
    failure: { metadata: { issues: [{ path: '/__proto__' }] } },
  })
})

t.test('a body that is not an object is refused by its kind', async (t) => {
  for (const text of ['[]', '[{},{}]', '"x"', '1', 'true', 'null'])
    t.same(reported(inThread(text)), reported(onLoop(text)), text)
})

/** The texts that are parsed while `work` runs. */
function parsedBy(work: () => Verdict): { readonly verdict: Verdict; readonly chars: number } {
  const { parse } = JSON
  let chars = 0
  JSON.parse = (text: string, ...more) => {
    chars += text.length
    return parse(text, ...more) as unknown
  }
  try {
    return { verdict: work(), chars }
  } finally {
    JSON.parse = parse
  }
}

const filled = (head: string, unit: string, tail: string): Buffer => {
  const times = Math.floor((EMBEDDINGS_BODY_BYTES_MAX - head.length - tail.length) / unit.length)
  return Buffer.concat([Buffer.from(head), Buffer.alloc(times * unit.length, unit), Buffer.from(tail)])
}

t.test('never builds unread values: ten million objects in an unknown member', async (t) => {
  const { verdict, chars } = parsedBy(() =>
    inThread(filled('{"model":"m","input":"x","pad":[', '{},', '{}]}')),
  )
  t.match(verdict, { ok: true, value: { model: 'm' }, bulk: { kind: 'string' } })
  t.equal(chars, '"pad""m""x"'.length)
})

t.test('no values are built for a body that is too deep or has too many values', async (t) => {
  const bombs = [
    Buffer.alloc(EMBEDDINGS_BODY_BYTES_MAX, '['),
    filled('{"input":[', '{},', '{}]}'),
    filled('{"model":"m","input":"x","pad":', '[', ''),
  ]
  for (const bomb of bombs) {
    const { verdict, chars } = parsedBy(() => inThread(bomb))
    t.match(verdict, { ok: false, failure: { name: 'body_malformed' } })
    t.equal(chars, 0)
  }
})

t.test('reports the first of a million faults', async (t) => {
  const verdict = inThread(`{"input":["a",${'{},'.repeat(900_000)}{}]}`)
  t.match(verdict, { failure: { name: 'body_invalid', metadata: { issues: [{ path: '/input/1' }] } } })
  if (!verdict.ok) t.equal(verdict.failure.metadata?.issues?.length, ISSUES_MAX)
})

t.test(
  'a small body of many values is left to a thread, and one that is too deep is refused at once',
  async (t) => {
    const many = `{"model":"m","input":"x","pad":[${'{},'.repeat(INLINE_JSON_VALUES_MAX)}{}]}`
    t.ok(many.length > OUTLINED_BYTES_MIN && many.length < INLINE_JSON_BYTES_MAX)
    const { verdict, chars } = parsedBy(() => onLoop(many))
    t.match(verdict, { ok: false, isForThread: true })
    t.equal(chars, 0)
    t.match(inThread(many), { ok: true, value: { model: 'm' }, bulk: { count: 1 } })
    const deep = parsedBy(() => onLoop('['.repeat(INLINE_JSON_BYTES_MAX)))
    t.match([deep.verdict, deep.chars], [{ failure: { name: 'body_malformed', detail: /deeper/ } }, 0])
  },
)

t.test('sends small bodies of many strings or numbers to a thread, sooner with a digest', async (t) => {
  const of = (list: string, value: string, count: number) =>
    `{"model":"m","input":"x",${list}:[${`${value},`.repeat(count - 1)}${value}]}`
  for (const [body, list, value, most] of [
    ['embeddings', '"pad"', '1', INLINE_JSON_COMMAS_MAX],
    ['embeddings', '"pad"', '"é"', INLINE_JSON_COMMAS_MAX],
    ['preset_responses', '"models"', '"é"', INLINE_DIGESTED_COMMAS_MAX],
    ['preset_chat', '"stop"', '1234', INLINE_DIGESTED_COMMAS_MAX],
  ] as const) {
    const many = parsedBy(() => onLoop(of(list, value, most), body))
    t.match([many.verdict, many.chars], [{ ok: false, isForThread: true }, 0], `${body} ${value}`)
    t.not(parsedBy(() => onLoop(of(list, value, most - 3), body)).chars, 0, `${body} ${value}, one less`)
  }
})

t.test('brackets, colons and commas inside of strings are not values', async (t) => {
  const text = JSON.stringify({
    model: 'm',
    input: [
      ','.repeat(INLINE_JSON_COMMAS_MAX + 9),
      '[{:'.repeat(INLINE_JSON_VALUES_MAX),
      '\\"[:'.repeat(999),
      '"{',
    ],
  })
  t.match(onLoop(text), { ok: true })
})

t.test(
  'members of a SCIM user that its shape does not name stay, however many values it holds',
  async (t) => {
    const text = JSON.stringify({
      USERNAME: 'u',
      emails: Array.from({ length: INLINE_JSON_VALUES_MAX }, () => ({ value: 'a' })),
    })
    t.ok(text.length < JSON_BODY_BYTES_MAX)
    t.match(inThread(text, 'scim_user'), { ok: true, value: { USERNAME: 'u' } })
  },
)
