/** Clients of OpenRouter with everything set that their types have: a strict provider takes what they send. */
import { KEY } from '../../../support/front.ts'
import { strictChat } from '../../../support/inference/fake-chat.ts'
import { load } from '../../../support/wire/foreign-clients.ts'
import type { Proof } from '../../proof.ts'
import { openStand } from '../streams/stream-stand.ts'
import { MODEL } from './faithful-stand.ts'

const ANNOTATION = {
  type: 'file',
  file: { hash: 'h', name: 'a.pdf', content: [{ type: 'text', text: 'x' }] },
}
const EPHEMERAL = { type: 'ephemeral' }
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
const DETAILS = [
  { type: 'reasoning.text', text: 'because', signature: 's', format: 'anthropic-claude-v1', index: 0 },
]
/** What each of them sends and OpenAI's types lack, but for the members that are Sluice's. */
const SDK_DROPPED = [
  ...['cache_control', 'image_config', 'min_p', 'repetition_penalty', 'top_a', 'top_k', 'reasoning.summary'],
  ...['prompt_cache_breakpoint', 'reasoning', 'reasoning_details', 'images', 'model'],
]
const VERCEL_DROPPED = [
  ...[
    'cache_control',
    'top_k',
    'reasoning.max_tokens',
    'reasoning',
    'reasoning_details',
    'annotations',
    'name',
  ],
]

type Fetch = typeof fetch

export async function strictClients(proof: Proof): Promise<void> {
  const stand = await openStand({ providers: { strict: true } })
  stand.first.usually(strictChat())
  const base = `${stand.url}/api/v1`
  for (const { name, dropped, ask } of [
    { name: '@openrouter/sdk', dropped: SDK_DROPPED, ask: bySdk },
    { name: '@openrouter/ai-sdk-provider', dropped: VERCEL_DROPPED, ask: byVercel },
  ]) {
    let named = ''
    const text = await ask(base, async (...request) => {
      const response = await fetch(...request)
      named = response.headers.get('x-sluice-dropped') ?? ''
      return response
    }).catch((problem: unknown) => `failed: ${String(problem)}`)
    proof.check(
      `${name}: a strict provider takes what it sends with everything set, and what is cut is named`,
      text === 'Hello there, you' && named.split(',').sort().join() === [...dropped].sort().join(),
      `${text}; ${named}`,
    )
  }
  await stand.close()
}

interface Sdk {
  readonly chat: {
    send(
      asked: object,
    ): Promise<{ readonly choices: readonly { readonly message: { readonly content: string } }[] }>
  }
}

async function bySdk(serverURL: string, fetcher: Fetch): Promise<string> {
  const { OpenRouter, HTTPClient } = (await load('@openrouter/sdk')) as {
    OpenRouter: new (options: object) => Sdk
    HTTPClient: new (options: object) => object
  }
  const { chat } = new OpenRouter({ serverURL, apiKey: KEY, httpClient: new HTTPClient({ fetcher }) })
  const part = {
    type: 'text',
    text: 'Hello',
    cacheControl: EPHEMERAL,
    promptCacheBreakpoint: { mode: 'explicit' },
  }
  const call = { id: 'c', type: 'function', function: { name: 'look', arguments: '{"city":"Ulm"}' } }
  const chatRequest = {
    model: MODEL,
    messages: [
      { role: 'system', content: [part], name: 'one' },
      { role: 'user', content: [part], name: 'two' },
      {
        ...{
          role: 'assistant',
          content: 'Yes',
          reasoning: 'because',
          reasoningDetails: DETAILS,
          toolCalls: [call],
        },
        ...{ name: 'three', refusal: null, model: MODEL, images: [{ imageUrl: { url: 'data:,' } }] },
      },
      { role: 'tool', content: 'Fine', toolCallId: 'c' },
    ],
    tools: [
      { type: 'function', function: { name: 'look', parameters: PARAMETERS }, cacheControl: EPHEMERAL },
    ],
    ...{ cacheControl: EPHEMERAL, debug: { echoUpstreamBody: false }, imageConfig: { aspect_ratio: '1:1' } },
    ...{
      frequencyPenalty: 0.1,
      presencePenalty: 0.1,
      logitBias: { 50256: -1 },
      logprobs: true,
      topLogprobs: 1,
    },
    ...{ maxCompletionTokens: 50, metadata: { a: 'b' }, minP: 0.1, topA: 0.1, topK: 5, topP: 0.9 },
    ...{ models: [MODEL], parallelToolCalls: true, plugins: [], promptCacheKey: 'k', repetitionPenalty: 1.1 },
    ...{
      provider: { sort: 'price' },
      reasoning: { effort: 'low', summary: 'auto' },
      seed: 7,
      sessionId: 's',
    },
    ...{
      responseFormat: { type: 'text' },
      serviceTier: 'auto',
      stop: ['x'],
      temperature: 0.5,
      toolChoice: 'auto',
    },
    ...{ trace: { traceName: 't' }, user: 'u', stream: false },
  }
  const answer = await chat.send({ chatRequest })
  return answer.choices[0]?.message.content ?? ''
}

interface Ai {
  generateText(options: object): Promise<{ readonly text: string }>
  tool(options: object): object
  jsonSchema(schema: object): object
}

async function byVercel(baseURL: string, fetcher: Fetch): Promise<string> {
  const ai = (await load('ai')) as Ai
  const { createOpenRouter } = (await load('@openrouter/ai-sdk-provider')) as {
    createOpenRouter(options: object): { chat(model: string, settings: object): object }
  }
  const cached = { openrouter: { cacheControl: EPHEMERAL } }
  const model = createOpenRouter({ baseURL, apiKey: KEY, fetch: fetcher }).chat(MODEL, {
    ...{ logitBias: { 50256: -1 }, logprobs: 1, parallelToolCalls: true, user: 'u', plugins: [] },
    ...{ web_search_options: {}, cache_control: EPHEMERAL, debug: { echo_upstream_body: false } },
    ...{ provider: { sort: 'price' }, includeReasoning: true, usage: { include: true }, topK: 5 },
    ...{ reasoning: { max_tokens: 1_024 }, models: [MODEL] },
  })
  const details = { openrouter: { reasoning_details: DETAILS, annotations: [ANNOTATION] } }
  const { text } = await ai.generateText({
    model,
    messages: [
      { role: 'system', content: 'Be kind', providerOptions: cached },
      { role: 'user', content: [{ type: 'text', text: 'Hello', providerOptions: cached }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'because' },
          { type: 'tool-call', toolCallId: 'c', toolName: 'look', input: { city: 'Ulm' } },
        ],
        providerOptions: details,
      },
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: 'c', toolName: 'look', output: { type: 'text', value: 'Fine' } },
        ],
      },
    ],
    tools: { look: ai.tool({ inputSchema: ai.jsonSchema(PARAMETERS), providerOptions: cached }) },
    ...{ maxOutputTokens: 50, temperature: 0.5, topP: 0.9, frequencyPenalty: 0.1, presencePenalty: 0.1 },
    ...{ seed: 7, stopSequences: ['x'], maxRetries: 0 },
  })
  return text
}
