/** The fake Gemini answers as Google does, and refuses what Google refuses. */
import t, { type Test } from 'tap'
import { GeminiPartStream, geminiPaths } from '../../../../src/dialects/gemini/parts.ts'
import { answersGemini, geminiErrorEvent, geminiEvents, strictGemini } from './fake-gemini.ts'
import { startFakeProvider } from '../fake-provider.ts'
import { streams } from '../fake-stream.ts'
import { wrongGemini } from './gemini-rules.ts'
import { failuresOfEvents } from '../../../../src/server/upstream/provider-failure.ts'

const { whole, streamed, count } = geminiPaths('gemini-3.1-pro')
const HI = { role: 'user', parts: [{ text: 'Hi' }] }
const CALL = { functionCall: { name: 'f', args: {} } }
const SIGNED = { ...CALL, thoughtSignature: 'skip_thought_signature_validator' }
const RESPONSE = { functionResponse: { name: 'f', response: { output: '' } } }
const model = (...parts: readonly object[]) => ({ role: 'model', parts })
const user = (...parts: readonly object[]) => ({ role: 'user', parts })
const turns = (...contents: readonly object[]) => ({ contents })
const config = (generationConfig: object) => ({ contents: [HI], generationConfig })
const tools = (functionCallingConfig: object, ...names: readonly string[]) => ({
  contents: [HI],
  tools: [{ functionDeclarations: names.map((name) => ({ name })) }],
  toolConfig: { functionCallingConfig },
})

const WRONG: readonly (readonly [object, RegExp])[] = [
  [{ contents: [HI], seed: 1 }, /^Invalid JSON payload received\. Unknown name "seed": Cannot find field\.$/],
  [turns(user({ text: 'a', cache: 1 })), /Unknown name "cache" at 'contents\[0\]\.parts\[0\]'/],
  [{ contents: [HI], generationConfig: { top_a: 1 } }, /Unknown name "top_a" at 'generationConfig'/],
  [{}, /contents is not specified/],
  [turns(), /contents is not specified/],
  [turns({ role: 'assistant', parts: [{ text: 'a' }] }), /valid role/],
  [turns(HI, HI), /alternate/],
  [turns(user()), /must not be empty/],
  [turns(user({ text: '' })), /one initialized field/],
  [turns(user({ text: 'a', inlineData: { mimeType: 'image/png', data: '' } })), /one initialized field/],
  [turns(user({ inlineData: { mimeType: 'image/png', data: 'not base64' } })), /Base64/],
  [turns(user({ inlineData: { mimeType: 'png', data: '' } })), /MIME/],
  [turns(user(CALL)), /made by the model/],
  [turns(HI, model(RESPONSE)), /given by the user/],
  [turns(model(SIGNED), user(RESPONSE)), /immediately after a user turn/],
  [turns(user(RESPONSE)), /immediately after a function call/],
  [turns(HI, model(SIGNED), user({ text: 'a' })), /number of function response parts/],
  [turns(HI, model(SIGNED), user(RESPONSE, RESPONSE)), /number of function response parts/],
  [turns(HI, model({ functionCall: { name: 'g', args: {} } }), user(RESPONSE)), /have the names/],
  [turns(HI, model({ functionCall: { name: 'f', args: '{}' } }), user(RESPONSE)), /Struct/],
  [turns(HI, model(CALL), user(RESPONSE)), /missing a `thought_signature`/],
  [turns(HI, model({ ...CALL, thoughtSignature: 'AAAA' }), user(RESPONSE)), /not valid/],
  [config({ temperature: 3 }), /temperature/],
  [config({ seed: 2 ** 31 }), /seed/],
  [config({ stopSequences: ['a', 'b', 'c', 'd', 'e', 'f'] }), /stop sequences/],
  [config({ responseJsonSchema: {} }), /mime type/],
  [config({ thinkingConfig: { thinkingLevel: 'LOW', thinkingBudget: 1 } }), /only one/],
  [config({ thinkingConfig: { thinkingLevel: 'MINIMAL' } }), /MINIMAL is not supported/],
  [tools({ mode: 'auto' }, 'f'), /mode/],
  [tools({ mode: 'AUTO' }), /without function_declarations/],
  [tools({ mode: 'AUTO', allowedFunctionNames: ['f'] }, 'f'), /mode is ANY/],
  [tools({ mode: 'ANY', allowedFunctionNames: ['g'] }, 'f'), /undeclared/],
  [tools({ mode: 'ANY' }, 'f', 'f'), /Duplicate/],
  [tools({ mode: 'ANY' }, '1f'), /Invalid function name/],
]

t.test('a request that Google refuses is refused with the same message', async (t) => {
  for (const [body, message] of WRONG)
    t.match(wrongGemini(body as Record<string, unknown>, whole, new Map()), message, JSON.stringify(body))
  const right = [
    turns(HI),
    turns(HI, model(SIGNED, CALL), user(RESPONSE, RESPONSE), model({ text: 'a' }), HI),
  ]
  for (const body of right) t.equal(wrongGemini(body, whole, new Map()), null)
})

async function open(t: Test, usual = strictGemini()) {
  const provider = await startFakeProvider(usual)
  t.teardown(() => provider.close())
  const ask = (path: string, body: object, key = 'k') =>
    fetch(provider.origin + path, {
      method: 'POST',
      headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  return { provider, ask }
}

t.test('answers, streams and token counts are served at their paths', async (t) => {
  const { provider, ask } = await open(t)
  const body = (await (await ask(whole, turns(HI))).json()) as { candidates: [{ finishReason: string }] }
  t.equal(body.candidates[0].finishReason, 'STOP')
  const stream = new GeminiPartStream(failuresOfEvents({ credential: '', host: '' }))
  stream.read(Buffer.from(await (await ask(streamed, turns(HI))).arrayBuffer()))
  t.equal(stream.end(), null)
  t.match(stream.usage, { input: 9, output: 4 })
  const counted = { generateContentRequest: { model: 'models/gemini-3.1-pro', contents: [HI] } }
  t.same(await (await ask(count, counted)).json(), { totalTokens: 9 })
  t.equal(provider.calls[1]?.eventsSent, 5)
})

t.test('a refusal has the form of Google', async (t) => {
  const { ask } = await open(t)
  const refused = await ask(whole, { ...turns(HI), model: 'm' })
  t.equal(refused.status, 400)
  t.match(await refused.json(), {
    error: { code: 400, status: 'INVALID_ARGUMENT', message: /Unknown name "model"/ },
  })
})

t.test('a stream fails, is cut off or reports false usage as scripted', async (t) => {
  const { provider, ask } = await open(t, answersGemini())
  const events = geminiEvents({ usage: { promptTokenCount: -1 } })
  provider.script(
    streams([...events.slice(0, 1), geminiErrorEvent()]),
    streams(events, { cutAt: 40 }),
    streams(events),
  )
  const ends = []
  for (let nth = 0; nth < 3; nth++) {
    const stream = new GeminiPartStream(failuresOfEvents({ credential: '', host: '' }))
    stream.read(Buffer.from(await (await ask(streamed, turns(HI))).arrayBuffer()))
    ends.push([stream.end()?.name ?? 'whole', stream.hasOutput, stream.usage])
  }
  t.match(ends[0], ['upstream_failed', true])
  t.same(ends[1], ['upstream_failed', false, null])
  t.same(ends[2], ['whole', true, null])
})
