import fc from 'fast-check'
import t from 'tap'
import { chatInputOf } from '../../src/dialects/chat/digest.ts'
import type { ChatBody } from '../../src/schemas/inference/chat.ts'
import {
  PAGE_BYTES_ESTIMATED,
  PAGE_TOKENS_ESTIMATED,
  PAGES_BY_ADDRESS_ESTIMATED,
  PICTURE_TOKENS_ESTIMATED,
  SMALL_PICTURE_TOKENS_ESTIMATED,
  SOUND_BY_ADDRESS_TOKENS_ESTIMATED,
  SOUND_BYTES_PER_TOKEN,
  VIDEO_BY_ADDRESS_TOKENS_ESTIMATED,
  VIDEO_BYTES_PER_TOKEN,
} from '../../src/schemas/inference/token-limits.ts'
import { must } from '../support/must.ts'

const BYTES = 1_000
const of = (more: Partial<ChatBody>) => {
  const made = chatInputOf({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more }, BYTES)
  if (!made.ok) throw new Error('refused')
  return made.value
}

t.test('counts the same number of words as a regular expression that matches each word', async (t) => {
  const text = fc.string({
    unit: fc.constantFrom(
      'a',
      'ü',
      '😀',
      ' ',
      '\n',
      '\t',
      '\u00a0',
      '\u2028',
      '\u200b',
      '\u3000',
      '\x1f',
      '\x0b',
    ),
  })
  fc.assert(
    fc.property(fc.array(text), (texts) => {
      const messages = texts.map((content) => ({ role: 'user' as const, content }))
      const words = texts.reduce((sum, one) => sum + (one.match(/\S+/g)?.length ?? 0), 0)
      return of({ messages }).promptWords === words
    }),
    { numRuns: 500 },
  )
  t.end()
})

t.test('the last text is the text of the last user message, with each part on a separate line', async (t) => {
  const parts = [
    { type: 'text' as const, text: 'one' },
    { type: 'image_url', image_url: {} },
    { type: 'text' as const, text: 'two' },
  ]
  const messages = [
    { role: 'user' as const, content: 'before' },
    { role: 'user' as const, content: parts },
    { role: 'assistant' as const, content: null },
    { role: 'tool' as const, content: 'a result', tool_call_id: 'x' },
  ]
  t.match(of({ messages }), { last: 'one\ntwo', promptWords: 5 })
  t.equal(of({ messages: [{ role: 'system', content: 'x' }] }).last, '')
})

t.test('members that are null count as missing', async (t) => {
  const nulls = Object.fromEntries(
    [
      'stream',
      'stream_options',
      'n',
      'stop',
      'max_tokens',
      'reasoning',
      'tools',
      'tool_choice',
      'response_format',
    ].map((name) => [name, null]),
  )
  t.same(of(nulls), of({}))
  t.match(of({ max_tokens: 3, max_completion_tokens: 2 }), { size: { tokensMax: 3 } })
  t.match(of({ reasoning: { effort: 'none' }, reasoning_effort: 'high' }), { isReasoning: false })
})

const refusalOf = (more: object) =>
  chatInputOf({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...more }, BYTES)

t.test('plugins and tools that run at OpenRouter are refused by name', async (t) => {
  const tool = { type: 'function', function: { name: 'f' } }
  for (const [more, path] of [
    [{ plugins: [{ id: 'web' }] }, '/plugins'],
    [{ tools: [tool, { type: 'openrouter:web_search' }] }, '/tools/1/type'],
    [{ stop_server_tools_when: {} }, '/stop_server_tools_when'],
  ] as const)
    t.match(refusalOf(more), {
      ok: false,
      failure: { name: 'not_supported', metadata: { issues: [{ path }] } },
    })
  for (const more of [
    { plugins: [] },
    { plugins: null },
    { tools: [tool, { type: 'web_search' }] },
    { stop_server_tools_when: null },
  ])
    t.ok(refusalOf(more).ok, JSON.stringify(more))
})

t.test('transforms, which have no effect, are reported as dropped', async (t) => {
  t.same(of({ transforms: ['middle-out'] }).dropped, ['transforms'])
  t.same([of({ transforms: [] }).dropped, of({ transforms: null }).dropped], [[], []])
})

