/** `openai`: whole responses, and the `.stream()` helper. */
import OpenAI from 'openai'
import { Collected, LOOK, type Ask, type ChatClient, type Seen } from './client.ts'

type Responses = OpenAI['responses']
type Body = OpenAI.Responses.ResponseCreateParamsNonStreaming
type Input = OpenAI.Responses.ResponseInput
type Answer = OpenAI.Responses.Response

export function openAiResponses(baseURL: string, apiKey: string): ChatClient {
  const { responses } = new OpenAI({ apiKey, baseURL })
  return {
    name: 'openai, responses',
    readsReasoning: true,
    replaysReasoning: true,
    async ask(ask): Promise<Seen> {
      const seen = new Collected(ask)
      try {
        const input: Input = [{ role: 'user', content: contentOf(ask) }]
        const first = await step(responses, { ask, input }, seen)
        const { look } = ask
        if (look !== undefined) {
          input.push(...(first.output as Input), ...resultsOf(first, look))
          await step(responses, { ask, input }, seen)
        }
      } catch (error) {
        seen.failed(error)
      }
      return seen.finished()
    },
  }
}

interface Step {
  readonly ask: Ask
  readonly input: Input
}

async function step(responses: Responses, { ask, input }: Step, seen: Collected): Promise<Answer> {
  const { signal } = ask
  const options = signal === undefined ? {} : { signal }
  const body = { ...bodyOf(ask), input }
  const answer = ask.isStream
    ? await streamed(responses.stream({ ...body, stream: true }, options), seen)
    : await responses.create(body, options)
  for (const item of answer.output) {
    if (item.type === 'function_call') seen.called(item.name, item.arguments)
    if (ask.isStream) continue
    if (item.type === 'message') seen.add(item.content.map(textOf).join(''))
    if (item.type === 'reasoning') seen.think(item.summary.map(({ text }) => text).join(''))
  }
  seen.finish = answer.status ?? null
  seen.tokens = answer.usage?.total_tokens ?? null
  return answer
}

async function streamed(stream: ReturnType<Responses['stream']>, seen: Collected): Promise<Answer> {
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') seen.add(event.delta)
    if (event.type === 'response.reasoning_summary_text.delta') seen.think(event.delta)
  }
  return stream.finalResponse()
}

function textOf(part: { readonly type: string; readonly text?: string }): string {
  return part.text ?? ''
}

function resultsOf({ output }: Answer, look: (city: string) => string): Input {
  return output.flatMap((item) => {
    if (item.type !== 'function_call') return []
    const { city } = JSON.parse(item.arguments) as { city: string }
    return [{ type: 'function_call_output' as const, call_id: item.call_id, output: look(city) }]
  })
}

function contentOf({ prompt, image }: Ask): string | OpenAI.Responses.ResponseInputMessageContentList {
  if (image === undefined) return prompt
  return [
    { type: 'input_text', text: prompt },
    { type: 'input_image', image_url: image, detail: 'auto' },
  ]
}

function bodyOf({ model, hasTool, mustCall, schema, effort }: Ask): Body {
  return {
    model,
    ...(hasTool === true && {
      tools: [{ type: 'function', ...LOOK, parameters: { ...LOOK.parameters }, strict: false }],
    }),
    ...(mustCall === true && { tool_choice: { type: 'function', name: LOOK.name } }),
    ...(effort !== undefined && { reasoning: { effort, summary: 'auto' } }),
    ...(schema !== undefined && {
      text: { format: { type: 'json_schema', name: 'city', strict: true, schema: { ...schema } } },
    }),
  }
}
