/** Responses by OpenRouter's client with everything set, to a provider that refuses what OpenAI's types lack. */
import { KEY } from '../../../support/front.ts'
import { refusesChat } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { answersResponses, strictResponses } from '../../../support/inference/fake-responses.ts'
import { load } from '../../../support/wire/foreign-clients.ts'
import type { Proof } from '../../proof.ts'
import { openStand } from '../streams/stream-stand.ts'
import { MODEL } from './faithful-stand.ts'

const EPHEMERAL = { type: 'ephemeral' }
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } }
/** What the client sends and OpenAI's types lack, but for the members that are Sluice's. */
const DROPPED = [
  ...['cache_control', 'top_k', 'image_config', 'presence_penalty', 'frequency_penalty'],
  ...['reasoning.max_tokens', 'prompt_cache_breakpoint', 'format', 'signature', 'subagent_id'],
]

/** The members that OpenAI's published types have, by the type of an item, a part or a tool. */
const MEMBERS: Readonly<Record<string, string>> = {
  message: 'type role content phase id status',
  reasoning: 'type id summary content encrypted_content status',
  function_call: 'type call_id name arguments id async caller namespace status',
  function_call_output: 'type call_id output id caller name namespace status',
  input_text: 'type text prompt_cache_breakpoint',
  input_image: 'type detail file_id image_url prompt_cache_breakpoint',
  input_file: 'type file_data file_id file_url filename detail prompt_cache_breakpoint',
  output_text: 'type text annotations logprobs',
  summary_text: 'type text',
  function: 'type name parameters strict allowed_callers async defer_loading description output_schema',
}
const REASONING = 'context effort generate_summary mode summary'

type Members = Readonly<Record<string, unknown>>

export async function strictResponsesClient(proof: Proof): Promise<void> {
  const stand = await openStand({ providers: { strict: true, speaks: ['responses'] } })
  stand.first.usually(strictResponses(strictInside(answersResponses())))
  let named = ''
  const text = await bySdk(`${stand.url}/api/v1`, async (...request) => {
    const response = await fetch(...request)
    named = response.headers.get('x-sluice-dropped') ?? ''
    return response
  }).catch((problem: unknown) => `failed: ${String(problem)}`)
  await stand.close()
  proof.check(
    '@openrouter/sdk: a strict provider takes its responses with everything set, and what is cut is named',
    text === 'Hello there, you' && named.split(',').sort().join() === [...DROPPED].sort().join(),
    `${text}; ${named}`,
  )
}

/** Refuses members of items, of their parts, of tools and of `reasoning`. */
function strictInside(honest: FakeAnswer): FakeAnswer {
  return (call, reply) => {
    const { input, tools, reasoning } = JSON.parse(call.body.toString()) as Members
    const param = [
      ...foreignIn(input, 'input'),
      ...foreignIn(tools, 'tools'),
      ...foreignOf(reasoning, REASONING, 'reasoning'),
    ].at(0)
    if (param === undefined) return honest(call, reply)
    return refusesChat(400, { message: `Unknown parameter: '${param}'.`, param })(call, reply)
  }
}

function foreignIn(list: unknown, at: string): readonly string[] {
  if (!Array.isArray(list)) return []
  return (list as readonly Members[]).flatMap((one, nth) => {
    const path = `${at}[${nth}]`
    const known = MEMBERS[String(one['type'] ?? 'message')]
    const own = known === undefined ? [`${path}.type`] : foreignOf(one, known, path)
    return [
      ...own,
      ...foreignIn(one['content'], `${path}.content`),
      ...foreignIn(one['output'], `${path}.output`),
      ...foreignIn(one['summary'], `${path}.summary`),
    ]
  })
}

function foreignOf(value: unknown, known: string, at: string): readonly string[] {
  const names = new Set(known.split(' '))
  return Object.keys(value ?? {}).flatMap((name) => (names.has(name) ? [] : [`${at}.${name}`]))
}

interface Sdk {
  readonly responses: {
    send(asked: object): Promise<{
      readonly output: readonly { readonly content?: readonly { readonly text?: string }[] }[]
    }>
  }
}

async function bySdk(serverURL: string, fetcher: typeof fetch): Promise<string> {
  const { OpenRouter, HTTPClient } = (await load('@openrouter/sdk')) as {
    OpenRouter: new (options: object) => Sdk
    HTTPClient: new (options: object) => object
  }
  const { responses } = new OpenRouter({ serverURL, apiKey: KEY, httpClient: new HTTPClient({ fetcher }) })
  const text = { type: 'input_text', text: 'Hello', promptCacheBreakpoint: { mode: 'explicit' } }
  const printed = { type: 'output_text', text: 'Yes', annotations: [], logprobs: [] }
  const output = [{ type: 'input_text', text: 'Fine' }]
  const responsesRequest = {
    model: MODEL,
    input: [
      { type: 'message', role: 'user', content: [text], phase: null },
      {
        ...{ type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'because' }] },
        ...{ encryptedContent: 'e', status: 'completed', format: 'openai-responses-v1', signature: 's' },
      },
      {
        ...{ type: 'function_call', id: 'fc_1', callId: 'c', name: 'look', arguments: '{"city":"Ulm"}' },
        ...{ status: 'completed', subagentId: 'sub' },
      },
      { type: 'function_call_output', callId: 'c', output, id: 'fo_1', status: 'completed' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [printed], status: 'completed' },
      { role: 'user', content: 'Hello there' },
    ],
    tools: [{ type: 'function', name: 'look', description: 'd', parameters: PARAMETERS, strict: false }],
    ...{ toolChoice: 'auto', parallelToolCalls: true, maxToolCalls: 3, instructions: 'Be kind' },
    ...{ cacheControl: EPHEMERAL, debug: { echoUpstreamBody: false }, imageConfig: { aspect_ratio: '1:1' } },
    ...{ frequencyPenalty: 0.1, presencePenalty: 0.1, topK: 5, topP: 0.9, temperature: 0.5, topLogprobs: 1 },
    ...{ include: ['reasoning.encrypted_content'], maxOutputTokens: 50, metadata: { a: 'b' } },
    ...{ modalities: ['text'], models: [MODEL], plugins: [], promptCacheKey: 'k', safetyIdentifier: 'i' },
    ...{ provider: { sort: 'price' }, reasoning: { effort: 'low', maxTokens: 9, enabled: true } },
    ...{ serviceTier: 'auto', sessionId: 's', store: false, text: { verbosity: 'low' }, user: 'u' },
    ...{ trace: { traceName: 't' }, truncation: 'auto', stream: false },
  }
  const answer = await responses.send({ responsesRequest })
  return answer.output.flatMap(({ content }) => content?.map((part) => part.text ?? '') ?? []).join('')
}
