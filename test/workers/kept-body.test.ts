import t from 'tap'
import { BODIES } from '../../src/schemas/bodies.ts'
import {
  INFERENCE_BODY_BYTES_MAX,
  INFERENCE_DEPTH_MAX,
} from '../../src/schemas/inference/inference-limits.ts'
import { SpanList } from '../../src/schemas/kept-body.ts'
import type { Dialect } from '../../src/schemas/inference/text-request.ts'
import { INLINE_JSON_BYTES_MAX, KEPT_MEMBERS_MAX } from '../../src/schemas/limits/limits.ts'
import { openPools } from '../../src/workers/pool.ts'
import { TASKS } from '../../src/workers/tasks.ts'
import { readBody } from '../../src/workers/read-body.ts'
import { ChatTexts } from '../support/inference/chat-texts.ts'
import { keptChat } from '../support/inference/kept-chat.ts'
import { BY, UNHURRIED_MS } from '../support/pool-jobs.ts'
import { SILENT } from '../support/log.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const START = '"model":"m","messages":[{"role":"user","content":"x"}]'
const read = (text: string | Uint8Array, isOnLoop = false) =>
  readBody({ body: 'chat', bytes: typeof text === 'string' ? Buffer.from(text) : text, isOnLoop })
const filled = (head: string, unit: string, tail: string): Buffer => {
  const bytes = Buffer.byteLength(unit)
  const times = Math.floor((INFERENCE_BODY_BYTES_MAX - head.length - tail.length) / bytes)
  return Buffer.concat([Buffer.from(head), Buffer.alloc(times * bytes, unit), Buffer.from(tail)])
}

t.test('the loop and a thread read the same of a body', async (t) => {
  for (let seed = 0; seed < 200; seed++) {
    const { text } = new ChatTexts(seed).body()
    const [here, there] = [read(text, true), read(text)]
    if (JSON.stringify(here) === JSON.stringify(there)) continue
    t.same(here, there, `seed ${seed}`)
    break
  }
})

t.test('refuses a name that differs from a known one only in case, wherever a body is read', async (t) => {
  const near = {
    Model: 'model',
    N: 'n',
    MAX_TOKENS: 'max_tokens',
    '\\u004dodel': 'model',
    'mode\\u004c': 'model',
    ſtream: 'stream',
    '\\u017ftream': 'stream',
    'max_to\u212aens': 'max_tokens',
    Plugins: 'plugins',
  }
  for (const [name, meant] of Object.entries(near))
    for (const isOnLoop of [true, false]) {
      const path = `/${JSON.parse(`"${name}"`) as string}`
      const message = `differs from \`${meant}\` only in upper and lower case`
      const issues = [{ path, message, expected: `\`${meant}\`` }]
      const failure = { name: 'body_invalid', metadata: { issues } }
      t.match(read(`{"x":[{"y":1}],${START},"${name}":1}`, isOnLoop), { ok: false, failure }, name)
    }
  for (const name of ['Modell', 'mode', 'm', 'M', 'MODEL ', 'x-Model', 'Ω', '\\n', '', 'Z'.repeat(10_000)])
    t.ok(read(`{${START},"${name}":1}`).ok, name)
  t.ok(read(`{${START},"x":{"Model":1}}`).ok, 'inside of a value any name may stand')
})

t.test('the places of known members match their bytes, for each repeated member too', async (t) => {
  const text = ` { "model" : "m", "x":[{"model":1}] ,"mod\\u0065l":"n","messages":[{"role":"user","content":"é"}],"stream_options": { "a":1 } } `
  const { body, digest } = keptChat(text)
  const of = (from: number, to: number): string => Buffer.from(text).toString('utf8', from, to)
  t.same(
    body.members.map(({ name, keyStart, start, end }) => [name, of(keyStart, start), of(start, end)]),
    [
      ['model', '"model" : ', '"m"'],
      ['model', '"mod\\u0065l":', '"n"'],
      ['messages', '"messages":', '[{"role":"user","content":"é"}]'],
      ['stream_options', '"stream_options": ', '{ "a":1 }'],
    ],
  )
  t.same(
    body.members.map(({ next, comma, inner }) => [
      next && of(next, next + 3),
      comma && of(comma, comma + 1),
      inner && of(inner, inner + 3),
    ]),
    [
      ['"x"', 0, 0],
      ['"me', ',', 0],
      ['"st', ',', 0],
      [0, ',', '"a"'],
    ],
  )
  t.same([digest.model, body.last('model')?.start, body.last('tools')], ['n', text.indexOf('"n"'), null])
  t.same(
    [body.count, of(body.close, body.close + 1), body.knows('top_k'), body.knows('x')],
    [5, '}', true, false],
  )
})

