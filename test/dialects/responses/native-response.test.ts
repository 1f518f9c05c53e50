/** What a caller gets of the whole answer of a provider that speaks responses. */
import t from 'tap'
import { answerOfJob, joinedAnswer, nativeAnswer } from '../../../src/dialects/native-answer.ts'
import { HEAD } from '../../support/inference/provider-chunks.ts'
import { RESPONSE, RESPONSES_ANSWERS, searchCall, USAGE } from '../../support/inference/responses-streams.ts'
import { must } from '../../support/must.ts'

const SHOWN = { whole: '{"input_tokens":1}', added: '"cost":0.5,"is_byok":false' }

const bytesOf = (body: object | string): Buffer =>
  Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
const read = (body: object | string): ReturnType<typeof nativeAnswer> =>
  nativeAnswer('responses', bytesOf(body), HEAD)
const given = (body: object | string): string => Buffer.concat(must(read(body)).withUsage(SHOWN)).toString()

t.test('bytes that no rule changes are passed on as received', async (t) => {
  const { usage: _, ...response } = RESPONSE
  const members = JSON.stringify(response).slice(1, -1).replace('"output":[]', '"output" : [7, {"x":1e400}]')
  const body = ` { ${members} , "usage" : ${JSON.stringify(USAGE)},"z":[1.0,"\\u00e9 é"] } `
  const shown = JSON.stringify({ ...USAGE, cost: 0.5, is_byok: false })
  const expected = body.replace('"m-2026"', '"maker/model-1"').replace(JSON.stringify(USAGE), shown).trim()
  t.equal(given(body), expected)
  t.equal(given(body), given(body), 'the pieces can be asked for twice')
})

t.test('reads the usage, the output size, the finish reason and the id of an answer', async (t) => {
  const { usage, outputBytes, finishReason, upstreamId } = must(
    read(RESPONSES_ANSWERS['openai, reasoning'] ?? {}),
  )
  t.same(usage, { input: 9, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 3 })
  t.same([outputBytes, finishReason, upstreamId], [11, 'completed', RESPONSE.id])
  t.match(must(read(RESPONSES_ANSWERS['openai, cut short'] ?? {})), { finishReason: 'max_output_tokens' })
  t.match(must(read(RESPONSES_ANSWERS['a small server'] ?? {})), {
    usage: null,
    outputBytes: 8,
    finishReason: 'completed',
    upstreamId: null,
  })
  const output = [
    { type: 'function_call', arguments: '{"é":1}', name: 'f' },
    { type: 'custom_tool_call', input: 'abc' },
    { type: 'message', content: [{ text: 'a\\n' }, { refusal: 'no' }, 'odd'], summary: 'odd' },
    { type: 'x', result: 'not counted' },
    'odd',
  ]
  t.equal(must(read({ ...RESPONSE, output })).outputBytes, 8 + 3 + 3 + 2)
  const searched = [searchCall('search'), searchCall('open_page'), searchCall('search')]
  t.match(must(read({ ...RESPONSE, output: searched, usage: USAGE })).usage, { input: 9, searches: 2 })
  t.match(must(read({ ...RESPONSE, output: searched })).usage, { input: 0, searches: 2 })
})

t.test('adds a missing usage, and other missing members', async (t) => {
  const answer = JSON.parse(given({ output: [], tools: null })) as Record<string, unknown>
  t.match(answer, {
    id: 'resp_01k0',
    object: 'response',
    created_at: HEAD.createdS,
    status: 'completed',
    model: HEAD.model,
    tools: [],
    usage: { input_tokens: 1 },
  })
  t.equal(given('{"output":[]}').match(/"usage"/g)?.length, 1)
  t.equal(given('{"output":[],"usage":null}').match(/"usage"/g)?.length, 1)
  t.equal(given('{"o\\u0075tput":[]}').match(/"usage"/g)?.length, 1, 'rewritten')
})

t.test('refuses bodies that are not an answer', async (t) => {
  for (const body of [
    '',
    '{',
    '[]',
    '7',
    '{}',
    '{"output":null}',
    '{"output":{}}',
    '{"output":[]}x',
    '{"error":{"message":"x"},"output":[]}',
    '{"error":"x","output":[]}',
    '{"status":"failed","output":[]}',
  ])
    t.match(read(body), { ok: false, failure: { name: 'upstream_invalid' } }, body)
})

t.test('a thread reads the same figures and writes the same bytes', async (t) => {
  for (const [name, body] of Object.entries(RESPONSES_ANSWERS)) {
    const out = joinedAnswer({ dialect: 'responses', answer: bytesOf(body), head: HEAD })
    const { withUsage, ...figures } = must(answerOfJob(out))
    const { withUsage: _, ...expected } = must(read(body))
    t.same(figures, expected, name)
    t.equal(Buffer.concat(withUsage(SHOWN)).toString(), given(body), name)
  }
})
