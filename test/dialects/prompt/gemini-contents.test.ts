import t from 'tap'
import { writeGemini, writeGeminiCount } from '../../../src/dialects/gemini/write-request.ts'
import type { AssistantPart, Turn } from '../../../src/dialects/prompt/prompt.ts'
import {
  calledTool,
  EMPTY_PROMPT,
  geminiSignature,
  reasoned,
  statedText,
  systemTurn,
  TERMS,
  toolTurn,
  userTurn,
} from '../../support/inference/prompts.ts'

const THIRD = { ...TERMS, upstreamModel: 'gemini-3.1-pro' }
const PIXEL = { kind: 'base64', mimeType: 'image/png', data: 'iVBOR' } as const
const IMAGE = { kind: 'image', media: PIXEL, detail: null, cache: null } as const
const SKIPPED = 'skip_thought_signature_validator'

const written = (turns: readonly Turn[], terms = TERMS) => writeGemini({ ...EMPTY_PROMPT, turns }, terms)
const contentsOf = (turns: readonly Turn[], terms = TERMS) => written(turns, terms).body['contents']
const model = (...parts: readonly (AssistantPart | string)[]): Turn => ({
  role: 'assistant',
  parts: parts.map((part) => (typeof part === 'string' ? statedText(part) : part)),
})
const text = (stated: string) => ({ text: stated })
const response = (name: string, output: string) => ({ functionResponse: { name, response: { output } } })
const called = (name: string, args: object = {}) => ({ functionCall: { name, args } })

t.test('system turns at the start become the instruction, later ones marked user text', async (t) => {
  const { body } = written([systemTurn('One', ''), systemTurn('Two'), userTurn('Hi'), systemTurn('Three')])
  t.same(body, {
    systemInstruction: { parts: [text('One'), text('Two')] },
    contents: [{ role: 'user', parts: [text('Hi'), text('<system>\nThree\n</system>')] }],
  })
})

t.test('a prompt without any text gets a turn', async (t) => {
  for (const turns of [[], [userTurn('')]]) t.same(contentsOf(turns), [{ role: 'user', parts: [text('.')] }])
})

t.test('a prompt with only system text is sent as a user turn', async (t) => {
  t.same(written([systemTurn('Only')]).body, { contents: [{ role: 'user', parts: [text('Only')] }] })
})

t.test('turns of the same role are merged, also around an empty turn', async (t) => {
  t.same(contentsOf([userTurn('a'), userTurn('b'), model('c'), userTurn(''), model('d')]), [
    { role: 'user', parts: [text('a'), text('b')] },
    { role: 'model', parts: [text('c'), text('d')] },
  ])
})

t.test('results are in the order of their calls, before the text of the user', async (t) => {
  const calls = model(calledTool('1', 'f', { arguments: '{"x":{"y":[1]}}' }), calledTool('2', 'f'))
  const turns = [userTurn('Go'), calls, toolTurn('2', 'second'), userTurn('And?'), toolTurn('1', 'first')]
  t.same(contentsOf(turns), [
    { role: 'user', parts: [text('Go')] },
    { role: 'model', parts: [called('f', { x: { y: [1] } }), called('f')] },
    { role: 'user', parts: [response('f', 'first'), response('f', 'second'), text('And?')] },
  ])
})

t.test('repeated ids belong to the call of the last step', async (t) => {
  const turns = [
    userTurn('Go'),
    ...[model(calledTool('1', 'f')), toolTurn('1', 'a')],
    ...[model(calledTool('1', 'g')), toolTurn('1', 'b')],
  ]
  const contents = contentsOf(turns) as readonly { readonly parts: unknown }[]
  t.same(contents[2]?.parts, [response('f', 'a')])
  t.same(contents[4]?.parts, [response('g', 'b')])
})

t.test('a failed result becomes an error, and an empty one an empty text', async (t) => {
  const turns = [userTurn('Go'), model(calledTool('1', 'f'), calledTool('2', 'g'))]
  const failed = toolTurn('1', 'No such file', { isError: true })
  const contents = contentsOf([...turns, failed, toolTurn('2', '')]) as readonly { readonly parts: unknown }[]
  const error = { functionResponse: { name: 'f', response: { error: 'No such file' } } }
  t.same(contents[2]?.parts, [error, response('g', '')])
})

