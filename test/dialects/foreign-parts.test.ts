/** Reasoning of other providers goes out of a request, and every other byte stays. */
import fc from 'fast-check'
import t from 'tap'
import type { Dialect } from '../../src/schemas/inference/text-request.ts'
import type { Endpoint } from '../../src/server/ports/models/models.ts'
import { foreignParts } from '../../src/dialects/foreign-parts.ts'
import { INFERENCE_DEPTH_MAX } from '../../src/schemas/inference/inference-limits.ts'
import { bytesOf, keptChat } from '../support/inference/kept-chat.ts'
import { nativeRequest } from '../../src/server/upstream/inference/native-wire.ts'

const ENDPOINT = {
  upstreamModel: 'm',
  provider: { slug: 'acme' },
  text: {},
  contextLength: null,
  ownWay: {},
} as unknown as Endpoint

/** What a provider gets of a body; null: the body has nothing of others. */
function sent(dialect: Exclude<Dialect, 'chat'>, text: string, isStrict = false): string | null {
  const { digest, body } = keptChat(text, { dialect })
  const foreign = foreignParts(dialect, body.bytes)
  if (foreign === null) return null
  const job = { request: { ...digest, source: body }, foreign }
  const { body: pieces } = nativeRequest(job, ENDPOINT, { isStrict })
  return bytesOf(pieces).toString()
}

/** Texts of items, and whether each is foreign. */
const BLOCKS: readonly (readonly [json: string, isForeign: boolean])[] = [
  ['{"type":"thinking","thinking":"a","signature":"sl1.google-gemini-v1.AA=="}', true],
  ['{ "signature" : "sl1.x+call.y" , "thinking":"", "type" : "thinking" }', true],
  ['{"type":"redacted_thinking","data":"sl1.openai-responses-v1.g"}', true],
  ['{"type":"thinking","thinking":"\\"sl1.","signature":"EqAB"}', false],
  ['{"type":"text","text":"\\"sl1.x.y, [{]"}', false],
  ['{"type":"tool_use","id":"c","name":"f","input":{"2":1.0,"1":12345678901234567890,"a":"\\u0041"}}', false],
  ['{"type":"text","text":"sl1.x.y","cache_control":{"type":"ephemeral"}}', false],
]
const ITEMS: readonly (readonly [json: string, isForeign: boolean])[] = [
  ['{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"sl1.google-gemini-v1.AAAA"}', true],
  // A strict provider does not get the format of another one either.
  ['{"type":"reasoning","summary":[],"format":"x","encrypted_content":"sl1.x.AAAA"}', true],
  [
    '{"type":"reasoning","summary":[{"type":"summary_text","text":"\\"sl1."}],"encrypted_content":"g"}',
    false,
  ],
  ['{"type":"function_call","call_id":"c","name":"f","arguments":"{\\"a\\":\\"sl1.x\\"}"}', false],
  ['{"role":"user","content":"\\"sl1.x.y"}', false],
  ['{"type":"custom_tool_call","call_id":"c","name":"p","input":"\\"sl1.\\",["}', false],
]
const SPACES = fc.constantFrom('', ' ', '\n\t')
const someOf = (all: typeof BLOCKS) => fc.array(fc.constantFrom(...all), { maxLength: 5 })

t.test('removes foreign reasoning items from a responses request', async () => {
  fc.assert(
    fc.property(someOf(ITEMS), SPACES, fc.boolean(), (items, space, isStrict) => {
      const bodyOf = (list: typeof ITEMS, between: string): string =>
        `{"model":"m","input":[${space}${list.map(([json]) => json).join(between)}${space}],"x":1.0}`
      const own = items.filter(([, isForeign]) => !isForeign)
      const found = sent('responses', bodyOf(items, `${space},${space}`), isStrict)
      if (own.length === items.length) return found === null
      return own.every(([json]) => found?.includes(json)) && same(found, bodyOf(own, ','))
    }),
  )
})

