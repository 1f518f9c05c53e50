import t from 'tap'
import { ECHO_UNITS_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { countInputOf, messagesInputOf } from '../../../src/dialects/messages/digest.ts'
import type { TextInput } from '../../../src/schemas/inference/text-request.ts'
import { must } from '../../support/must.ts'

const BASE = { model: 'm', max_tokens: 5, messages: [{ role: 'user', content: 'Hello there' }] }
const inputOf = (more: object, bytes = 1_000): TextInput => must(messagesInputOf({ ...BASE, ...more }, bytes))
const sizeOf = (content: unknown, more: object = {}): TextInput['size'] =>
  inputOf({ messages: [{ role: 'user', content }], ...more }).size
const data = 'A'.repeat(100)
const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }

t.test('reads the members that it uses, with their defaults', (t) => {
  t.match(inputOf({}), {
    ...{ dialect: 'messages', model: 'm', isStream: false, choices: 1, stops: [], isReasoning: false },
    ...{ tool: null, hasTool: false, form: 'text', sessionId: null, promptWords: 2, last: 'Hello there' },
    ...{ models: [], provider: null, preset: null, dropped: [] },
    size: { promptBytesMost: 1_000, messages: 1, tools: 0, hasFormat: false, tokensMax: 5 },
  })
  const tools = [{ name: 'f', input_schema: {} }]
  t.match(
    inputOf({
      ...{ stream: true, tools, tool_choice: { type: 'tool', name: 'f' }, thinking: { type: 'adaptive' } },
      ...{ output_config: { format: { type: 'json_schema' } }, session_id: 's', models: ['n'] },
      ...{ stop_sequences: ['x', 'y'.repeat(ECHO_UNITS_MAX + 1)], transforms: ['t'], system: 'Be brief.' },
    }),
    {
      ...{ isStream: true, tool: 'f', hasTool: true, isReasoning: true, form: 'json_schema', stops: ['x'] },
      ...{ sessionId: 's', models: ['n'], dropped: ['transforms'], promptWords: 4 },
      size: { tools: 1, hasFormat: true },
    },
  )
  t.equal(inputOf({ thinking: { type: 'disabled' } }).isReasoning, false)
  t.equal(inputOf({ output_format: { type: 'json_schema' } }).size.hasFormat, true)
  t.equal(inputOf({ tool_choice: { type: 'any' } }).tool, null)
  t.end()
})

t.test('`max_tokens` is required, unless a preset may contain it', (t) => {
  const lacking = { ...BASE, max_tokens: null }
  t.match(messagesInputOf(lacking, 9), {
    ok: false,
    failure: { name: 'body_invalid', metadata: { issues: [{ path: '/max_tokens' }] } },
  })
  for (const by of [{ preset: 'p' }, { model: '@preset/p' }, { model: 'm@preset/p' }])
    t.equal(messagesInputOf({ ...lacking, ...by }, 9).ok, true)
  t.equal(countInputOf(lacking, 9).ok, true)
  t.end()
})

t.test('an estimate counts pictures and pages at every depth', (t) => {
  const nested = { type: 'tool_result', tool_use_id: 't', content: [picture] }
  t.same(sizeOf([picture, nested]).text, { bytes: 800, mediaTokens: 2_200 })
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  t.same(sizeOf([pdf]).text, { bytes: 900, mediaTokens: 1_500 })
  const byUrl = { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } }
  t.same(sizeOf([byUrl]).text, { bytes: 1_000, mediaTokens: 15_000 })
  const upload = { type: 'container_upload', file_id: 'f' }
  t.same(sizeOf([upload]).text, { bytes: 1_000, mediaTokens: 0 }, 'a tool reads it')
  t.end()
})

t.test('a request turns thinking on, turns it off, or leaves it to the model', (t) => {
  const asks = (thinking: object | null): boolean | null => inputOf({ thinking }).asksReasoning
  t.same(asks(null), null)
  t.same([asks({ type: 'enabled', budget_tokens: 1_024 }), asks({ type: 'adaptive' })], [true, true])
  t.same(asks({ type: 'disabled' }), false)
  t.end()
})

t.test('pictures and documents count at every depth, and their data are not text', (t) => {
  const nested = { type: 'tool_result', tool_use_id: 't', content: [picture, { type: 'text', text: 'x' }] }
  t.match(sizeOf([picture, nested]), { media: { image: 2, file: 0 }, promptBytesMost: 800 })
  const pdf = { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data } }
  t.match(sizeOf([pdf]), { media: { image: 0, file: 1 }, promptBytesMost: 900 })
  const byUrl = { type: 'document', source: { type: 'url', url: 'https://x.example/a.pdf' } }
  t.match(sizeOf([byUrl, { type: 'container_upload', file_id: 'f' }]), { media: { file: 2 } })
  const text = { type: 'document', source: { type: 'text', media_type: 'text/plain', data } }
  t.match(sizeOf([text]), { media: { file: 0 }, promptBytesMost: 1_000 })
  const parts = { type: 'document', source: { type: 'content', content: [picture] } }
  t.match(sizeOf([parts]), { media: { image: 1, file: 0 }, promptBytesMost: 900 })
  t.match(sizeOf([{ type: 'image' }, { type: 'document', source: null }]), { media: { image: 1, file: 1 } })
  t.end()
})

t.test('the source of a picture counts as a document when it may be larger than a picture', (t) => {
  for (const source of [
    { type: 'base64', media_type: 'application/pdf', data },
    { type: 'base64', media_type: 'text/plain', data },
    { type: 'url', url: 'https://youtu.be/x' },
    { type: 'url', url: 'data:video/mp4;base64,AAAA' },
  ])
    t.match(sizeOf([{ type: 'image', source }]), { media: { image: 0, file: 1 } }, JSON.stringify(source))
  for (const source of [
    { type: 'url', url: 'https://x.example/a.png' },
    { type: 'file', file_id: 'f' },
  ])
    t.match(sizeOf([{ type: 'image', source }]), { media: { image: 1, file: 0 } }, JSON.stringify(source))
  t.end()
})
