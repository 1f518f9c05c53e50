import t from 'tap'
import { BODIES } from '../../src/schemas/bodies.ts'
import { INLINE_JSON_BYTES_MAX } from '../../src/schemas/limits/limits.ts'
import { nativeEdits, type AddedTerms } from '../../src/dialects/chat/native-request.ts'
import { providerBody } from '../../src/schemas/inference/provider-body.ts'
import {
  ChatTexts,
  writtenMembers,
  type WrittenBody,
  type WrittenMember,
} from '../support/inference/chat-texts.ts'
import { OURS } from '../support/inference/cut-members.ts'
import { keptChat } from '../support/inference/kept-chat.ts'
import { ownEdits } from '../../src/server/upstream/inference/native-wire.ts'

const TERMS: AddedTerms = { isStream: false, tokensMax: null }
const OWN = ownEdits({ upstreamModel: 'up"1' })
const CASES = 1_000
const KNOWN: readonly string[] = BODIES.chat.keeps.names

const sent = (text: string | Uint8Array, terms: Partial<AddedTerms> = {}, isOnLoop = false): string => {
  const { body } = keptChat(text, { isOnLoop })
  return Buffer.concat(providerBody(body, nativeEdits(body, { ...TERMS, ...terms }), OWN)).toString()
}

/** Some bodies are of a size that a thread reads. */
function written(seed: number): WrittenBody {
  const { text, members } = new ChatTexts(seed).body()
  if (seed % 500 !== 1) return { text, members }
  const pad = { name: 'pad', key: '"pad"', value: `"${'x'.repeat(INLINE_JSON_BYTES_MAX)}"` }
  return { text: text.replace('{', `{${pad.key}:${pad.value},`), members: [pad, ...members] }
}

/** What has to go out of these members: a known member that comes twice goes out once. */
function wanted(members: readonly WrittenMember[]): readonly WrittenMember[] {
  return members
    .filter(
      ({ name }, at) => !KNOWN.includes(name) || members.findLastIndex((one) => one.name === name) === at,
    )
    .filter(({ name }) => !OURS.includes(name))
    .map((one) => (one.name === 'model' ? { ...one, value: '"up\\"1"' } : one))
}

t.test('a provider gets the members of the caller unchanged, except the spliced ones', async (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const { text, members } = written(seed)
    const out = sent(text, {}, seed % 2 === 0)
    const expected = wanted(members)
    const got = writtenMembers(out)
    const isSame =
      got.length === expected.length &&
      got.every(({ key, value }, at) => key === expected[at]?.key && value === expected[at].value)
    JSON.parse(out)
    if (!isSame) {
      t.same(got, expected, `seed ${seed}`)
      break
    }
  }
})

t.test('a streamed call requests its usage, and keeps the other options of the stream', async (t) => {
  for (let seed = 0; seed < CASES; seed++) {
    const { text } = new ChatTexts(seed).body()
    const before = JSON.parse(text) as { stream_options?: object | null }
    const after = JSON.parse(sent(text, { isStream: true })) as { stream_options?: object | null }
    const expected = { ...before.stream_options, include_usage: true }
    if (JSON.stringify(sorted(after.stream_options)) !== JSON.stringify(sorted(expected))) {
      t.same(after.stream_options, expected, `seed ${seed}`)
      break
    }
  }
})

