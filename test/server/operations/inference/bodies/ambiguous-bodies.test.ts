/**
 * Bodies that another parser reads as another request: the request that goes out, and the refusals under a
 * limit.
 */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { NO_LIMITS } from '../../../../support/money/key-money.ts'
import { TEXT_PROTOCOLS } from '../../../../../src/schemas/models/protocols.ts'

const LIMITED = { keys: { money: { ...NO_LIMITS, isKeyLimited: true } } }
const OWN = { ownKey: 'own-provider-key-1' }
const PAIRS = DIALECTS.flatMap((from) => TEXT_PROTOCOLS.map((to) => [from, to] as const))

const SOURCE = '{"type":"url","url":"https://a.example/"}'
/** A picture for a parser that takes the first `content`, and a text for one that takes the last. */
const TWICE: Readonly<Record<Dialect, string>> = {
  chat: `{"model":"acme/one","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://a.example/"}}],"content":"Hello there"}]}`,
  responses: `{"model":"acme/one","input":[{"role":"user","content":[{"type":"input_image","image_url":"https://a.example/"}],"content":"Hello there"}]}`,
  messages: `{"model":"acme/one","max_tokens":50,"messages":[{"role":"user","content":[{"type":"image","source":${SOURCE}}],"content":"Hello there"}]}`,
}
const PATHS: Readonly<Record<Dialect, string>> = {
  chat: '/messages/0/content',
  responses: '/input/0/content',
  messages: '/messages/0/content',
}

for (const [from, to] of PAIRS)
  t.test(`${from} 400: a finite limit refuses a repeated content member, at ${to} too`, async (t) => {
    const limited = await rigged(t, to, LIMITED)
    const refused = await limited.send(from, TWICE[from])
    t.equal(refused.status, 400)
    const path = PATHS[from]
    const issues = [{ path, message: 'repeats `content`', expected: 'one `content`' }]
    t.match(await refused.json(), { error: { metadata: { error_type: 'body_invalid', issues } } })
    t.equal(limited.first.calls.length, 0)
    t.equal(limited.spend.holds.length, 0)
  })

for (const [from, to] of PAIRS)
  t.test(
    `${from} without a limit: a repeated content member is refused natively, and translated for ${to} as Sluice read it`,
    async (t) => {
      const { send, first } = await rigged(t, to)
      const answer = await send(from, TWICE[from])
      if (from === to) {
        t.equal(answer.status, 400)
        t.match(await answer.json(), { error: { metadata: { issues: [{ path: PATHS[from] }] } } })
        t.equal(first.calls.length, 0)
        return
      }
      t.equal(answer.status, 200)
      t.notMatch(String(first.calls[0]?.body), 'https://a.example/')
    },
  )

for (const dialect of DIALECTS)
  t.test(`${dialect} 200: under a workspace key a repeated content member passes unchanged`, async (t) => {
    const own = await rigged(t, dialect, { ...LIMITED, ...OWN })
    t.equal((await own.send(dialect, TWICE[dialect])).status, 200)
    t.match(String(own.first.calls[0]?.body), '"https://a.example/"', 'the bytes of the caller')
    const counted = { keys: { money: { ...NO_LIMITS, isKeyLimited: true, keyCountsByok: true } } }
    const countedOwn = await rigged(t, dialect, { ...counted, ...OWN })
    t.equal((await countedOwn.send(dialect, TWICE[dialect])).status, 400)
  })

t.test('400: detects an operator account name in a member repeated with another value', async (t) => {
  const turn = (part: string): string => `[{"role":"user","content":[${part}]}]`
  const { send, first } = await rigged(t, 'chat')
  const picture = '{"type":"image_url","image_url":{"url":"gs://bucket/x.png","url":"https://a.example/"}}'
  t.equal((await send('chat', `{"model":"acme/one","messages":${turn(picture)}}`)).status, 400)
  t.equal(first.calls.length, 0)
  const responses = await rigged(t, 'responses')
  const tool = '{"type":"file_search","vector_store_ids":["vs_1"],"vector_store_ids":[]}'
  const body = `{"model":"acme/one","input":"x","tools":[${tool}]}`
  t.equal((await responses.send('responses', body)).status, 400)
  t.equal(responses.first.calls.length, 0)
})