t.test('a result without a call becomes marked text', async (t) => {
  t.same(contentsOf([userTurn('Go'), toolTurn('9', 'Stray')]), [
    { role: 'user', parts: [text('Go'), text('<tool_result>\nStray\n</tool_result>')] },
  ])
})

t.test('a picture in a result is nested for Gemini 3, and follows all results in older ones', async (t) => {
  const turns = [
    userTurn('Go'),
    model(calledTool('1', 'f'), calledTool('2', 'g')),
    toolTurn('1', '', { parts: [statedText('See'), IMAGE] }),
    toolTurn('2', 'Done'),
  ]
  const inline = { inlineData: { mimeType: 'image/png', data: 'iVBOR' } }
  const older = contentsOf(turns) as readonly { readonly parts: unknown }[]
  t.same(older[2]?.parts, [response('f', 'See'), response('g', 'Done'), inline])
  const third = contentsOf(turns, THIRD) as readonly { readonly parts: unknown }[]
  const nested = { functionResponse: { name: 'f', response: { output: 'See' }, parts: [inline] } }
  t.same(third[2]?.parts, [nested, response('g', 'Done')])
})

t.test('calls at the start of a conversation get an opening user turn', async (t) => {
  t.same(contentsOf([model(calledTool('1', 'f')), toolTurn('1', 'a')]), [
    { role: 'user', parts: [text('.')] },
    { role: 'model', parts: [called('f')] },
    { role: 'user', parts: [response('f', 'a')] },
  ])
  t.same(contentsOf([model('Hello')]), [{ role: 'model', parts: [text('Hello')] }])
})

t.test('arguments that are not an object are kept in a readable form', async (t) => {
  const args = ['', ' ', '{', '[1]', '"a"', 'null', '{"__proto__":{"a":1}}']
  const calls = args.map((json, at) => calledTool(String(at), 'f', { arguments: json }))
  const contents = contentsOf([userTurn('Go'), model(...calls)])
  const [, { parts }] = JSON.parse(JSON.stringify(contents)) as [
    unknown,
    { parts: { functionCall: object }[] },
  ]
  t.equal(
    JSON.stringify(parts.map(({ functionCall }) => (functionCall as { args: object }).args)),
    '[{},{},{"text":"{"},{"text":"[1]"},{"text":"\\"a\\""},{"text":"null"},{"__proto__":{"a":1}}]',
  )
})

t.test('signatures of Google are sent back in the parts that they came from', async (t) => {
  const [one, two, three] = ['S1', 'S2', 'S3'].map(geminiSignature)
  if (one === undefined || two === undefined || three === undefined) throw new Error('no signature')
  const bare = (signature: typeof one) => reasoned('', { signature, isRedacted: true })
  const partsOf = (...parts: readonly (AssistantPart | string)[]) => {
    const contents = contentsOf([userTurn('Go'), model(...parts)]) as readonly { readonly parts: unknown }[]
    return contents[1]?.parts
  }
  const thought = { text: 'Hm', thought: true }
  const call = calledTool('1', 'f', { signature: two })
  const signed = { ...called('f'), thoughtSignature: 'S2' }
  t.same(partsOf(reasoned('Hm', { signature: one }), call), [{ ...thought, thoughtSignature: 'S1' }, signed])
  t.same(partsOf('Said', bare(one)), [{ text: 'Said', thoughtSignature: 'S1' }], 'after its text')
  t.same(partsOf(bare(one), reasoned('Hm'), 'Said'), [thought, { text: 'Said', thoughtSignature: 'S1' }])
  t.same(partsOf(bare(one), call), [signed, { text: '', thoughtSignature: 'S1' }], 'without a text')
  t.same(partsOf('Said', bare(one), bare(two), bare(three)), [
    { text: 'Said', thoughtSignature: 'S1' },
    { text: '', thoughtSignature: 'S2' },
    { text: '', thoughtSignature: 'S3' },
  ])
})

