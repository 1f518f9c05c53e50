/** Parts, blocks and items of types that Sluice does not know: what a call with them may cost at most. */
import t from 'tap'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const filesOf = (dialect: Dialect, part: object): number => {
  const messages = [{ role: 'user', content: [part] }]
  const body =
    dialect === 'responses' ? { model: 'm', input: messages } : { model: 'm', max_tokens: 5, messages }
  return keptChat(JSON.stringify(body), { dialect }).digest.size.media.file
}
const DIALECTS = ['chat', 'responses', 'messages'] as const

t.test('an unknown part that refers to a file or an address counts as a document', async (t) => {
  const named = [
    { type: 'image', image: 'https://a.example/' },
    { type: 'picture', x: [{ y: 'data:image/png;base64,AAAA' }] },
    { type: 'clip', clip: { id: 'file-abc' } },
    { type: 'clip', clip: 's3://bucket/x' },
    { type: 'clip', clip: ['gs://bucket/x'] },
  ]
  for (const dialect of DIALECTS)
    for (const part of named)
      if (dialect !== 'messages' || part.type !== 'image')
        t.equal(filesOf(dialect, part), 1, `${dialect} ${JSON.stringify(part)}`)
})

t.test('an unknown part that refers to nothing counts by its bytes', async (t) => {
  const plain = [
    { type: 'note', note: 'see https://a.example/ and data: of it' },
    { type: 'note', note: { id: 'n_1', file: 'report' } },
    { type: 'note', deep: [[{ x: 1 }], null, true] },
  ]
  for (const dialect of DIALECTS)
    for (const part of plain) t.equal(filesOf(dialect, part), 0, `${dialect} ${JSON.stringify(part)}`)
})

t.test('texts, and calls and results of tools, count by their bytes, whatever they contain', async (t) => {
  t.equal(filesOf('chat', { type: 'text', text: 'https://a.example/' }), 0)
  t.equal(filesOf('responses', { type: 'input_text', text: 'https://a.example/' }), 0)
  t.equal(
    filesOf('messages', { type: 'tool_use', id: 't', name: 'f', input: { url: 'https://a.example/' } }),
    0,
  )
  const result = { type: 'web_search_result', url: 'https://a.example/', title: 'x' }
  const block = { type: 'web_search_tool_result', tool_use_id: 't', content: [result] }
  t.equal(filesOf('messages', block), 0)
  const search = {
    type: 'web_search_call',
    id: 'ws_1',
    action: { type: 'open_page', url: 'https://a.example/' },
  }
  const body = JSON.stringify({ model: 'm', input: [search, { role: 'user', content: 'x' }] })
  t.equal(keptChat(body, { dialect: 'responses' }).digest.size.media.file, 0)
})

t.test('pictures next to the content of a chat message count as pictures', async (t) => {
  const turn = {
    role: 'assistant',
    content: 'x',
    images: [{ type: 'image_url', image_url: { url: 'https://a.example/' } }, 'AAAA'],
  }
  const { digest } = keptChat(JSON.stringify({ model: 'm', messages: [turn] }))
  t.equal(digest.size.media.image, 2)
})

t.test('pictures next to the content that are objects, or in an object, count as pictures', async (t) => {
  const url = 'https://a.example/'
  const counted = (images: unknown, role = 'user'): object => {
    const turns = [{ role, content: 'x', images }]
    return keptChat(JSON.stringify({ model: 'm', messages: turns })).digest.size.media
  }
  const part = { type: 'image_url', image_url: { url } }
  for (const images of [part, { first: { url } }, { 0: 'AAAA' }, [{ image_url: { url } }], 'AAAA', url])
    t.match(counted(images), { image: 1, file: 0 }, JSON.stringify(images))
  const pdf = { type: 'image_url', image_url: { url: 'data:application/pdf;base64,AAAA' } }
  t.match(counted([pdf]), { image: 0, file: 1 })
  t.match(counted(null), { image: 0, file: 0 })
  t.match(counted([]), { image: 0, file: 0 })
})

t.test('counts media in parts of reasoning and text, and next to the content of a turn', async (t) => {
  const url = 'https://a.example/'
  const image = { type: 'image_url', image_url: { url } }
  const mediaOf = (dialect: Dialect, turn: object): { readonly image: number; readonly file: number } => {
    const turns = [turn, { role: 'user', content: 'x' }]
    const body =
      dialect === 'responses' ? { model: 'm', input: turns } : { model: 'm', max_tokens: 5, messages: turns }
    return keptChat(JSON.stringify(body), { dialect }).digest.size.media
  }
  const thinks = (part: object): object => ({ role: 'assistant', content: [part] })
  t.match(mediaOf('chat', thinks({ type: 'thinking', thinking: [image] })), { image: 1, file: 0 })
  t.match(mediaOf('chat', thinks({ type: 'reasoning', reasoning: [image] })), { image: 1, file: 0 })
  const input = { type: 'input_image', image_url: url }
  for (const name of ['summary', 'content'])
    t.match(mediaOf('responses', { type: 'reasoning', id: 'rs_1', summary: [], [name]: [input] }), {
      image: 1,
    })

  const held: readonly (readonly [Dialect, object])[] = [
    ['chat', thinks({ type: 'thinking', thinking: 'x', image_url: { url } })],
    ['chat', thinks({ type: 'text', text: 'x', image_url: url })],
    ['chat', thinks({ type: 'thinking', thinking: { image_url: { url } } })],
    ['chat', thinks({ type: 'text', text: 'x', thinking: [{ url }] })],
    [
      'chat',
      {
        role: 'assistant',
        content: 'x',
        reasoning_details: [{ type: 'reasoning.text', image_url: { url } }],
      },
    ],
    ['chat', { role: 'user', content: 'x', attachments: [{ contentType: 'image/png', url }] }],
    ['chat', { role: 'assistant', content: 'x', audio: { data: 'data:audio/wav;base64,AAAA' } }],
    ['responses', { type: 'reasoning', summary: [{ type: 'summary_text', text: 'x', image_url: url }] }],
    ['responses', { role: 'user', content: 'x', images: [url] }],
    ['messages', thinks({ type: 'thinking', thinking: 'x', signature: 's', image_url: { url } })],
    ['messages', { role: 'user', content: 'x', images: [url] }],
  ]
  for (const [dialect, turn] of held) t.equal(mediaOf(dialect, turn).file, 1, JSON.stringify(turn))

  const plain: readonly (readonly [Dialect, object])[] = [
    ['chat', { role: 'assistant', content: url, reasoning: url, name: 'file_search' }],
    ['chat', { role: 'tool', tool_call_id: 'file_read_1', content: url }],
    [
      'chat',
      thinks({ type: 'text', text: url, annotations: [{ type: 'url_citation', url_citation: { url } }] }),
    ],
    ['chat', thinks({ type: 'thinking', thinking: [{ type: 'text', text: url }] })],
    [
      'chat',
      {
        role: 'assistant',
        reasoning_details: [{ type: 'reasoning.text', text: url, id: 'file_1' }],
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: url } }],
      },
    ],
    ['responses', { type: 'web_search_call', id: 'ws_1', action: { type: 'open_page', url } }],
    ['responses', { type: 'function_call_output', call_id: 'file_1', output: url }],
    ['responses', { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: url }] }],
    ['messages', thinks({ type: 'text', text: url, citations: [{ url }] })],
    ['messages', thinks({ type: 'thinking', thinking: url, signature: 's' })],
  ]
  for (const [dialect, turn] of plain)
    t.match(mediaOf(dialect, turn), { image: 0, file: 0 }, JSON.stringify(turn))
})
