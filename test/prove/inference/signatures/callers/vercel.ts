/** Vercel's `ai`, which runs the tools itself, with each provider package of it that carries signatures. */
import { load } from '../../../../support/wire/foreign-clients.ts'
import { resultText, userText } from '../steps.ts'
import { STEPS_MAX, THINKING_TOKENS, TOKENS_MAX, TOOLS, type Converser, type Reach } from './converser.ts'

interface Ai {
  generateText(options: object): Promise<{ readonly response: Written }>
  streamText(options: object): { consumeStream(): Promise<void>; readonly response: PromiseLike<Written> }
  tool(options: object): object
  jsonSchema(schema: object): object
  stepCountIs(count: number): object
}

interface Written {
  readonly messages: readonly object[]
}

type ModelOf = (model: string) => object
type Make = (settings: object) => Readonly<Record<string, ModelOf | undefined>>

interface Package {
  readonly name: string
  readonly dialect: Converser['dialect']
  /** Of the package's function, and of the function of what it makes. */
  readonly maker: string
  readonly verb: string
  readonly options: object
  readonly only?: 'streamed'
}

const PACKAGES: readonly Package[] = [
  {
    name: '@openrouter/ai-sdk-provider',
    dialect: 'chat',
    maker: 'createOpenRouter',
    verb: 'chat',
    // Of a whole answer without calls it keeps the first entry of reasoning alone.
    only: 'streamed',
    options: { openrouter: { reasoning: { max_tokens: THINKING_TOKENS } } },
  },
  {
    name: '@ai-sdk/openai',
    dialect: 'responses',
    maker: 'createOpenAI',
    verb: 'responses',
    // It asks for an effort only where it knows the model.
    options: {
      openai: {
        ...{ store: false, include: ['reasoning.encrypted_content'] },
        ...{ reasoningEffort: 'low', reasoningSummary: 'auto', forceReasoning: true },
      },
    },
  },
  {
    name: '@ai-sdk/anthropic',
    dialect: 'messages',
    maker: 'createAnthropic',
    verb: 'messages',
    options: { anthropic: { thinking: { type: 'enabled', budgetTokens: THINKING_TOKENS } } },
  },
]

export const VERCEL: readonly Converser[] = PACKAGES.map((one) => ({
  name: `ai, ${one.name}`,
  dialect: one.dialect,
  ...(one.only && { only: one.only }),
  async begin(reach) {
    const ai = (await load('ai')) as Ai
    // It warns of entries without a signature, which it leaves out.
    Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false })
    const modelOf = await modelsOf(one, reach)
    const history: object[] = []
    return {
      async turn(turn, nameOf) {
        history.push({ role: 'user', content: userText(turn) })
        const options = {
          ...{ model: modelOf(nameOf(0)), messages: history, tools: toolsOf(ai, turn) },
          ...{ maxOutputTokens: TOKENS_MAX, maxRetries: 0, stopWhen: ai.stepCountIs(STEPS_MAX) },
          providerOptions: one.options,
          prepareStep: ({ stepNumber }: { readonly stepNumber: number }) => ({
            model: modelOf(nameOf(stepNumber)),
          }),
        }
        const { messages } = reach.isStream ? await streamed(ai, options) : await whole(ai, options)
        history.push(...messages)
      },
    }
  },
}))

async function modelsOf({ name, maker, verb }: Package, reach: Reach): Promise<ModelOf> {
  const makers = (await load(name)) as Readonly<Record<string, Make>>
  const made = makers[maker]?.({ baseURL: reach.base, apiKey: reach.key, fetch: reach.fetch })
  const modelOf = made?.[verb]
  if (modelOf === undefined) throw new Error(`${name} has no ${maker}().${verb}()`)
  return modelOf
}

async function whole(ai: Ai, options: object): Promise<Written> {
  return (await ai.generateText(options)).response
}

async function streamed(ai: Ai, options: object): Promise<Written> {
  let failure: unknown = null
  const onError = ({ error }: { readonly error: unknown }): void => {
    failure ??= error
  }
  const stream = ai.streamText({ ...options, onError })
  await stream.consumeStream()
  if (failure !== null) throw failure instanceof Error ? failure : new Error(String(failure))
  return stream.response
}

/** Every call of a step says the same: the step is known by the results before it. */
function toolsOf(ai: Ai, turn: number): object {
  const execute = (
    _: unknown,
    { messages }: { readonly messages: readonly { readonly role: string }[] },
  ): string => {
    const last = messages.findLastIndex(({ role }) => role === 'user')
    const step = messages.slice(last).filter(({ role }) => role === 'tool').length
    return resultText({ turn, step })
  }
  return Object.fromEntries(
    TOOLS.map(({ name, description, parameters }) => [
      name,
      ai.tool({ description, inputSchema: ai.jsonSchema(parameters), execute }),
    ]),
  )
}
