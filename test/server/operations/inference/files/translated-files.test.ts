/**
 * Files that calls name, at providers that speak another form: the content that they get, and the refusals.
 */
import t from 'tap'
import { INLINE_FILE_BYTES_MAX } from '../../../../../src/schemas/inference/inference-limits.ts'
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { png } from '../../../../support/corpus/images.ts'
import { storedFile } from '../../../../support/files/files.ts'
import { AUTHORIZATION } from '../../../../support/front.ts'
import { answersChat, PROMPT_TOKENS, refusesChat } from '../../../../support/inference/fake-chat.ts'
import { answersMessages, strictMessages } from '../../../../support/inference/fake-messages.ts'
import { strictGemini } from '../../../../support/inference/gemini/fake-gemini.ts'
import type { FakeAnswer } from '../../../../support/inference/fake-provider.ts'
import { answersResponses } from '../../../../support/inference/fake-responses.ts'
import { MAKERS, TRANSLATED_PAIRS } from '../../../../support/inference/forms-facts.ts'
import { openInlineFiles, type InlineFilesFront } from '../../../../support/inference/inline-files.ts'
import { present } from '../../../../support/must.ts'
import type { TextProtocol } from '../../../../../src/schemas/models/protocols.ts'

t.setTimeout(600_000)

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
const FAKES: Readonly<Record<TextProtocol, () => FakeAnswer>> = {
  chat: () => answersChat(),
  responses: () => answersResponses(),
  messages: () => strictMessages(answersMessages()),
  gemini: () => strictGemini(),
}

const document = (dialect: Dialect, id: string): object => {
  if (dialect === 'chat') return { type: 'file', file: { file_id: id } }
  if (dialect === 'responses') return { type: 'input_file', file_id: id }
  return { type: 'document', source: { type: 'file', file_id: id } }
}
const picture = (dialect: Dialect, id: string): object => {
  if (dialect === 'chat') return { type: 'file', file: { file_id: id } }
  if (dialect === 'responses') return { type: 'input_image', file_id: id }
  return { type: 'image', source: { type: 'file', file_id: id } }
}

function asked(dialect: Dialect, content: readonly object[], more: object = {}): object {
  const turn = [{ role: 'user', content }]
  const body = dialect === 'responses' ? { input: turn } : { max_tokens: 9, messages: turn }
  return { ...body, model: 'acme/chat', ...more }
}

/** Both providers speak the protocol alone. */
async function rigged(
  test: Parameters<typeof openInlineFiles>[0],
  [dialect, protocol]: readonly [Dialect, TextProtocol],
  more: Parameters<typeof openInlineFiles>[2] = {},
): Promise<InlineFilesFront> {
  const maker = { protocol: MAKERS[protocol] }
  const facts = { speaks: [protocol] }
  const front = await openInlineFiles(test, dialect, {
    ...{ providers: maker, firstProvider: maker, firstFacts: facts, secondFacts: facts },
    ...more,
  })
  for (const provider of [front.first, front.second]) provider.usually(FAKES[protocol]())
  return front
}

/** A text with characters that JSON escapes. */
const TEXT = 'a,"b"\n\\ü\u2028,\t'
/** A content in base64 within the value of each member that has such. */
const base64s = (json: string): readonly string[] =>
  [...json.matchAll(/"(?:data:[\w/.+-]+;base64,)?([A-Za-z0-9+/]{16,}={0,2})"/g)].map(([, data = '']) => data)

for (const [from, to] of TRANSLATED_PAIRS)
  t.test(
    `${from} at a provider that speaks ${to}: sends the content instead of the id, with its length`,
    async (t) => {
      const { post, first, store, rest } = await rigged(t, [from, to])
      const [image, text] = [await store(png(), 'p.png'), await store(TEXT, 'a.csv')]
      for (const stream of [false, true]) {
        const response = await post(
          asked(from, [picture(from, image.id), document(from, text.id)], { stream }),
        )
        t.equal(response.status, 200, (await response.text()).slice(0, 300))
        const { body, headers } = present(first.calls.at(-1))
        t.equal(headers['content-length'], String(body.length))
        const json = body.toString()
        t.ok(base64s(json).includes(png().toString('base64')), 'the picture')
        const isText = to === 'chat' || to === 'messages'
        const sent = isText ? JSON.stringify(TEXT).slice(1, -1) : Buffer.from(TEXT).toString('base64')
        t.ok(json.includes(sent), 'the text')
        t.notMatch(json, /file_0/)
        t.doesNotThrow(() => JSON.parse(json) as unknown)
      }
      t.equal(await rest(), 0)
    },
  )