function sorted(value: object | null | undefined): readonly unknown[] {
  return Object.entries(value ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
}

const chat = '"model":"m","messages":[{"role":"user","content":"x"}]'

t.test('`include_usage` is set in `stream_options` of any content', async (t) => {
  for (const [options, expected] of [
    ['{}', '{"include_usage":true}'],
    ['{ \n }', '{ \n "include_usage":true}'.replace('"include_usage":true}', '"include_usage":true}')],
    ['{"a":1}', '{"include_usage":true,"a":1}'],
    ['{ "include_usage" : false }', '{ "include_usage" : true }'],
    [
      '{"include\\u005fusage":false,"a":[{}],"include_usage":false}',
      '{"include\\u005fusage":true,"a":[{}],"include_usage":true}',
    ],
    ['{"__proto__":1}', '{"include_usage":true,"__proto__":1}'],
    ['{"a":{"include_usage":false}}', '{"include_usage":true,"a":{"include_usage":false}}'],
    ['null', '{"include_usage":true}'],
  ] as const) {
    const out = sent(`{${chat},"stream_options":${options}}`, { isStream: true })
    t.equal(out, `{"model":"up\\"1","messages":[{"role":"user","content":"x"}],"stream_options":${expected}}`)
    t.equal(
      sent(`{${chat},"stream_options":${options}}`).includes(options),
      true,
      'as it came without a stream',
    )
  }
})

t.test('a maximum of tokens is added, and never replaces a maximum of the request', async (t) => {
  const tokensMax = { name: 'max_completion_tokens', tokens: 9 } as const
  t.match(JSON.parse(sent(`{${chat}}`, { tokensMax })), { max_completion_tokens: 9 })
  t.match(JSON.parse(sent(`{${chat},"max_completion_tokens":null}`, { tokensMax })), {
    max_completion_tokens: 9,
  })
  t.match(JSON.parse(sent(`{${chat},"max_tokens":null}`, { tokensMax })), {
    max_completion_tokens: 9,
    max_tokens: null,
  })
  for (const own of ['max_tokens', 'max_completion_tokens'])
    t.equal(sent(`{${chat},"${own}":3}`, { tokensMax }), `{${chat.replace('"m"', '"up\\"1"')},"${own}":3}`)
})

t.test('members are removed at every position, and an object without members remains valid', async (t) => {
  const out = (text: string): string => {
    const { body } = keptChat(`{${text}}`)
    const names = ['model', 'messages', 'trace', 'debug']
    return Buffer.concat(
      providerBody(
        body,
        names.map((name) => ({ kind: 'cut', name })),
      ),
    ).toString()
  }
  const messages = '"messages":[{"role":"user","content":"x"}]'
  for (const [text, expected] of [
    [`"model":"m",${messages}`, '{}'],
    [` "model" : "m" , ${messages} `, '{  }'],
    [`"a":1,"model":"m",${messages}`, '{"a":1}'],
    [`"model":"m",${messages},"a":1`, '{"a":1}'],
    [`"model":"m","a":1,${messages}`, '{"a":1}'],
    [`"a":1,"model":"m","b":2,"trace":{},${messages},"debug":1`, '{"a":1,"b":2}'],
    [`"a":1,"model":"m","model":"n",${messages},"a":2`, '{"a":1,"a":2}'],
  ] as const)
    t.equal(out(text), expected, text)
})

t.test('adds members at the end of an object, even of an empty one', async (t) => {
  const { body } = keptChat(`{${chat}}`)
  const out = providerBody(body, [
    { kind: 'cut', name: 'messages' },
    { kind: 'cut', name: 'model' },
    { kind: 'add', name: 'seed', json: '1' },
    { kind: 'set', name: 'user', json: '"u"' },
  ])
  t.equal(Buffer.concat(out).toString(), '{"seed":1,"user":"u"}')
  t.throws(() => providerBody(body, [{ kind: 'cut', name: 'nobody' }]), 'a place that is not kept is a bug')
})

t.test('a large body is sent as slices of its own bytes', async (t) => {
  const text = `{"trace":{},"messages":[{"role":"user","content":"${'é'.repeat(INLINE_JSON_BYTES_MAX)}"}],"model":"m"}`
  const { body } = keptChat(text)
  const pieces = providerBody(body, [], OWN)
  const own = pieces.filter(({ buffer }) => buffer === body.bytes.buffer)
  t.ok(own.reduce((sum, { length }) => sum + length, 0) > text.length - 100)
  t.equal(Buffer.concat(pieces).toString(), text.replace('"trace":{},', '').replace('"m"', '"up\\"1"'))
})

t.test('the memory of released bytes is returned once, and the bytes are never sent', async (t) => {
  let count = 0
  const { body } = keptChat(`{${chat}}`, { released: () => void count++ })
  body.release()
  body.release()
  t.same([count, body.bytes.length], [1, 0])
  t.throws(() => providerBody(body, []), 'they are gone')
})
