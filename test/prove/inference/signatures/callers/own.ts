/** Callers that write bytes themselves, and put streams together as the clients of their dialect do. */
import type { Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { chatMessageOf, messageReader, responseOf } from '../../../../support/inference/accumulated.ts'
import {
  conversationOf,
  THINKING_TOKENS,
  TOKENS_MAX,
  TOOLS,
  type Converser,
  type Speaker,
} from './converser.ts'

type Members = Readonly<Record<string, unknown>>

interface Form extends Omit<Speaker<Members>, 'ask'> {
  readonly path: string
  body(model: string, history: readonly Members[]): Members
  /** What a whole answer, or what was put together of a stream, has of the model. */
  written(answer: Members): readonly Members[]
  put(bytes: Uint8Array): Promise<Members>
}

const listIn = (value: unknown): readonly Members[] => (Array.isArray(value) ? (value as Members[]) : [])
const idsIn = (list: unknown, type: string, member: string): readonly string[] =>
  listIn(list)
    .filter((one) => one['type'] === type)
    .map((one) => String(one[member]))

const FORMS: Readonly<Record<Dialect, Form>> = {
  chat: {
    path: '/chat/completions',
    body: (model, messages) => ({
      ...{ model, messages, reasoning: { max_tokens: THINKING_TOKENS }, max_tokens: TOKENS_MAX },
      tools: TOOLS.map((tool) => ({ type: 'function', function: tool })),
    }),
    user: (content) => ({ role: 'user', content }),
    written: ({ choices }) => listIn(choices).map(({ message }) => message as Members),
    async put(bytes) {
      const { content, tool_calls, reasoning, reasoning_details } = await chatMessageOf(bytes)
      return {
        choices: [{ message: { role: 'assistant', content, tool_calls, reasoning, reasoning_details } }],
      }
    },
    calls: ([message]) => idsIn(message?.['tool_calls'], 'function', 'id'),
    results: (ids, content) => ids.map((id) => ({ role: 'tool', tool_call_id: id, content })),
  },
  responses: {
    path: '/responses',
    body: (model, input) => ({
      ...{ model, input, store: false, include: ['reasoning.encrypted_content'] },
      ...{ reasoning: { effort: 'low', summary: 'auto' }, max_output_tokens: TOKENS_MAX },
      tools: TOOLS.map((tool) => ({ type: 'function', ...tool, strict: false })),
    }),
    user: (content) => ({ role: 'user', content }),
    written: ({ output }) => listIn(output),
    put: responseOf,
    calls: (items) => idsIn(items, 'function_call', 'call_id'),
    results: (ids, output) => ids.map((call_id) => ({ type: 'function_call_output', call_id, output })),
  },
  messages: {
    path: '/messages',
    body: (model, messages) => ({
      ...{ model, messages, max_tokens: TOKENS_MAX },
      thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS },
      tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
    }),
    user: (content) => ({ role: 'user', content }),
    written: ({ role, content }) => [{ role, content }],
    put: async (bytes) => JSON.parse(JSON.stringify(await (await messageReader())(bytes))) as Members,
    calls: ([message]) => idsIn(message?.['content'], 'tool_use', 'id'),
    results: (ids, content) => [
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content })) },
    ],
  },
}

export function ownCaller(dialect: Dialect): Converser {
  const { path, body, written, put, ...form } = FORMS[dialect]
  return {
    name: `${dialect}, own caller`,
    dialect,
    begin({ base, key, isStream, fetch }) {
      const ask = async (model: string, history: readonly Members[]): Promise<readonly Members[]> => {
        const response = await fetch(`${base}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...body(model, history), ...(isStream && { stream: true }) }),
        })
        const bytes = new Uint8Array(await response.arrayBuffer())
        const text = Buffer.from(bytes).toString()
        if (!response.ok) throw new Error(`${response.status} ${text}`)
        return written(isStream ? await put(bytes) : (JSON.parse(text) as Members))
      }
      return Promise.resolve(conversationOf({ ...form, ask }))
    },
  }
}
