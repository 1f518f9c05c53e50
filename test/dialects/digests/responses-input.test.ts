/** What is read of the body of a call of responses. */
import t from 'tap'
import type { TextInput, TextSize } from '../../../src/schemas/inference/text-request.ts'
import { keptChat } from '../../support/inference/kept-chat.ts'

const digestOf = (body: object): TextInput =>
  keptChat(JSON.stringify({ model: 'm', ...body }), { dialect: 'responses' }).digest
const sizeOf = (body: object): TextSize => digestOf(body).size
const bytesOf = (body: object): number => JSON.stringify({ model: 'm', ...body }).length
const user = (...content: readonly object[]): object => ({ role: 'user', content })

t.test('base64 of media does not count as text, at any depth', async (t) => {
  const data = 'A'.repeat(1_000)
  const png = `data:image/png;base64,${data}`
  const cases: readonly (readonly [object, object])[] = [
    [user({ type: 'input_image', image_url: png }), { image: 1 }],
    [user({ type: 'input_audio', input_audio: { data, format: 'wav' } }), { audio: 1 }],
    [user({ type: 'input_file', file_data: `data:application/pdf;base64,${data}` }), { file: 1 }],
    [user({ type: 'input_video', video_url: `data:video/mp4;base64,${data}` }), { video: 1 }],
    [
      { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: png }] },
      { image: 1 },
    ],
    [
      { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url: png } },
      { image: 1 },
    ],
    [{ type: 'image_generation_call', id: 'ig', result: data }, { image: 1 }],
  ]
  for (const [item, media] of cases) {
    const body = { input: [item] }
    const size = sizeOf(body)
    t.equal(size.promptBytesMost, bytesOf(body) - 1_000, JSON.stringify(media))
    t.match(size.media, media)
  }
  const text = { input: [user({ type: 'input_file', file_data: `data:text/plain;base64,${data}` })] }
  t.equal(sizeOf(text).promptBytesMost, bytesOf(text), 'a text file may be read as text')
})

t.test('an estimate counts media by kind, and a text by its decoded length', async (t) => {
  const data = 'A'.repeat(1_000)
  const png = `data:image/png;base64,${data}`
  const of = (item: object): TextSize['text'] & { readonly rest: number } => {
    const body = { input: [item] }
    const { text } = sizeOf(body)
    return { ...text, rest: bytesOf(body) - text.bytes }
  }
  t.match(of(user({ type: 'input_image', image_url: png })), { mediaTokens: 1_100, rest: 1_000 })
  t.match(of(user({ type: 'input_image', image_url: png, detail: 'low' })), { mediaTokens: 85 })
  t.match(of(user({ type: 'input_file', file_url: 'https://a.example/x.pdf' })), { mediaTokens: 15_000 })
  const output = [{ type: 'input_image', image_url: png }]
  t.match(of({ type: 'function_call_output', call_id: 'c', output }), { mediaTokens: 1_100, rest: 1_000 })
  t.match(of({ type: 'image_generation_call', id: 'ig', result: data }), { mediaTokens: 1_100, rest: 1_000 })
  const file = { type: 'input_file', file_data: `data:text/plain;base64,${data}` }
  t.match(of(user(file)), { mediaTokens: 0, rest: 250 })
  const escaped = '{"model":"m","input":"a\\u00e9\\u4e2d\\ud83d\\ude00\\n\\u0061"}'
  const decoded = Buffer.byteLength('{"model":"m","input":"aé中😀\na"}')
  t.equal(keptChat(escaped, { dialect: 'responses' }).digest.size.text.bytes, decoded)
})

t.test('the source of a picture counts as a document when it may be larger than a picture', async (t) => {
  const media = (part: object): object => sizeOf({ input: [user({ type: 'input_image', ...part })] }).media
  for (const image_url of ['data:application/pdf;base64,AAAA', 'https://youtu.be/x', 'gs://x/y'])
    t.match(media({ image_url }), { image: 0, file: 1 }, image_url)
  t.match(media({ image_url: 'https://x.example/a' }), { image: 1, file: 0 })
  t.match(media({ file_id: 'file_1' }), { image: 1, file: 0 })
})

t.test('counts the items, the tools and a format of the answer', async (t) => {
  t.match(sizeOf({ input: 'x', max_output_tokens: 9 }), {
    messages: 1,
    tools: 0,
    hasFormat: false,
    tokensMax: 9,
  })
  t.match(sizeOf({ input: [user(), user()], instructions: 'y' }), { messages: 3, tokensMax: null })
  t.match(sizeOf({ input: 'x', text: { format: { type: 'json_schema' } } }), { hasFormat: true })
  t.match(sizeOf({ input: 'x', text: { format: { type: 'text' } }, tools: [] }), { hasFormat: false })
})

t.test('gives the path of the member that uses or requests stored state', async (t) => {
  const path = (body: object): unknown => digestOf({ input: 'x', ...body }).statePath
  t.equal(path({ store: false, background: null, previous_response_id: null }), undefined)
  t.equal(path({ input: [{ type: 'item_reference', id: 'rs_1' }] }), undefined)
  t.equal(path({ input: [user(), { type: 'item_reference', id: 'fc_1' }] }), '/input/1')
  t.equal(path({ store: true, previous_response_id: 'resp_1' }), '/store')
  t.ok(sizeOf({ input: 'x', previous_response_id: 'resp_1' }).hasStored)
  t.ok(sizeOf({ input: [{ type: 'item_reference', id: 'rs_1' }] }).hasStored)
  t.notOk(sizeOf({ input: 'x', store: true }).hasStored)
})

t.test('reads the last text of the user, and counts the words of all texts', async (t) => {
  const input = [user({ type: 'input_text', text: 'a b' }), { role: 'assistant', content: 'c' }]
  t.match(digestOf({ input, instructions: 'd e f' }), { last: 'a b', promptWords: 6, dialect: 'responses' })
  t.match(digestOf({ input: 'x', transforms: ['y'], reasoning: { effort: 'low' } }), {
    dropped: ['transforms'],
    isReasoning: true,
  })
})