t.test('a chat may have 128 levels, known or not, on the event loop and in a thread', async (t) => {
  const nested = (levels: number): string => '['.repeat(levels - 1) + ']'.repeat(levels - 1)
  const tools = (levels: number): string => {
    const list = '['.repeat(levels - 3) + ']'.repeat(levels - 3)
    return `{${START},"tools":[{"type":"x","y":${list}}]}`
  }
  for (const isOnLoop of [true, false]) {
    t.match(read(`{${START},"x":${nested(INFERENCE_DEPTH_MAX)}}`, isOnLoop), { ok: true })
    t.match(read(tools(INFERENCE_DEPTH_MAX), isOnLoop), { ok: true })
    for (const text of [`{${START},"x":${nested(INFERENCE_DEPTH_MAX + 1)}}`, tools(INFERENCE_DEPTH_MAX + 1)])
      t.match(read(text, isOnLoop), {
        ok: false,
        failure: { detail: 'The JSON nests deeper than 128 levels.' },
      })
  }
  const long = `{${START},"y":"${'y'.repeat(20_000)}","x":${nested(INFERENCE_DEPTH_MAX)}}`
  t.match(read(long, true), { ok: true }, 'as deep where brackets are counted first')
  t.match(read(long.replace('[[', '[[[').replace(']]', ']]]'), true), {
    ok: false,
    failure: { detail: /128/ },
  })
})

t.test('strict JSON alone is kept, on the loop and in a thread', async (t) => {
  for (const [text, failure] of [
    [`{${START},"x":1e400}`, { detail: 'A number is out of range.' }],
    [`{${START},"x":"\\ud800}`, { metadata: { issues: [{ message: /ends too early/ }] } }],
    [`{${START},"x":"\\ud80"}`, { metadata: { issues: [{ expected: /escape/ }] } }],
    [`{${START},}`, { metadata: { line: 1 } }],
    [`\uFEFF{${START}}`, { metadata: { issues: [{ message: /byte order mark/ }] } }],
    ['', { metadata: { issues: [{ message: 'is empty' }] } }],
    [Buffer.from([0x7b, 0xff, 0x7d]), { metadata: { offset: 1, issues: [{ expected: 'valid UTF-8' }] } }],
  ] as const)
    for (const isOnLoop of [true, false])
      t.match(read(text, isOnLoop), { ok: false, failure: { name: 'body_malformed', ...failure } })
  for (const isOnLoop of [true, false]) {
    t.match(read('[]', isOnLoop), { failure: { name: 'body_invalid' } })
    t.match(read(`{${START},"x":"1e400"}`, isOnLoop), { ok: true })
  }
})

t.test('known members may be repeated KEPT_MEMBERS_MAX times at most', async (t) => {
  const of = (count: number): string => `{${START}${',"top_k":1'.repeat(count - 2)}}`
  t.equal(keptChat(of(KEPT_MEMBERS_MAX)).body.members.length, KEPT_MEMBERS_MAX)
  t.match(read(of(KEPT_MEMBERS_MAX + 1)), {
    failure: { detail: `Known members are repeated more than ${KEPT_MEMBERS_MAX} times.` },
  })
})

t.test('any 32 MiB are checked by a thread, which survives', async (t) => {
  const { jobs, close } = openPools({
    ...{ shortThreads: 1, sessionThreads: 1, queueMax: 4, jobMsMax: UNHURRIED_MS },
    ...{ isLazy: true, log: SILENT },
  })
  t.teardown(close)
  const texts = Array.from(
    { length: INFERENCE_BODY_BYTES_MAX / 10 },
    (_, nth) => `"€${(nth + 2_000).toString(36)}"`,
  )
  for (const [what, bytes, expected] of [
    ['[', Buffer.alloc(INFERENCE_BODY_BYTES_MAX, '['), /deeper/],
    ['spaces', filled(`{${START},"trace":1`, ' ', ',"a":1}'), null],
    ['spaces in options', filled(`{${START},"stream_options":{`, ' ', '}}'), null],
    ['{} that is not known', filled(`{${START},"x":[`, '{},', '{}]}'), null],
    ['a text that is not known', filled(`{${START},"x":"`, 'x', '"}'), null],
    ['a text', filled('{"model":"m","messages":[{"role":"user","content":"', '€', '"}]}'), null],
    ['members', filled(`{${START},`, '"a":1,', '"b":1}'), null],
    ['parts', filled('{"model":"m","messages":[', '{},', '{}]}'), /more than 1048576/],
    ['texts', Buffer.from(`{${START},"tools":[{"type":"x","y":[${texts.join(',')}]}]}`), null],
  ] as const) {
    const input = { body: 'chat', bytes: Uint8Array.from(bytes) } as const
    const outcome = await jobs.run('read_body', input, { ...BY, transfer: [input.bytes.buffer] })
    t.equal(input.bytes.length, 0, `${what}: moved`)
    const verdict = outcome.ok ? outcome.value : null
    if (expected !== null) t.match(verdict, { ok: false, failure: { detail: expected } }, what)
    else if (verdict?.ok === true && verdict.source !== undefined)
      t.equal(Buffer.compare(verdict.source.bytes, bytes), 0, `${what}: the same bytes came back`)
    else t.fail(`${what}: ${JSON.stringify(outcome)}`)
  }
})

