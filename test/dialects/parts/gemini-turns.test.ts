/** Prompts and answers of Gemini against a provider that refuses what Google refuses. */
import fc from 'fast-check'
import t from 'tap'
import { writeGemini, writeGeminiCount } from '../../../src/dialects/gemini/write-request.ts'
import type { AssistantPart, Prompt, Turn } from '../../../src/dialects/prompt/prompt.ts'
import { GeminiPartStream, geminiWhole, geminiPaths } from '../../../src/dialects/gemini/parts.ts'
import {
  geminiBody,
  geminiEvents,
  geminiSigned,
  type GeminiWords,
} from '../../support/inference/gemini/fake-gemini.ts'
import { wrongGemini, type GivenSignatures } from '../../support/inference/gemini/gemini-rules.ts'
import { bodyOf } from '../../support/inference/fake-stream.ts'
import {
  asked,
  calledTool,
  EMPTY_PROMPT,
  geminiSignature,
  reasoned,
  statedText,
  systemTurn,
  TERMS,
  toolTurn,
  UNTUNED,
  userTurn,
} from '../../support/inference/prompts.ts'
import { turnOf } from '../../support/inference/written-turns.ts'
import { orNull } from '../../support/must.ts'
import { failuresOfEvents } from '../../../src/server/upstream/provider-failure.ts'

const FAILURE_OF = failuresOfEvents({ credential: '', host: 'google.example' })
const TOOLS = ['f', 'g'].map((name) => ({
  name,
  description: null,
  schema: null,
  isStrict: null,
  cache: null,
}))

function answered(what: GeminiWords): Extract<Turn, { readonly role: 'assistant' }> {
  const stream = new GeminiPartStream(FAILURE_OF)
  return turnOf(stream.read(bodyOf(geminiEvents(what))).parts)
}

function wrongOf(prompt: Prompt, upstreamModel: string, given?: GivenSignatures): string | null {
  const terms = { ...TERMS, upstreamModel }
  const written = writeGemini(prompt, terms)
  const { whole, count } = geminiPaths(upstreamModel)
  if (written.refused.length > 0) return 'refused'
  const sent = JSON.parse(JSON.stringify(written.body)) as Record<string, unknown>
  const counted = JSON.parse(JSON.stringify(writeGeminiCount(prompt, terms).body)) as Record<string, unknown>
  return wrongGemini(sent, whole, given) ?? wrongGemini(counted, count, given)
}

const text = fc.string({ unit: 'grapheme' })
const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 3 })
const words = fc.record({
  words: fc.array(text, { maxLength: 4 }),
  thoughts: fc.array(text, { maxLength: 2 }),
  calls: fc.array(fc.record({ name: fc.constantFrom('f', 'g'), args: json }), { maxLength: 3 }),
})

t.test('a streamed answer gives the same turn as the whole answer, whatever its content', async (t) => {
  fc.assert(
    fc.property(words, (what) => {
      const whole = orNull(geminiWhole(Buffer.from(JSON.stringify(geminiBody(what)))))
      t.ok(whole !== null)
      const stream = new GeminiPartStream(FAILURE_OF)
      const { parts } = stream.read(bodyOf(geminiEvents(what)))
      t.equal(stream.end(), null)
      const streamed = [...parts, ...stream.finalParts]
      t.same(turnOf(streamed), turnOf(whole?.parts ?? []))
      t.same(streamed.at(-1), whole?.parts.at(-1))
      t.match(whole, { usage: stream.usage, outputBytes: stream.outputBytes, finishReason: 'STOP' })
    }),
    { numRuns: 200 },
  )
})

t.test('five turns with thoughts and tools are sent back with their original signatures', async (t) => {
  for (const model of ['gemini-3.1-pro', 'gemini-2.5-pro']) {
    const given: GivenSignatures = new Map()
    const turns: Turn[] = [systemTurn('Be brief'), userTurn('Go')]
    for (let nth = 0; nth < 5; nth++) {
      const calls =
        nth % 2 === 0
          ? [
              { name: 'f', args: { nth } },
              { name: 'g', args: {} },
            ]
          : []
      const what = { words: [`Step ${nth}`], thoughts: ['Hm'], calls }
      geminiSigned(what, given)
      const turn = answered(what)
      turns.push(turn)
      for (const part of turn.parts) if (part.kind === 'call') turns.push(toolTurn(part.id, `Result ${nth}`))
      if (calls.length === 0) turns.push(userTurn('Go on'))
      t.equal(wrongOf({ ...EMPTY_PROMPT, turns, tools: TOOLS }, model, given), null, `${model} ${nth}`)
    }
    t.equal(given.size, 5)
  }
})

