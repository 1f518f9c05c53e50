/** Signatures of Gemini come back to it through each dialect, as its callers write them. */
import t from 'tap'
import { writeGemini } from '../../../../src/dialects/gemini/write-request.ts'
import { DIALECTS, type Dialect } from '../../../../src/schemas/inference/text-request.ts'
import { WholeChat } from '../../../../src/dialects/chat/answer.ts'
import { WholeMessage } from '../../../../src/dialects/messages/answer.ts'
import { WholeResponse } from '../../../../src/dialects/responses/answer.ts'
import { geminiWhole, geminiPaths } from '../../../../src/dialects/gemini/parts.ts'
import { geminiBody, geminiSigned, type GeminiWords } from '../../../support/inference/gemini/fake-gemini.ts'
import { wrongGemini, type GivenSignatures } from '../../../support/inference/gemini/gemini-rules.ts'
import { TERMS } from '../../../support/inference/prompts.ts'
import { orNull } from '../../../support/must.ts'
import type { WholeText } from '../../../../src/dialects/answers.ts'
import { PROMPT_READERS } from '../../../../src/dialects/translate.ts'

type Members = Readonly<Record<string, unknown>>

const TURNS = 5
const MODEL = 'gemini-3.1-pro'
const HEAD = { id: 'gen_1', createdS: 1_795_312_800, model: 'google/gemini' }
const BY = {
  model: 'google/gemini',
  provider: 'google',
  isByok: false,
  isUnpriced: false,
  attempts: 1,
  dropped: [],
}
const SCHEMA = { type: 'object', properties: {} }

/** A caller who sends back the answer that it got, with results of all calls. */
interface Caller {
  readonly answer: () => WholeText
  readonly begun: readonly Members[]
  readonly body: (messages: readonly Members[]) => Members
  readonly next: (answer: Members, result: string) => readonly Members[]
}

const callsIn = (list: unknown, type: string): readonly Members[] =>
  (Array.isArray(list) ? (list as readonly Members[]) : []).filter((one) => one['type'] === type)

const CALLERS: Readonly<Record<Dialect, Caller>> = {
  chat: {
    answer: () => new WholeChat(HEAD),
    begun: [{ role: 'user', content: 'Go' }],
    body: (messages) => ({
      ...{ model: 'm', messages },
      tools: ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: SCHEMA } })),
    }),
    next: (answer, content) => {
      const [{ message }] = answer['choices'] as [{ message: Members }]
      const calls = callsIn(message['tool_calls'], 'function')
      const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content }))
      return [message, ...(calls.length > 0 ? results : [{ role: 'user', content: 'Go on' }])]
    },
  },
  responses: {
    answer: () => new WholeResponse(HEAD, { isEncryptedAsked: true }),
    begun: [{ role: 'user', content: 'Go' }],
    body: (input) => ({
      ...{ model: 'm', input, store: false, include: ['reasoning.encrypted_content'] },
      tools: ['f', 'g'].map((name) => ({ type: 'function', name, parameters: SCHEMA, strict: false })),
    }),
    next: (answer, output) => {
      const items = answer['output'] as readonly Members[]
      const calls = callsIn(items, 'function_call')
      const results = calls.map(({ call_id }) => ({ type: 'function_call_output', call_id, output }))
      return [...items, ...(calls.length > 0 ? results : [{ role: 'user', content: 'Go on' }])]
    },
  },
  messages: {
    answer: () => new WholeMessage(HEAD),
    begun: [{ role: 'user', content: 'Go' }],
    body: (messages) => ({
      ...{ model: 'm', max_tokens: 1_000, messages },
      tools: ['f', 'g'].map((name) => ({ name, input_schema: SCHEMA })),
    }),
    next: ({ role, content }, result) => {
      const calls = callsIn(content, 'tool_use')
      const results = calls.map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: result }))
      return [
        { role, content },
        { role: 'user', content: calls.length > 0 ? results : 'Go on' },
      ]
    },
  },
}

function answered({ answer }: Caller, what: GeminiWords, nth: number): Members {
  const text = answer()
  text.begin(BY)
  // Each answer has an id of its own.
  const body = geminiBody({ ...what, more: { responseId: `r${nth}` } })
  for (const part of orNull(geminiWhole(Buffer.from(JSON.stringify(body))))?.parts ?? []) text.add(part)
  return JSON.parse(JSON.stringify(text.answer({ whole: '{}', added: null }))) as Members
}

for (const dialect of DIALECTS)
  t.test(`${dialect}: five turns of thoughts, texts and tools go back as Gemini signed them`, async (t) => {
    const caller = CALLERS[dialect]
    const given: GivenSignatures = new Map()
    const messages = [...caller.begun]
    for (let nth = 0; nth < TURNS; nth++) {
      const calls =
        nth % 2 === 0
          ? [
              { name: 'f', args: { nth } },
              { name: 'g', args: { nth } },
            ]
          : []
      const what = { words: nth === 2 ? [] : [`Step ${nth}`], thoughts: ['Hm'], calls }
      geminiSigned(what, given)
      messages.push(...caller.next(answered(caller, what, nth), `Result ${nth}`))
      const prompt = PROMPT_READERS[dialect](caller.body(messages))
      const { body, dropped, refused } = writeGemini(prompt, { ...TERMS, upstreamModel: MODEL })
      const sent = JSON.parse(JSON.stringify(body)) as Members
      t.equal(wrongGemini(sent, geminiPaths(MODEL).whole, given), null, `turn ${nth}`)
      t.same([dropped, refused], [[], []])
      const json = JSON.stringify(sent)
      for (const signature of given.keys()) t.ok(json.includes(signature), `signature of turn ${nth}`)
      t.notOk(json.includes('skip_thought_signature_validator'))
    }
  })