t.test('the bytes and the places are returned by a thread without a copy', async (t) => {
  const verdict = read(`{${START}}`)
  const source = verdict.ok ? verdict.source : undefined
  t.same(TASKS.read_body.moves(verdict), [source?.bytes, source?.places.members, source?.places.marks])
})

t.test('a large body leaves little work for the loop', async (t) => {
  const provider = JSON.stringify({ order: ['x'.repeat(INLINE_JSON_BYTES_MAX)] })
  t.match(read(`{${START},"provider":${provider}}`), {
    failure: { name: 'body_invalid', metadata: { issues: [{ message: 'is too large' }] } },
  })
})

t.test('a list of spans grows, and drops rejected spans', async (t) => {
  const list = new SpanList()
  for (let nth = 0; nth < 1_000; nth++)
    list.add(nth % 10, { keyStart: nth, start: nth, end: nth, next: 0, comma: 0, inner: 7 })
  list.keep(500, (index) => index === 3)
  t.equal(list.count, 550)
  const packed = list.packed()
  t.same(
    [
      packed.length,
      packed[499 * 7 + 1],
      packed[500 * 7],
      packed[500 * 7 + 1],
      packed[549 * 7 + 1],
      packed[549 * 7 + 6],
    ],
    [550 * 7, 499, 3, 503, 993, 7],
  )
  t.ok(BODIES.chat.keeps.names.length === new Set(BODIES.chat.keeps.names).size, 'a name has one index')
})

/** A lone surrogate, and what is sent in its place, as they are in JSON. */
const MENDED: readonly (readonly [string, string])[] = [
  ['\\ud83d', '\\ufffd'],
  ['\\uDE00', '\\ufffd'],
  ['\\ud83d\\ud83d\\ude00', '\\ufffd\\ud83d\\ude00'],
  ['\\ud83d\\n\\ude00', '\\ufffd\\n\\ufffd'],
  ['\\ud83dx\\ude00\\\\ud83d', '\\ufffdx\\ufffd\\\\ud83d'],
  ['\\ud83d\\ude00 \\\\\\ud83d', '\\ud83d\\ude00 \\\\\\ufffd'],
]

t.test('a lone surrogate becomes U+FFFD in the bytes that are kept, and in no other string', async (t) => {
  const bodyWith = (text: string): string =>
    `{"model":"m","messages":[{"role":"user","content":"a${text}b"}],"x":{"y${text}":["${text}"]},"user":"${text}"}`
  for (const [came, sent] of MENDED)
    for (const isOnLoop of [true, false]) {
      const { body, digest } = keptChat(bodyWith(came), { isOnLoop })
      t.equal(Buffer.from(body.bytes).toString(), bodyWith(sent))
      t.equal(digest.last, JSON.parse(`"a${sent}b"`))
    }
  const long = `${'x'.repeat(INLINE_JSON_BYTES_MAX)}\\ud83d`
  t.match(keptChat(bodyWith(long)).digest, { isLastCut: true })
})