t.test('sends a file of the maximum size in a large request, and again to the next endpoint', async (t) => {
  const { post, first, second, store, rest } = await rigged(t, ['messages', 'chat'])
  const { id } = await store('z'.repeat(INLINE_FILE_BYTES_MAX), 'a.txt')
  first.script(refusesChat(529))
  const long = { type: 'text', text: `long ${'x'.repeat(300 * 1_024)}` }
  const response = await post(asked('messages', [long, document('messages', id)]))
  t.equal(response.headers.get('x-sluice-provider'), 'second', await response.text())
  const [one, other] = [present(first.calls[0]).body, present(second.calls[0]).body]
  t.ok(one.length > INLINE_FILE_BYTES_MAX)
  const renamed = Buffer.from(other.toString().replace('second-model', 'first-model'))
  t.ok(one.equals(renamed), 'the same bytes')
  t.equal(await rest(), 0)
})

t.test('Google counts the tokens of a prompt with a file', async (t) => {
  const { url, first, store } = await rigged(t, ['messages', 'gemini'])
  const { id } = await store(png(), 'p.png')
  const { max_tokens: _, ...prompt } = asked('messages', [picture('messages', id)]) as { max_tokens: number }
  const counted = await fetch(`${url}/api/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { authorization: AUTHORIZATION, 'content-type': 'application/json' },
    body: JSON.stringify(prompt),
  })
  t.same(await counted.json(), { input_tokens: PROMPT_TOKENS })
  t.ok(base64s(present(first.calls[0]).body.toString()).includes(png().toString('base64')))
})

t.test('a file that may not be sent is refused with its path, and nothing reaches a provider', async (t) => {
  const front = await rigged(t, ['chat', 'messages'])
  const { files, workspaceId, otherWorkspaceId } = front.stand
  const [word, sound, foreign, large] = await Promise.all([
    storedFile(files, workspaceId, { mimeType: WORD }),
    storedFile(files, workspaceId, { mimeType: 'audio/wav' }),
    storedFile(files, otherWorkspaceId, {}),
    storedFile(files, workspaceId, { sizeBytes: INLINE_FILE_BYTES_MAX + 1 }),
  ])
  const part = 'messages[0].content[0]'
  for (const [id, status, type, param] of [
    [word, 400, 'field_unsupported', part],
    [sound, 400, 'field_unsupported', part],
    ['file-of-a-provider', 400, 'stateless', `${part}.file.file_id`],
    [foreign, 404, 'file_unknown', `${part}.file.file_id`],
    [`file_${'0'.repeat(32)}`, 404, 'file_unknown', `${part}.file.file_id`],
    [large, 413, 'file_too_large', `${part}.file.file_id`],
  ] as const) {
    const response = await front.post(asked('chat', [document('chat', id)]))
    t.equal(response.status, status, id)
    t.match(await response.json(), { error: { metadata: { error_type: type }, param } }, id)
  }
  t.equal(front.first.calls.length + front.second.calls.length, 0)
  t.same(front.breakers(), [])
})

t.test('a refusal of the provider is returned without the content of a file', async (t) => {
  const { post, store, first, log, lines } = await rigged(t, ['messages', 'chat'])
  const { id } = await store('the quick brown fox jumps over the lazy dog', 'a.txt')
  first.script(refusesChat(400, { message: 'I cannot read: the quick brown fox jumps over', code: 'quick' }))
  const response = await post(asked('messages', [document('messages', id)]))
  t.equal(response.status, 400)
  t.notMatch([await response.text(), JSON.stringify(log.events), ...lines].join('\n'), /quick brown/)
})