t.test('drops foreign reasoning blocks from messages, and turns with no other block', async () => {
  const turn = fc.tuple(fc.constantFrom('user', 'assistant'), fc.oneof(someOf(BLOCKS), fc.constant(null)))
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), SPACES, (turns, space) => {
      const turnOf = ([role, blocks]: (typeof turns)[number], between: string): string =>
        `{"role":"${role}","content":${blocks === null ? '"Hi"' : `[${blocks.map(([json]) => json).join(between)}]`}}`
      const bodyOf = (list: typeof turns, between: string): string =>
        `{"max_tokens":5.0,"messages":[${list.map((one) => turnOf(one, between)).join(between)}],"model":"m"}`
      const own = turns.flatMap(([role, blocks]): typeof turns => {
        const kept = blocks?.filter(([, isForeign]) => !isForeign) ?? null
        return blocks?.length !== kept?.length && kept?.length === 0 ? [] : [[role, kept]]
      })
      const isForeign = turns.some(([, blocks]) => blocks?.some(([, foreign]) => foreign))
      const found = sent('messages', bodyOf(turns, `${space},${space}`))
      if (!isForeign) return found === null
      const texts = own.flatMap(([, blocks]) => (blocks ?? []).map(([json]) => json))
      return texts.every((json) => found?.includes(json)) && same(found, bodyOf(own, ','))
    }),
  )
})

function same(found: string | null, expected: string): boolean {
  return JSON.stringify(JSON.parse(found ?? 'null')) === JSON.stringify(JSON.parse(expected))
}

t.test('the last member of a name counts, even if its name has escapes', async (t) => {
  const foreign = '{"type":"thinking","thinking":"","signature":"sl1.x.y"}'
  const text = '{"type":"text","text":"b"}'
  const own = `{"role":"assistant","content":[${foreign}],"\\u0063ontent":[${text},${foreign}]}`
  const found = sent('messages', `{"model":"m","max_tokens":5,"messages":[],"messages":[${own}]}`)
  t.same(JSON.parse(found ?? '').messages, [{ role: 'assistant', content: [{ type: 'text', text: 'b' }] }])
})

const THOUGHT = '{"type":"thinking","thinking":"","signature":"sl1.x.y"}'

t.test('foreign blocks are also removed from a body of the maximum depth', async (t) => {
  // The schema stands on the fourth level.
  const levels = INFERENCE_DEPTH_MAX - 3
  const schema = `${'{"items":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  const tools = `[{"name":"f","input_schema":${schema}}]`
  const bodyOf = (blocks: string): string =>
    `{"model":"m","max_tokens":5,"tools":${tools},"messages":[{"role":"assistant","content":[${blocks}]}]}`
  const text = '{"type":"text","text":"b"}'
  t.ok(same(sent('messages', bodyOf(`${THOUGHT},${text}`)), bodyOf(text)))
})

t.test('does not build the values of the arguments of a call, of which there may be millions', async (t) => {
  const { parse } = JSON
  let longest = 0
  JSON.parse = (text: string): unknown => {
    longest = Math.max(longest, text.length)
    return parse(text) as unknown
  }
  const restore = (): void => void (JSON.parse = parse)
  t.teardown(restore)
  const input = `{"a":[${'{},'.repeat(1_000)}"\\"sl1."]}`
  const content = `[${THOUGHT},{"type":"tool_use","id":"c","name":"f","input":${input}}]`
  const body = Buffer.from(`{"messages":[{"role":"assistant","content":${content}}]}`)
  const found = foreignParts('messages', body)
  restore()
  t.match(found, { cuts: { length: 1 }, isStepBare: true })
  t.ok(longest < THOUGHT.length, `${longest} characters`)
})

t.test('removes more foreign blocks than a function takes arguments', (t) => {
  const block = '{"type":"thinking","thinking":"","signature":"sl1.a."}'
  const bodyOf = (blocks: readonly string[]): string => {
    const content = [...blocks, '{"type":"text","text":"x"}'].join(',')
    return `{"model":"m","max_tokens":5,"messages":[{"role":"assistant","content":[${content}]}]}`
  }
  const many = Array.from({ length: 200_000 }, () => block)
  t.ok(same(sent('messages', bodyOf(many)), bodyOf([])))
  t.end()
})