t.test('the models, the provider preferences and the preset are kept for routing', async (t) => {
  const provider = { order: ['acme'] }
  t.match(of({ models: ['a/b'], provider, preset: 'p' }), { models: ['a/b'], provider, preset: 'p' })
  t.match(of({ models: null, provider: null, preset: null }), { models: [], provider: null, preset: null })
})

const sizeOf = (content: readonly object[], more: Partial<ChatBody> = {}) =>
  of({ ...more, messages: [{ role: 'user', content: content as [] }] }).size

t.test('media are counted by kind, and their base64 does not count as prompt', async (t) => {
  const data = 'A'.repeat(100)
  const url = (head: string) => `data:${head},${data}`
  const size = sizeOf([
    { type: 'image_url', image_url: { url: url('image/png;base64') } },
    { type: 'image_url', image_url: { url: 'https://a.example/b.png' } },
    { type: 'input_audio', input_audio: { data, format: 'wav' } },
    { type: 'video_url', video_url: { url: url('Video/mp4;codecs=x;BASE64') } },
    { type: 'input_video', video_url: { url: url('video/mp4;base64') } },
    { type: 'file', file: { file_data: url('application/pdf;base64') } },
    { type: 'text', text: url('image/png;base64') },
    { type: 'other', other: { url: url('image/png;base64') } },
  ])
  t.same(size.media, { image: 2, audio: 1, video: 2, file: 2 })
  t.equal(size.promptBytesMost, BYTES - 5 * data.length)
})

t.test('counts a picture URL that may hold longer content as a document', async (t) => {
  for (const url of [
    'data:application/pdf;base64,AAAA',
    'Data:video/mp4;base64,AAAA',
    'data:text/plain;base64,AAAA',
    'https://www.youtube.com/watch?v=x',
    'https://generativelanguage.googleapis.com/v1beta/files/x',
    'gs://films/x',
    'file_1',
  ])
    for (const image_url of [url, { url }])
      t.match(sizeOf([{ type: 'image_url', image_url }]).media, { image: 0, file: 1 }, url)
})

t.test('counts a part in full when a provider may read it as text', async (t) => {
  const data = 'A'.repeat(100)
  for (const part of [
    { type: 'file', file: { file_data: `data:text/plain;base64,${data}` } },
    { type: 'file', file: { file_data: `data:application/json;base64,${data}` } },
    { type: 'file', file: { file_data: data } },
    { type: 'input_audio', input_audio: { data: `data:text/plain;base64,${data}` } },
    { type: 'image_url', image_url: { url: `data:image/svg+xml,${data}` } },
    { type: 'image_url', image_url: { url: `https://a.example/;base64,${data}` } },
    { type: 'image_url', image_url: null },
    { type: 'input_audio', input_audio: { data: 7 } },
  ])
    t.equal(sizeOf([part]).promptBytesMost, BYTES, JSON.stringify(part))
  t.equal(sizeOf([{ type: 'input_audio', input_audio: { data: 'A'.repeat(2 * BYTES) } }]).promptBytesMost, 0)
})

