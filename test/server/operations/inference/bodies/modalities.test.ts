/** Media in a prompt, and outputs, that the catalogue's architecture of a model lacks. D6, D9. */
import t, { type Test } from 'tap'
import { memberPath } from '../../../../../src/schemas/issues.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { openChatProvider } from '../../../../support/inference/chat-provider-front.ts'
import { DIALECT_PATHS } from '../../../../support/inference/forms-facts.ts'

const PNG = 'iVBORw0KGgo='
const PICTURE = `data:image/png;base64,${PNG}`
const PDF = 'data:application/pdf;base64,JVBERi0='
const TEXT = { type: 'text', text: 'Hi' }

type Part = Readonly<Record<string, unknown>>

/** A prompt of each dialect with a part after a text, and the path of the part. */
const WITH: Readonly<Record<Dialect, (part: Part) => readonly [body: object, path: string]>> = {
  chat: (part) => [{ messages: [{ role: 'user', content: [TEXT, part] }] }, '/messages/0/content/1'],
  responses: (part) => [
    { input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }, part] }] },
    '/input/0/content/1',
  ],
  messages: (part) => [
    { max_tokens: 9, messages: [{ role: 'user', content: [TEXT, part] }] },
    '/messages/0/content/1',
  ],
}

const file = (data: string): Part => ({ type: 'file', file: { filename: 'a', file_data: data } })
const inputFile = (member: string, data: string): Part => ({
  type: 'input_file',
  filename: 'a',
  [member]: data,
})
const source = (type: string, source: object): Part => ({ type, source })
const base64 = (media_type: string, data = PNG): object => ({ type: 'base64', media_type, data })

const MEDIA: readonly (readonly [dialect: Dialect, modality: string, part: Part])[] = [
  ['chat', 'image', { type: 'image_url', image_url: { url: PICTURE } }],
  ['chat', 'image', { type: 'image_url', image_url: { url: 'https://example.org/a.png' } }],
  ['chat', 'file', { type: 'image_url', image_url: { url: PDF } }],
  ['chat', 'file', file(PDF)],
  ['chat', 'file', file('https://example.org/a.pdf')],
  ['chat', 'audio', { type: 'input_audio', input_audio: { data: PNG, format: 'wav' } }],
  ['chat', 'video', { type: 'video_url', video_url: { url: 'https://example.org/a.mp4' } }],
  ['responses', 'image', { type: 'input_image', image_url: PICTURE }],
  ['responses', 'file', inputFile('file_data', PDF)],
  ['responses', 'file', inputFile('file_url', 'https://example.org/a.pdf')],
  ['messages', 'image', source('image', base64('image/png'))],
  ['messages', 'image', source('image', { type: 'url', url: 'https://example.org/a.png' })],
  ['messages', 'file', source('document', base64('application/pdf'))],
  ['messages', 'file', source('document', { type: 'url', url: 'https://example.org/a.pdf' })],
]

interface Rig {
  readonly calls: () => number
  ask(dialect: Dialect, body: object, path?: string): Promise<Response>
}

async function rigged(t: Test, architecture: Part | null, speaks = ['chat']): Promise<Rig> {
  const front = await openChatProvider(t, {
    firstFacts: { speaks },
    secondFacts: { speaks },
    ...(architecture && { architecture }),
  })
  return {
    calls: () => front.first.calls.length + front.second.calls.length,
    ask: (dialect, body, path = DIALECT_PATHS[dialect]) =>
      fetch(`${front.url}/api/v1${path}`, {
        method: 'POST',
        headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/chat', ...body }),
      }),
  }
}

t.test('a medium that the model does not support gets 400 with its path in every dialect', async (t) => {
  for (const speaks of [['chat'], ['responses'], ['messages']]) {
    const { ask, calls } = await rigged(t, { input_modalities: ['text'] }, speaks)
    for (const [dialect, modality, part] of MEDIA) {
      const [body, path] = WITH[dialect](part)
      for (const stream of [false, true]) {
        const response = await ask(dialect, { ...body, stream })
        const message = new RegExp(
          `${path} is ${modality}, which the model does not support as input, expected text`,
        )
        t.equal(response.status, 400)
        t.match(await response.json(), {
          error: { message, metadata: { error_type: 'input_unsupported', issues: [{ path }] } },
        })
      }
    }
    t.equal(calls(), 0)
  }
})

