/** Contents that a request names, in the request as each protocol has it. */
import t from 'tap'
import { contentPlaces, type NamedContents } from '../../../src/dialects/prompt/inline-contents.ts'
import { translateRequest, type Translation } from '../../../src/dialects/translate.ts'
import type { Dialect } from '../../../src/schemas/inference/text-request.ts'
import { LAX } from '../../support/inference/bodies/translated.ts'
import { TRANSLATED_PAIRS } from '../../support/inference/forms-facts.ts'
import type { TextProtocol } from '../../../src/schemas/models/protocols.ts'

const MARK = '0123456789abcdef0123456789abcdef'
const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

const named = (mimeType: string, filename: string | null = 'a.bin'): NamedContents => ({
  mark: MARK,
  list: [{ name: 'file_a', mimeType, filename }],
})

/** A turn of the user with the parts, in each dialect. */
const turnOf = (dialect: Dialect, content: readonly object[]): object => {
  const turn = [{ role: 'user', content }]
  return dialect === 'responses' ? { model: 'm', input: turn } : { model: 'm', max_tokens: 9, messages: turn }
}
const PARTS: Readonly<Record<Dialect, object>> = {
  chat: { type: 'file', file: { file_id: 'file_a' } },
  responses: { type: 'input_file', file_id: 'file_a' },
  messages: { type: 'document', source: { type: 'file', file_id: 'file_a' } },
}
const PICTURES: Readonly<Record<Dialect, object>> = {
  chat: PARTS.chat,
  responses: { type: 'input_image', file_id: 'file_a' },
  messages: { type: 'image', source: { type: 'file', file_id: 'file_a' } },
}

const translatedTo = (
  [dialect, protocol]: readonly [Dialect, TextProtocol],
  body: object,
  contents: NamedContents,
): Translation =>
  translateRequest({ dialect, protocol, body: Buffer.from(JSON.stringify(body)), terms: LAX, contents })

/** The written request, with `<b0>` for the base64 of the first content and `<t0>` for its text. */
const filled = (translation: Translation): string => {
  if (!translation.ok) return JSON.stringify(translation.issues.map(({ path }) => path))
  const body = Buffer.from(translation.body)
  let [text, from] = ['', 0]
  for (const { start, end, nth, isText } of translation.places ?? []) {
    text += `${body.toString('utf8', from, start)}<${isText ? 't' : 'b'}${nth}>`
    from = end
  }
  return text + body.toString('utf8', from)
}

t.test('a PDF, a picture and a text are inlined in the member that each protocol has for them', async (t) => {
  const pdf: Readonly<Record<TextProtocol, string>> = {
    chat: '{"type":"file","file":{"filename":"a.bin","file_data":"data:application/pdf;base64,<b0>"}}',
    responses: '{"type":"input_file","filename":"a.bin","file_data":"data:application/pdf;base64,<b0>"}',
    messages: '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"<b0>"}}',
    gemini: '{"inlineData":{"mimeType":"application/pdf","data":"<b0>"}}',
  }
  const picture: Readonly<Record<TextProtocol, string>> = {
    chat: '{"type":"image_url","image_url":{"url":"data:image/png;base64,<b0>"}}',
    responses: '{"type":"input_image","image_url":"data:image/png;base64,<b0>","detail":"auto"}',
    messages: '{"type":"image","source":{"type":"base64","media_type":"image/png","data":"<b0>"}}',
    gemini: '{"inlineData":{"mimeType":"image/png","data":"<b0>"}}',
  }
  const text: Readonly<Record<TextProtocol, string>> = {
    chat: '{"role":"user","content":"<t0>"}',
    responses: '{"type":"input_file","filename":"a.bin","file_data":"data:text/csv;base64,<b0>"}',
    messages: '{"type":"document","source":{"type":"text","media_type":"text/plain","data":"<t0>"}}',
    gemini: '{"inlineData":{"mimeType":"text/csv","data":"<b0>"}}',
  }
  for (const [from, to] of TRANSLATED_PAIRS) {
    for (const [mimeType, parts, expected] of [
      ['application/pdf', PARTS, pdf],
      ['image/png', PICTURES, picture],
      ['text/csv', PARTS, text],
    ] as const) {
      const written = translatedTo([from, to], turnOf(from, [parts[from]]), named(mimeType))
      t.ok(filled(written).includes(expected[to]), `${from} ${to} ${mimeType}: ${filled(written)}`)
      t.ok(written.ok && !written.dropped.includes('filename'), 'a name that was not given is not missed')
    }
  }
})

