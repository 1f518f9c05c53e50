/** `@openrouter/sdk`, which checks what it reads and what it sends, over chat and over responses. */
import { load } from '../../../../support/wire/foreign-clients.ts'
import { conversationOf, TOKENS_MAX, TOOLS, type Converser, type Reach } from './converser.ts'

type Members = Readonly<Record<string, unknown>>

interface Sdk {
  readonly chat: {
    send(asked: object): Promise<{ readonly choices: readonly { readonly message: Members }[] }>
  }
  readonly beta: {
    readonly responses: {
      send(asked: object): Promise<Response | AsyncIterable<{ readonly response?: Response }>>
    }
  }
}

interface Response {
  readonly output: readonly Members[]
}

async function sdkOf({ base: serverURL, key: apiKey, fetch: fetcher }: Reach): Promise<Sdk> {
  const { OpenRouter, HTTPClient } = (await load('@openrouter/sdk')) as {
    OpenRouter: new (options: object) => Sdk
    HTTPClient: new (options: object) => object
  }
  const retryConfig = { strategy: 'none' }
  return new OpenRouter({ serverURL, apiKey, retryConfig, httpClient: new HTTPClient({ fetcher }) })
}

/** It puts no streams together. */
export const openRouterChat: Converser = {
  name: '@openrouter/sdk, chat',
  dialect: 'chat',
  only: 'whole',
  async begin(reach) {
    const { chat } = await sdkOf(reach)
    return conversationOf<Members>({
      user: (content) => ({ role: 'user', content }),
      async ask(model, messages) {
        const chatRequest = {
          ...{ model, messages, stream: false, reasoning: { effort: 'low' }, maxTokens: TOKENS_MAX },
          tools: TOOLS.map((tool) => ({ type: 'function', function: tool })),
        }
        const { choices } = await chat.send({ chatRequest })
        return choices.map(({ message }) => message)
      },
      calls: ([message]) =>
        ((message?.['toolCalls'] ?? []) as readonly Members[]).map(({ id }) => String(id)),
      results: (ids, content) => ids.map((toolCallId) => ({ role: 'tool', toolCallId, content })),
    })
  },
}

export const openRouterResponses: Converser = {
  name: '@openrouter/sdk, responses',
  dialect: 'responses',
  async begin(reach) {
    const { beta } = await sdkOf(reach)
    return conversationOf<Members>({
      user: (content) => ({ type: 'message', role: 'user', content }),
      async ask(model, input) {
        const responsesRequest = {
          ...{ model, input, stream: reach.isStream, store: false, maxOutputTokens: TOKENS_MAX },
          ...{ include: ['reasoning.encrypted_content'], reasoning: { effort: 'low', summary: 'auto' } },
          tools: TOOLS.map((tool) => ({ type: 'function', ...tool, strict: false })),
        }
        return outputOf(await beta.responses.send({ responsesRequest }))
      },
      calls: (items) => items.flatMap(({ type, callId }) => (type === 'function_call' ? String(callId) : [])),
      results: (ids, output) => ids.map((callId) => ({ type: 'function_call_output', callId, output })),
    })
  },
}

async function outputOf(
  sent: Response | AsyncIterable<{ readonly response?: Response }>,
): Promise<readonly Members[]> {
  if ('output' in sent) return sent.output
  let last: Response | undefined
  for await (const { response } of sent) last = response ?? last
  return last?.output ?? []
}