t.test('the error for a medium in the result of a tool has the path of its part', async (t) => {
  const { ask } = await rigged(t, { input_modalities: ['text'] })
  const result = { type: 'tool_result', tool_use_id: 'c', content: [source('image', base64('image/png'))] }
  const [body, path] = WITH.messages(result)
  const messages = await ask('messages', body)
  t.match(await messages.json(), { error: { metadata: { issues: [{ path: `${path}/content/0` }] } } })
  const output = [{ type: 'input_image', image_url: PICTURE }]
  const responses = await ask('responses', {
    input: [{ type: 'function_call_output', call_id: 'c', output }],
  })
  t.match(await responses.json(), { error: { param: 'input[0].output[0]' } })
})

t.test('the media of a large prompt are checked too', async (t) => {
  const { ask } = await rigged(t, { input_modalities: ['text'] })
  const url = `data:image/png;base64,${'A'.repeat(400_000)}`
  const [body, path] = WITH.chat({ type: 'image_url', image_url: { url } })
  const response = await ask('chat', body)
  t.equal(response.status, 400)
  t.match(await response.json(), { error: { param: memberPath(path) } })
})

t.test('accepts listed modalities, text documents, and any modality if the model lists none', async (t) => {
  const picture = WITH.chat({ type: 'image_url', image_url: { url: PICTURE } })[0]
  for (const architecture of [
    null,
    { tokenizer: 'x' },
    { output_modalities: ['text'] },
    { input_modalities: ['text', 'image'] },
  ]) {
    const { ask } = await rigged(t, architecture)
    t.equal((await ask('chat', picture)).status, 200, JSON.stringify(architecture))
    t.equal((await ask('chat', { ...picture, modalities: ['text'] })).status, 200)
  }
  const { ask } = await rigged(t, { input_modalities: ['text'] })
  t.equal((await ask('chat', WITH.chat(file('data:text/plain;base64,SGk='))[0])).status, 200)
  const text = source('document', { type: 'text', media_type: 'text/plain', data: 'Hi' })
  t.equal((await ask('messages', WITH.messages(text)[0])).status, 200)
})

t.test('an output modality that the model does not support gets 400 with its path', async (t) => {
  const { ask, calls } = await rigged(t, { output_modalities: ['text'] })
  const hello = { messages: [{ role: 'user', content: 'Hi' }] }
  for (const modalities of [
    ['image', 'text'],
    ['text', 'image'],
  ]) {
    const path = `/modalities/${modalities.indexOf('image')}`
    const response = await ask('chat', { ...hello, modalities })
    t.equal(response.status, 400)
    t.match(await response.json(), {
      error: { metadata: { error_type: 'not_supported', issues: [{ path, expected: 'text' }] } },
    })
  }
  t.equal(calls(), 0)
  t.equal((await ask('chat', { ...hello, modalities: ['text'] })).status, 200)
  const writer = await rigged(t, { output_modalities: ['text', 'image'] })
  t.equal((await writer.ask('chat', { ...hello, modalities: ['text', 'image'] })).status, 200)
})

t.test('the built-in model reads and writes only text', async (t) => {
  const { ask } = await rigged(t, null)
  const [picture, param] = WITH.chat({ type: 'image_url', image_url: { url: PICTURE } })
  const echo = { model: 'sluice/echo-1', ...picture }
  t.match(await (await ask('chat', echo)).json(), { error: { code: 400, param: memberPath(param) } })
  const output = await ask('chat', {
    model: 'sluice/echo-1',
    messages: [{ role: 'user', content: 'Hi' }],
    modalities: ['image'],
  })
  t.match(await output.json(), { error: { code: 400, param: 'modalities[0]' } })
})

t.test('another model in `models` answers when the first one does not support the modality', async (t) => {
  const { ask } = await rigged(t, { input_modalities: ['text', 'image'] })
  const [picture] = WITH.chat({ type: 'image_url', image_url: { url: PICTURE } })
  const response = await ask('chat', { ...picture, model: 'sluice/echo-1', models: ['acme/chat'] })
  t.match(await response.json(), { model: 'acme/chat' })
})