t.test('an estimate counts media by kind and size, and texts by their decoded length', async (t) => {
  const url = (type: string, bytes: number): string =>
    `data:${type};base64,${'A'.repeat(Math.ceil(bytes / 3) * 4)}`
  const file = (file_data: string): object => ({ type: 'file', file: { file_data } })
  const audio = (data: string): object => ({ type: 'input_audio', input_audio: { data } })
  const video = (data: string): object => ({ type: 'video_url', video_url: { url: data } })
  const address = 'https://a.example/x'
  const cases: readonly (readonly [object, number, number?])[] = [
    [{ type: 'image_url', image_url: { url: address } }, PICTURE_TOKENS_ESTIMATED],
    [
      { type: 'image_url', image_url: { url: url('image/png', 300), detail: 'low' } },
      SMALL_PICTURE_TOKENS_ESTIMATED,
      400,
    ],
    [{ type: 'image_url', image_url: { url: url('application/pdf', 300) } }, PAGE_TOKENS_ESTIMATED, 400],
    [{ type: 'image_url', image_url: { url: url('video/mp4', 2_400) } }, 3, 3_200],
    [file(url('application/pdf', PAGE_BYTES_ESTIMATED - 200)), PAGE_TOKENS_ESTIMATED, 68_000],
    [file(url('application/pdf', PAGE_BYTES_ESTIMATED + 100)), 2 * PAGE_TOKENS_ESTIMATED, 68_400],
    [file(address), PAGES_BY_ADDRESS_ESTIMATED * PAGE_TOKENS_ESTIMATED],
    [{ type: 'file', file: { file_id: 'file_1' } }, 15_000],
    [file('A'.repeat(400)), 1_500, 400],
    // A text has its own bytes, in base64 and without.
    [file(url('text/plain', 300)), 0, 100],
    [file(`data:text/plain,${'a'.repeat(300)}`), 0],
    [audio('A'.repeat(4_000)), 3_000 / SOUND_BYTES_PER_TOKEN, 4_000],
    [audio(address), SOUND_BY_ADDRESS_TOKENS_ESTIMATED],
    [video(url('video/mp4', 2_400)), 2_400 / VIDEO_BYTES_PER_TOKEN, 3_200],
    [video(address), VIDEO_BY_ADDRESS_TOKENS_ESTIMATED],
  ]
  for (const [part, mediaTokens, less = 0] of cases) {
    const label = JSON.stringify(part).slice(0, 100)
    const body = { model: 'm', messages: [{ role: 'user', content: [part] }] }
    const { text } = must(chatInputOf(body, 100_000, 10)).size
    t.same(text, { bytes: 100_000 - 10 - less, mediaTokens }, label)
  }
  const { size } = must(
    chatInputOf({ model: 'm', messages: [{ role: 'assistant', content: null, audio: { id: 'a' } }] }, 100),
  )
  t.same(size.text, { bytes: 100, mediaTokens: 1_000 }, 'a sound that the provider has stored')
})

t.test('a request turns reasoning on, turns it off, or leaves it to the model', async (t) => {
  const asks = (more: object): boolean | null => of(more).asksReasoning
  t.same(asks({}), null)
  t.same(asks({ reasoning: { exclude: true } }), null, 'what is not shown is thought too')
  for (const more of [
    { reasoning_effort: 'low' },
    { reasoning: { effort: 'high', exclude: true } },
    { reasoning: { enabled: true } },
    { reasoning: { max_tokens: 1_000 } },
  ])
    t.same(asks(more), true, JSON.stringify(more))
  for (const more of [
    { reasoning_effort: 'none' },
    { reasoning: { effort: 'none' } },
    { reasoning: { enabled: false } },
  ])
    t.same(asks(more), false, JSON.stringify(more))
})

t.test('counts messages, tools and a format of the answer', async (t) => {
  const tool = { type: 'function' as const, function: { name: 'f' } }
  t.match(sizeOf([], { tools: [tool, tool], response_format: { type: 'json_object' } }), {
    messages: 1,
    tools: 2,
    hasFormat: true,
  })
  t.match(sizeOf([], { response_format: { type: 'text' } }), { tools: 0, hasFormat: false })
})

t.test('the larger of the two maxima of tokens bounds the cost', async (t) => {
  const of = (more: Partial<ChatBody>) => sizeOf([], more).tokensMax
  t.same([of({}), of({ max_tokens: 5 }), of({ max_completion_tokens: 7, max_tokens: null })], [null, 5, 7])
  t.same(
    [of({ max_tokens: 5, max_completion_tokens: 1 }), of({ max_tokens: 1, max_completion_tokens: 5 })],
    [5, 5],
  )
})

t.test('the effort of a request has a class, from its name or its token budget', async (t) => {
  const effort = (more: object): string | undefined => of(more).effort
  t.equal(effort({}), undefined)
  t.equal(effort({ reasoning_effort: 'low' }), 'low')
  t.equal(effort({ reasoning: { effort: 'xhigh' }, reasoning_effort: 'low' }), 'xhigh')
  t.equal(effort({ reasoning: { max_tokens: 1_024 } }), 'minimal')
  t.equal(effort({ reasoning: { max_tokens: 5_000 } }), 'medium')
  t.equal(effort({ reasoning: { effort: 'none' } }), undefined)
})