t.test('a request with a changed or missing signature would be refused', async (t) => {
  const given: GivenSignatures = new Map()
  const what = { words: [], calls: [{ name: 'f', args: {} }] }
  geminiSigned(what, given)
  const { parts } = answered(what)
  const wrongWith = (change: (part: AssistantPart) => AssistantPart) => {
    const turns: Turn[] = [userTurn('Go'), { role: 'assistant', parts: parts.map(change) }]
    for (const part of parts) if (part.kind === 'call') turns.push(toolTurn(part.id, 'Done'))
    return wrongOf({ ...EMPTY_PROMPT, turns, tools: TOOLS }, 'gemini-2.5-pro', given)
  }
  t.equal(
    wrongWith((part) => part),
    null,
  )
  t.match(
    wrongWith((part) => (part.kind === 'call' ? { ...part, signature: null } : part)),
    'missing',
  )
  const other = geminiSignature('AAAA')
  t.match(
    wrongWith((part) => (part.kind === 'call' ? { ...part, signature: other } : part)),
    'not valid',
  )
})

t.test('accepts turns of other models in the middle of a conversation', async (t) => {
  const foreign = { format: 'anthropic-claude-v1', data: 'C' }
  const turns: readonly Turn[] = [
    userTurn('Go'),
    { role: 'assistant', parts: [reasoned('Hm', { signature: foreign }), calledTool('toolu_1', 'f')] },
    toolTurn('toolu_1', 'Done'),
  ]
  for (const model of ['gemini-3.1-pro', 'gemini-3-flash', 'gemini-2.5-flash'])
    t.equal(wrongOf({ ...EMPTY_PROMPT, turns, tools: TOOLS }, model, new Map()), null, model)
})

const signature = fc.constantFrom(
  null,
  { format: 'google-gemini-v1', data: 'U2ln' },
  { format: 'x', data: 'y' },
)
const assistantPart: fc.Arbitrary<AssistantPart> = fc.oneof(
  text.map(statedText),
  fc
    .tuple(text, signature, fc.boolean())
    .map(([stated, signed, isRedacted]) =>
      reasoned(isRedacted ? '' : stated, { signature: signed, isRedacted }),
    ),
)
const call = fc.record({
  name: fc.constantFrom('f', 'g'),
  json: fc.oneof(
    json.map((args) => JSON.stringify(args)),
    fc.string(),
  ),
  result: text,
  signed: signature,
})
const step = fc.record({
  reported: fc.array(assistantPart, { maxLength: 3 }),
  calls: fc.array(call, { maxLength: 3 }),
  isReversed: fc.boolean(),
  next: fc.oneof(
    text.map((one) => userTurn(one)),
    text.map((one) => systemTurn(one)),
  ),
})

function turnsOf(steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[]): readonly Turn[] {
  return steps.flatMap(({ reported, calls, isReversed, next }, nth) => {
    const made = calls.map(({ name, json: args, signed }, at) =>
      calledTool(`${nth}-${at}`, name, { arguments: args, signature: signed }),
    )
    const results = calls.map(({ result }, at) => toolTurn(`${nth}-${at}`, result, { isError: at === 1 }))
    const turn: Turn = { role: 'assistant', parts: [...reported, ...made] }
    return [turn, ...(isReversed ? results.toReversed() : results), next]
  })
}

t.test('no conversation becomes a request that Google refuses', async (t) => {
  const models = fc.constantFrom(
    'gemini-2.5-pro',
    'gemini-2.5-flash-lite',
    'gemini-3.1-pro',
    'gemini-3-flash',
  )
  const efforts = fc.constantFrom(null, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'odd')
  const begun = fc.array(
    text.map((one) => systemTurn(one)),
    { maxLength: 2 },
  )
  fc.assert(
    fc.property(
      fc.record({ begun, first: text, steps: fc.array(step, { maxLength: 4 }) }),
      fc.record({
        model: models,
        effort: efforts,
        budget: fc.option(fc.nat(60_000)),
        seed: fc.option(fc.integer()),
      }),
      ({ begun: head, first, steps }, { model, effort, budget, seed }) => {
        const turns = [...head, userTurn(`!${first}`), ...turnsOf(steps)]
        const prompt = {
          ...EMPTY_PROMPT,
          ...{ turns, tools: TOOLS, reasoning: asked({ effort, budget }), tuning: { ...UNTUNED, seed } },
        }
        const wrong = wrongOf(prompt, model)
        if (wrong !== null) t.fail(wrong, { turns })
        return wrong === null
      },
    ),
    { numRuns: 300 },
  )
})