/** A tool of the caller for parsers that take the last `type`, or heed its case, and the provider's for others. */
const TOOLS: readonly (readonly [Dialect, string, string])[] = [
  ['chat', '{"type":"web_search","type":"function","function":{"name":"f"}}', 'type'],
  ['chat', '{"type":"function","Type":"web_search","function":{"name":"f"}}', 'Type'],
  ['responses', '{"type":"web_search","type":"function","name":"f","parameters":{}}', 'type'],
  ['responses', '{"type":"shell","environment":{"type":"auto","type":"local"}}', 'environment/type'],
  [
    'responses',
    '{"type":"namespace","name":"n","tools":[{"type":"mcp","type":"function","name":"f"}]}',
    'tools/0/type',
  ],
  ['messages', '{"type":"web_search_20250305","type":"custom","name":"f","input_schema":{}}', 'type'],
  ['messages', '{"type":"custom","name":"f","input_schema":{},"TYPE":"web_search_20250305"}', 'TYPE'],
]
for (const [dialect, tool, path] of TOOLS)
  t.test(`${dialect} 400: under a finite limit refuses the tool ${tool}`, async (t) => {
    const { send, first } = await rigged(t, dialect, LIMITED)
    const body = TWICE[dialect].replace(/\[\{"role".*\]/, `[{"role":"user","content":"x"}],"tools":[${tool}]`)
    const refused = await send(dialect, body)
    t.equal(refused.status, 400)
    t.match(await refused.json(), { error: { metadata: { issues: [{ path: `/tools/0/${path}` }] } } })
    t.equal(first.calls.length, 0)
  })

t.test('chat 200: a free model accepts an ambiguous body under a limit', async (t) => {
  const { send } = await rigged(t, 'chat', LIMITED)
  t.equal((await send('chat', TWICE.chat.replace('acme/one', 'sluice/echo-1'))).status, 200)
})

t.test('chat 400: refuses a body above 256 KiB for a member name in another case', async (t) => {
  const { send, first } = await rigged(t, 'chat', LIMITED)
  const part = (text: string): string => `{"type":"text","text":"${text}"}`
  const parts = [part('x'.repeat(400_000)), '{"type":"text","text":"x","ty\\u0050e":"image_url"}']
  const body = `{"model":"acme/one","messages":[{"role":"user","content":[${parts.join()}]}]}`
  t.match(await (await send('chat', body)).json(), {
    error: { metadata: { error_type: 'body_invalid', issues: [{ path: '/messages/0/content/1/tyPe' }] } },
  })
  t.equal(first.calls.length, 0)
})

t.test('chat 400: names the correct spelling of a misspelled member', async (t) => {
  const { send } = await rigged(t, 'chat')
  const refused = await send('chat', { N: 1 })
  t.equal(refused.status, 400)
  t.match(await refused.json(), {
    error: {
      message: /`n`/,
      type: 'body_invalid',
      param: 'N',
      metadata: {
        issues: [{ path: '/N', message: 'differs from `n` only in upper and lower case', expected: '`n`' }],
      },
    },
  })
})

for (const [from, to] of PAIRS)
  t.test(`${from} 200: a lone surrogate is sent to ${to} as U+FFFD`, async (t) => {
    const { send, first } = await rigged(t, to)
    const turn = '{"role":"user","content":"half \\ud83d of it"}'
    const body = TWICE[from].replace(/\[\{"role".*\]/, `[${turn}]`)
    const response = await send(from, body)
    t.equal(response.status, 200, await response.text())
    const sent = String(first.calls[0]?.body)
    t.match(sent, /"half (\ufffd|\\ufffd) of it"/)
  })