const PICTURE = '{"type":"image_url","image_url":{"url":"https://a.example/"}}'
const ITEM = '{"type":"input_image","image_url":"https://a.example/"}'
const BLOCK = '{"type":"image","source":{"type":"url","url":"https://a.example/"}}'
const AROUND: Readonly<Record<Dialect, (turn: string) => string>> = {
  chat: (turn) => `{"model":"m","messages":[{"role":"user","content":"x"},${turn}]}`,
  responses: (turn) => `{"model":"m","input":[{"role":"user","content":"x"},${turn}]}`,
  messages: (turn) => `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},${turn}]}`,
}
const TURN = '"role":"user","content"'
const AMBIGUOUS: readonly (readonly [Dialect, string, path: string, name: string])[] = [
  [
    'chat',
    `{${TURN}:[{"image_url":{},"type":"image_url","type":"text","text":"x"}]}`,
    '/content/0/type',
    'type',
  ],
  ['chat', `{${TURN}:[{"type":"text","text":"x","ty\\u0070e":"text"}]}`, '/content/0/type', 'type'],
  [
    'chat',
    `{${TURN}:[{"type":"text","text":"x"},{"type":"text","text":"x","Type":"image_url"}]}`,
    '/content/1/Type',
    'type',
  ],
  ['chat', `{${TURN}:[{"type":"text","text":"x","\\u0054ype":"image_url"}]}`, '/content/0/Type', 'type'],
  ['chat', `{${TURN}:[${PICTURE}],"content":"x"}`, '/content', 'content'],
  ['chat', `{${TURN}:[${PICTURE}],"ROLE":"assistant"}`, '/ROLE', 'role'],
  [
    'chat',
    `{${TURN}:[{"type":"image_url","image_url":{"url":"a","URL":"b"}}]}`,
    '/content/0/image_url/URL',
    'url',
  ],
  [
    'chat',
    `{${TURN}:[{"type":"file","file":{"file_data":"a","file_data":"b"}}]}`,
    '/content/0/file/file_data',
    'file_data',
  ],
  ['chat', `{${TURN}:"x","audio":{},"audio":null}`, '/audio', 'audio'],
  ['chat', `{${TURN}:[{"type":"text","text":"x","ſource":1}]}`, '/content/0/ſource', 'source'],
  ['responses', `{${TURN}:[${ITEM}],"content":"x"}`, '/content', 'content'],
  [
    'responses',
    `{"type":"function_call_output","call_id":"c","output":[${ITEM}],"output":"x"}`,
    '/output',
    'output',
  ],
  ['responses', `{"type":"x","output":{"type":"computer_screenshot","type":"y"}}`, '/output/type', 'type'],
  [
    'responses',
    `{${TURN}:[{"type":"input_text","text":"x","Image_url":"a"}]}`,
    '/content/0/Image_url',
    'image_url',
  ],
  ['messages', `{${TURN}:[${BLOCK}],"content":"x"}`, '/content', 'content'],
  [
    'messages',
    `{${TURN}:[{"type":"image","source":{"type":"url","type":"x"}}]}`,
    '/content/0/source/type',
    'type',
  ],
  [
    'messages',
    `{${TURN}:[{"type":"tool_result","content":[{"type":"x","content":[{"type":"text","Source":{}}]}]}]}`,
    '/content/0/content/0/content/0/Source',
    'source',
  ],
  [
    'messages',
    `{${TURN}:[{"type":"document","source":{"type":"content","content":[${BLOCK}],"content":"x"}}]}`,
    '/content/0/source/content',
    'content',
  ],
]

t.test('a decisive nested member that is repeated or in another case makes a body ambiguous', async (t) => {
  for (const [dialect, turn, path, name] of AMBIGUOUS)
    for (const [isOnLoop, more] of [
      [true, ''],
      [false, ''],
      [false, `,"x":"${'x'.repeat(INLINE_JSON_BYTES_MAX)}"`],
    ] as const) {
      const text = AROUND[dialect](turn).replace(/}$/, `${more}}`)
      const { ambiguous } = keptChat(text, { dialect, isOnLoop }).body
      const list = dialect === 'responses' ? 'input' : 'messages'
      t.equal(ambiguous?.path, `/${list}/1${path}`, turn)
      t.match(
        ambiguous?.message,
        path.endsWith(`/${name}`) ? `repeats \`${name}\`` : `differs from \`${name}\``,
      )
    }
})

t.test('members that are not decisive may be repeated', async (t) => {
  const plain: readonly (readonly [Dialect, string])[] = [
    [
      'chat',
      `{${TURN}:[{"type":"text","text":"a","text":"b","Text":"c"},{"type":"text","text":"d"}],"name":"n","Name":"m"}`,
    ],
    [
      'chat',
      `{"role":"assistant","tool_calls":[{"type":"function","type":"x","function":{"name":"a","name":"b"}}]}`,
    ],
    ['chat', `{${TURN}:[{"type":"text","text":"a","x":{"type":1,"Type":2,"type":3}}]}`],
    ['responses', `{"type":"function_call","call_id":"c","name":"f","arguments":"{}","Arguments":"{}"}`],
    [
      'messages',
      `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{"type":1,"Type":2,"type":3}}]}`,
    ],
  ]
  for (const [dialect, turn] of plain)
    t.equal(keptChat(AROUND[dialect](turn), { dialect }).body.ambiguous, null, turn)
})

t.test('ambiguous members are found at any depth, and among many', async (t) => {
  const levels = 55
  const nested = `${'{"type":"x","content":['.repeat(levels)}{"type":"a","type":"b"}${']}'.repeat(levels)}`
  const deep = keptChat(AROUND.messages(`{${TURN}:[${nested}]}`), { dialect: 'messages' }).body
  t.equal(deep.ambiguous?.path, `/messages/1/content/0${'/content/0'.repeat(levels)}/type`)
  const parts = Array.from({ length: 100_000 }, () => '{"type":"text","text":"x"}').join()
  const many = keptChat(AROUND.chat(`{${TURN}:[${parts},{"type":"text","text":"x","TYPE":"y"}]}`)).body
  t.equal(many.ambiguous?.path, '/messages/1/content/100000/TYPE')
})
