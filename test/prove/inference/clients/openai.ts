/** `openai`: whole answers, the `.stream()` helper, and `runTools` for calls of more than one step. */
import OpenAI from 'openai'
import type { RunnableToolFunctionWithParse } from 'openai/lib/RunnableFunction'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

type Completions = OpenAI['chat']['completions']
type Body = OpenAI.ChatCompletionCreateParamsNonStreaming

export function openAi(baseURL: string, apiKey: string): ChatClient {
  const { completions } = new OpenAI({ apiKey, baseURL }).chat
  return {
    name: 'openai',
    // Its types have no member for it; the bytes reach the program all the same.
    readsReasoning: true,
    replaysReasoning: false,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      try {
        if (ask.look !== undefined) await runs(completions, ask, seen)
        else if (ask.isStream) await streams(completions, ask, seen)
        else await answers(completions, ask, seen)
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

async function answers(completions: Completions, ask: Ask, seen: Collected): Promise<void> {
  const { choices, usage } = await completions.create(bodyOf(ask), optionsOf(ask))
  const [choice] = choices
  seen.add(choice?.message.content)
  seen.think(reasoningOf(choice?.message))
  for (const call of choice?.message.tool_calls ?? [])
    if (call.type === 'function') seen.called(call.function.name, call.function.arguments)
  seen.finish = choice?.finish_reason ?? null
  seen.tokens = usage?.total_tokens ?? null
}

async function streams(completions: Completions, ask: Ask, seen: Collected): Promise<void> {
  const stream = completions.stream({ ...bodyOf(ask), stream: true }, optionsOf(ask))
  for await (const { choices, usage } of stream) {
    seen.add(choices[0]?.delta.content)
    seen.think(reasoningOf(choices[0]?.delta))
    seen.tokens = usage?.total_tokens ?? seen.tokens
  }
  const { choices } = await stream.finalChatCompletion()
  const [choice] = choices
  seen.finish = choice?.finish_reason ?? null
  for (const call of choice?.message.tool_calls ?? [])
    if (call.type === 'function') seen.called(call.function.name, call.function.arguments)
}

async function runs(completions: Completions, ask: Ask, seen: Collected): Promise<void> {
  const { look } = ask
  const tool: RunnableToolFunctionWithParse<{ city: string }> = {
    type: 'function',
    function: {
      ...LOOK,
      parameters: { ...LOOK.parameters, required: [...LOOK.parameters.required] },
      parse: (json) => JSON.parse(json) as { city: string },
      function: ({ city }) => look?.(city) ?? '',
    },
  }
  const body = { model: ask.model, messages: bodyOf(ask).messages, tools: [tool] }
  const runner = ask.isStream
    ? completions.runTools({ ...body, stream: true })
    : completions.runTools({ ...body, stream: false })
  seen.add(await runner.finalContent())
  const [call] = runner.allChatCompletions()[0]?.choices[0]?.message.tool_calls ?? []
  if (call?.type === 'function') seen.called(call.function.name, call.function.arguments)
  seen.finish = (await runner.finalChatCompletion()).choices[0]?.finish_reason ?? null
}

function bodyOf(ask: Ask): Body {
  const { model, prompt, image, hasTool, mustCall, schema, effort } = ask
  const content =
    image === undefined
      ? prompt
      : [
          { type: 'text' as const, text: prompt },
          { type: 'image_url' as const, image_url: { url: image } },
        ]
  const choice = { type: 'function' as const, function: { name: LOOK.name } }
  return {
    model,
    messages: [{ role: 'user', content }],
    ...(hasTool === true && { tools: [{ type: 'function', function: LOOK }] }),
    ...(mustCall === true && { tool_choice: choice }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(schema !== undefined && {
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'city', strict: true, schema: { ...schema } },
      },
    }),
  }
}

function optionsOf({ signal }: Ask): { readonly signal?: AbortSignal } {
  return signal === undefined ? {} : { signal }
}

function reasoningOf(part: object | undefined): string | null | undefined {
  return (part as { reasoning?: string | null } | undefined)?.reasoning
}
