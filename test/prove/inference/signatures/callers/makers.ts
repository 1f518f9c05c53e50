/** `openai` and `@anthropic-ai/sdk`, by their calls and by their helpers for streams. */
import OpenAI from 'openai'
import { load } from '../../../../support/wire/foreign-clients.ts'
import { conversationOf, THINKING_TOKENS, TOKENS_MAX, TOOLS, type Converser } from './converser.ts'

type Message = OpenAI.Chat.ChatCompletionMessageParam
type Item = OpenAI.Responses.ResponseInputItem

/** Its accumulator of streams keeps of the entries of reasoning the last alone. */
export const openAiChat: Converser = {
  name: 'openai, chat',
  dialect: 'chat',
  only: 'whole',
  begin({ base: baseURL, key: apiKey, fetch }) {
    const { chat } = new OpenAI({ apiKey, baseURL, fetch, maxRetries: 0 })
    return Promise.resolve(
      conversationOf<Message>({
        user: (content) => ({ role: 'user', content }),
        async ask(model, history) {
          const { choices } = await chat.completions.create({
            ...{ model, messages: [...history], max_completion_tokens: TOKENS_MAX },
            reasoning_effort: 'low',
            tools: TOOLS.map((tool) => ({ type: 'function', function: tool }) as const),
          })
          return choices.map(({ message }) => message)
        },
        calls: ([message]) =>
          message?.role === 'assistant' ? (message.tool_calls ?? []).map(({ id }) => id) : [],
        results: (ids, content) => ids.map((id) => ({ role: 'tool', tool_call_id: id, content })),
      }),
    )
  },
}

export const openAiResponses: Converser = {
  name: 'openai, responses',
  dialect: 'responses',
  begin({ base: baseURL, key: apiKey, fetch, isStream }) {
    const { responses } = new OpenAI({ apiKey, baseURL, fetch, maxRetries: 0 })
    return Promise.resolve(
      conversationOf<Item>({
        user: (content) => ({ role: 'user', content }),
        async ask(model, history) {
          const body = {
            ...{ model, input: [...history], store: false, max_output_tokens: TOKENS_MAX },
            include: ['reasoning.encrypted_content' as const],
            reasoning: { effort: 'low', summary: 'auto' } as const,
            tools: TOOLS.map((tool) => ({ type: 'function' as const, ...tool, strict: false })),
          }
          const answer = isStream
            ? await responses.stream({ ...body, stream: true }).finalResponse()
            : await responses.create(body)
          return answer.output as Item[]
        },
        calls: (items) => items.flatMap((item) => (item.type === 'function_call' ? item.call_id : [])),
        results: (ids, output) => ids.map((call_id) => ({ type: 'function_call_output', call_id, output })),
      }),
    )
  },
}

interface Turn {
  readonly role: string
  readonly content: string | readonly Block[]
}

interface Block {
  readonly type: string
  readonly id?: string
}

interface AnthropicMessages {
  create(body: object): Promise<Turn>
  stream(body: object): { finalMessage(): Promise<Turn> }
}

export const anthropic: Converser = {
  name: '@anthropic-ai/sdk',
  dialect: 'messages',
  async begin({ base, key: apiKey, fetch, isStream }) {
    const { default: Anthropic } = (await load('@anthropic-ai/sdk')) as {
      default: new (options: object) => { readonly messages: AnthropicMessages }
    }
    const baseURL = base.replace(/\/v1$/, '')
    const { messages } = new Anthropic({ baseURL, apiKey, fetch, maxRetries: 0 })
    return conversationOf<Turn>({
      user: (content) => ({ role: 'user', content }),
      async ask(model, history) {
        const body = {
          ...{ model, messages: history, max_tokens: TOKENS_MAX },
          thinking: { type: 'enabled', budget_tokens: THINKING_TOKENS },
          tools: TOOLS.map(({ parameters, ...tool }) => ({ ...tool, input_schema: parameters })),
        }
        const { role, content } = isStream
          ? await messages.stream(body).finalMessage()
          : await messages.create(body)
        return [{ role, content }]
      },
      calls: ([turn]) =>
        typeof turn?.content === 'object'
          ? turn.content.flatMap(({ type, id = '' }) => (type === 'tool_use' ? id : []))
          : [],
      results: (ids, content) => [
        { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content })) },
      ],
    })
  },
}
