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

t.test('an unknown part that names a content counts as a document', async (t) => {
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

t.test('an unknown part that names nothing counts its bytes', async (t) => {
  const plain = [
    { type: 'note', note: 'see https://a.example/ and data: of it' },
    { type: 'note', note: { id: 'n_1', file: 'report' } },
    { type: 'note', deep: [[{ x: 1 }], null, true] },
  ]
  for (const dialect of DIALECTS)
    for (const part of plain) t.equal(filesOf(dialect, part), 0, `${dialect} ${JSON.stringify(part)}`)
})

t.test('texts and results of tools count their bytes, whatever they contain', async (t) => {
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

t.test('pictures beside the content of a chat message count as pictures', async (t) => {
  const turn = {
    role: 'assistant',
    content: 'x',
    images: [{ type: 'image_url', image_url: { url: 'https://a.example/' } }, 'AAAA'],
  }
  const { digest } = keptChat(JSON.stringify({ model: 'm', messages: [turn] }))
  t.equal(digest.size.media.image, 2)
})