t.test('audio in a chat is a separate part, and the file name of the caller takes precedence', async (t) => {
  const sound = translatedTo(['chat', 'gemini'], turnOf('chat', [PARTS.chat]), named('audio/mpeg'))
  t.match(filled(sound), '{"inlineData":{"mimeType":"audio/mpeg","data":"<b0>"}}')
  const own = { type: 'file', file: { file_id: 'file_a', filename: 'own.pdf' } }
  const called = translatedTo(['chat', 'responses'], turnOf('chat', [own]), named('application/pdf'))
  t.match(filled(called), '"filename":"own.pdf"')
  const titled = translatedTo(['chat', 'messages'], turnOf('chat', [own]), named('application/pdf'))
  t.match(filled(titled), '"title":"own.pdf"')
})

t.test('refuses an address that equals a file id, and a file id that is an address', async (t) => {
  const url = 'https://a.example/b'
  const list = [
    { name: 'file_a', mimeType: 'text/csv', filename: null },
    { name: url, mimeType: 'application/pdf', filename: null },
  ]
  const parts = [
    { type: 'image', source: { type: 'url', url: 'file_a' } },
    { type: 'image', source: { type: 'file', file_id: url } },
  ]
  const written = translatedTo(['messages', 'gemini'], turnOf('messages', [parts[0] ?? {}]), {
    mark: MARK,
    list,
  })
  t.notOk(written.ok)
  const other = translatedTo(['messages', 'gemini'], turnOf('messages', [parts[1] ?? {}]), {
    mark: MARK,
    list,
  })
  t.notOk(other.ok)
})

t.test('finds the places of a file in a tool result, and of a file that occurs twice', async (t) => {
  const body = {
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: [PARTS.messages] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: [PARTS.messages] }] },
    ],
  }
  for (const protocol of ['chat', 'responses', 'gemini'] as const) {
    const written = filled(translatedTo(['messages', protocol], body, named('application/pdf')))
    t.equal(written.split('<b0>').length, 3, written)
  }
})

t.test('a type that a protocol lacks, and an id without a file, are refused with their paths', async (t) => {
  const path = JSON.stringify(['/messages/0/content/0'])
  const asked = turnOf('chat', [PARTS.chat])
  t.equal(filled(translatedTo(['chat', 'messages'], asked, named(WORD))), path)
  t.equal(filled(translatedTo(['chat', 'gemini'], asked, named(WORD))), path)
  t.match(filled(translatedTo(['chat', 'responses'], asked, named(WORD))), '<b0>')
  t.equal(filled(translatedTo(['chat', 'gemini'], asked, named('image/gif'))), path)
  for (const protocol of ['responses', 'messages'] as const)
    t.equal(filled(translatedTo(['chat', protocol], asked, named('audio/wav'))), path)
  const other = turnOf('chat', [{ type: 'file', file: { file_id: 'file-of-a-provider' } }])
  for (const protocol of ['responses', 'messages', 'gemini'] as const)
    t.equal(filled(translatedTo(['chat', protocol], other, named('application/pdf'))), path)
})

t.test('a text of the caller that looks like a mark is not replaced', async (t) => {
  const hostile = [{ type: 'text', text: 'b00 t00 \\u0030 {"mark":"b00"}' }, PARTS.chat]
  const written = translatedTo(['chat', 'responses'], turnOf('chat', hostile), named('application/pdf'))
  t.equal(written.ok && written.places?.length, 1)
})

t.test('finds marks at both ends of a request, and next to each other', async (t) => {
  const standing = `${MARK}b07`
  const json = Buffer.from(`${standing}${MARK}t12ü${standing}`)
  const places = contentPlaces(json, { mark: MARK, list: [] })
  t.same(places, [
    { start: 0, end: 35, nth: 7, isText: false },
    { start: 35, end: 70, nth: 12, isText: true },
    { start: 72, end: 107, nth: 7, isText: false },
  ])
})