t.test('a signature of another provider is left out and reported as dropped', async (t) => {
  const signature = { format: 'anthropic-claude-v1', data: 'C' }
  const foreign = reasoned('Hm', { signature })
  const redacted = reasoned('', { signature, isRedacted: true })
  const { body, dropped } = written([userTurn('Go'), model(foreign, redacted, 'Said')])
  t.same((body['contents'] as readonly unknown[])[1], {
    role: 'model',
    parts: [{ text: 'Hm', thought: true }, text('Said')],
  })
  t.same(dropped, ['reasoning'])
  const alone = written([userTurn('Go'), model(redacted), userTurn('On')])
  t.same(alone.body['contents'], [{ role: 'user', parts: [text('Go'), text('On')] }])
})

t.test('the first call of a step that Google did not sign is marked, for Gemini 3 only', async (t) => {
  const turns = [userTurn('Go'), model(calledTool('1', 'f'), calledTool('2', 'g'))]
  const marked = { ...called('f'), thoughtSignature: SKIPPED }
  const partsOf = (upstreamModel: string) =>
    (contentsOf(turns, { ...TERMS, upstreamModel }) as readonly { readonly parts: unknown }[])[1]?.parts
  for (const name of ['gemini-3-flash-preview', 'gemini-3.1-pro', 'gemini-flash-latest', 'gemini-10'])
    t.same(partsOf(name), [marked, called('g')], name)
  for (const name of ['gemini-2.5-pro', 'gemini-2.0-flash', 'gemma-3-27b-it', 'tuned'])
    t.same(partsOf(name), [called('f'), called('g')], name)
})

t.test('writes media of the user given as content or as an address', async (t) => {
  const file = { kind: 'file', filename: null, cache: null } as const
  const turn = userTurn(
    IMAGE,
    { ...IMAGE, media: { kind: 'url', url: 'https://a.example/x.JPG?y=1' } },
    { kind: 'audio', format: 'mp3', data: 'SUQz', cache: null },
    { kind: 'audio', format: 'constructor', data: 'AA', cache: null },
    { kind: 'video', media: { kind: 'url', url: 'https://youtu.be/x' }, cache: null },
    { ...file, media: { kind: 'base64', mimeType: 'application/pdf', data: 'JVBE' } },
    { ...file, media: { kind: 'base64', mimeType: 'application/json', data: 'e30=' } },
    { ...file, media: { kind: 'base64', mimeType: 'text/csv', data: 'YQ==' } },
  )
  const [{ parts }] = contentsOf([turn]) as [{ parts: unknown }]
  t.same(parts, [
    { inlineData: { mimeType: 'image/png', data: 'iVBOR' } },
    { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/x.JPG?y=1' } },
    { inlineData: { mimeType: 'audio/mpeg', data: 'SUQz' } },
    { inlineData: { mimeType: 'audio/constructor', data: 'AA' } },
    { fileData: { fileUri: 'https://youtu.be/x' } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
    { inlineData: { mimeType: 'text/plain', data: 'e30=' } },
    { inlineData: { mimeType: 'text/csv', data: 'YQ==' } },
  ])
})

t.test('a file id is refused with its path', async (t) => {
  const image = { ...IMAGE, media: { kind: 'file_id', id: 'file-1' } as const, path: '/messages/0/content/1' }
  const { refused } = written([userTurn('Look', image)])
  t.same(
    refused.map(({ path }) => path),
    ['/messages/0/content/1'],
  )
})

t.test('a token count is requested with the prompt, without the tuning fields', async (t) => {
  const prompt = { ...EMPTY_PROMPT, turns: [systemTurn('S'), userTurn('Hi')], tokensMax: 9 }
  t.same(writeGeminiCount(prompt, TERMS).body, {
    generateContentRequest: {
      model: 'models/gemini-2.5-flash',
      systemInstruction: { parts: [text('S')] },
      contents: [{ role: 'user', parts: [text('Hi')] }],
    },
  })
})
