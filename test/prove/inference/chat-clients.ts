/** Every client of chat, responses and messages that npm has, against a provider and against the built-in model. */
import { API_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { answersChat } from '../../support/inference/fake-chat.ts'
import { startFakeProvider } from '../../support/inference/fake-provider.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program } from '../proof.ts'
import type { ChatClient } from './clients/client.ts'
import { anthropic } from './clients/anthropic.ts'
import { openAi } from './clients/openai.ts'
import { openAiResponses } from './clients/openai-responses.ts'
import { openRouter } from './clients/openrouter.ts'
import { openRouterResponses } from './clients/openrouter-responses.ts'
import { vercel, vercelAnthropic, vercelResponses } from './clients/vercel.ts'
import { checkNoFaults } from './no-faults.ts'
import { MESSAGES_BUILT_IN, MESSAGES_NATIVE } from './scenarios/messages-scenarios.ts'
import { RESPONSES_BUILT_IN, RESPONSES_NATIVE, RESPONSES_PROVIDERS } from './scenarios/responses-scenarios.ts'
import { BUILT_IN, DIALECTS, NATIVE } from './scenarios/scenarios.ts'

const ROUNDS = { full: 10, short: 1 }
/** Milliseconds that a scenario takes at most: a client that waits for ever fails its cell alone. */
const CELL_MS = 120_000
const LENIENT = 'prove/lenient'
const STRICT = 'prove/strict'
const CLAUDE = 'prove/claude'
const ECHO = 'sluice/echo-1'
/** The providers of OpenAI's protocol speak both of its forms. */
const SPEAKS = ['chat', 'responses']

export const program: Program = {
  text: 'Every client of chat, responses and messages of npm: answers, streams, tools, pictures, reasoning, errors and leaving, 0 failures',
  async run(proof) {
    const provider = await startFakeProvider(answersChat())
    proof.after(() => provider.close())
    const stand = await startStand({ catalogue: catalogueOf(provider.origin) })
    proof.after(() => stand.stop())
    const [chat, responses, messages] = await Promise.all([
      clientsOf(stand),
      responsesClientsOf(stand),
      messagesClientsOf(stand),
    ])
    const rounds = proof.isShort ? ROUNDS.short : ROUNDS.full
    for (const { group, model, clients, scenarios } of [
      { group: 'lenient provider', model: LENIENT, clients: chat, scenarios: { ...NATIVE, ...DIALECTS } },
      { group: 'strict provider', model: STRICT, clients: chat, scenarios: NATIVE },
      { group: ECHO, model: ECHO, clients: chat, scenarios: BUILT_IN },
      {
        group: 'responses, lenient provider',
        model: LENIENT,
        clients: responses,
        scenarios: { ...RESPONSES_NATIVE, ...RESPONSES_PROVIDERS },
      },
      { group: 'responses, strict provider', model: STRICT, clients: responses, scenarios: RESPONSES_NATIVE },
      { group: `responses, ${ECHO}`, model: ECHO, clients: responses, scenarios: RESPONSES_BUILT_IN },
      { group: 'messages, strict provider', model: CLAUDE, clients: messages, scenarios: MESSAGES_NATIVE },
      { group: `messages, ${ECHO}`, model: ECHO, clients: messages, scenarios: MESSAGES_BUILT_IN },
    ])
      for (const [name, scenario] of Object.entries(scenarios)) {
        const cells = new Cells(clients)
        for (let round = 0; round < rounds; round++)
          for (const client of clients) await cells.fill(client, () => scenario({ provider, client, model }))
        proof.check(`${group}: ${name}`, cells.problems.length === 0, cells.stated())
      }
    checkNoFaults(proof, stand.output())
  },
}

async function clientsOf({ port, keys }: Stand): Promise<readonly ChatClient[]> {
  const base = `http://127.0.0.1:${port}${API_PREFIX}`
  const key = keys.inference_key
  return [openAi(base, key), await openRouter(base, key), ...(await vercel(base, key))]
}

async function responsesClientsOf({ port, keys }: Stand): Promise<readonly ChatClient[]> {
  const base = `http://127.0.0.1:${port}${API_PREFIX}`
  const key = keys.inference_key
  return [openAiResponses(base, key), await openRouterResponses(base, key), await vercelResponses(base, key)]
}

async function messagesClientsOf({ port, keys }: Stand): Promise<readonly ChatClient[]> {
  const base = `http://127.0.0.1:${port}${API_PREFIX}`
  const key = keys.inference_key
  return [await anthropic(base, key), await vercelAnthropic(base, key)]
}

/** A row of the table. */
class Cells {
  readonly problems: string[] = []
  readonly #passed = new Map<string, number>()

  constructor(clients: readonly ChatClient[]) {
    for (const { name } of clients) this.#passed.set(name, 0)
  }

  async fill({ name }: ChatClient, run: () => Promise<void>): Promise<void> {
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(), CELL_MS)
    const isLate = new Promise<never>((_, fail) => {
      late.signal.addEventListener('abort', () => fail(new Error(`no end within ${CELL_MS} ms`)))
    })
    try {
      await Promise.race([run(), isLate])
      this.#passed.set(name, (this.#passed.get(name) ?? 0) + 1)
    } catch (problem) {
      this.problems.push(`${name}: ${problem instanceof Error ? problem.message : String(problem)}`)
    } finally {
      clearTimeout(timer)
    }
  }

  stated(): string {
    if (this.problems.length > 0) return this.problems.join(' | ')
    return [...this.#passed].map(([name, count]) => `${name} ${count}`).join(', ')
  }
}

function catalogueOf(origin: string): object {
  return {
    providers: [
      { slug: 'lenient', protocol: 'openai', base_url: `${origin}/v1`, strict: false, speaks: SPEAKS },
      { slug: 'strict', protocol: 'openai', base_url: `${origin}/v1`, strict: true, speaks: SPEAKS },
      { slug: 'claude', protocol: 'anthropic', base_url: `${origin}/v1` },
    ],
    models: ['lenient', 'strict', 'claude'].map((slug) => ({
      id: `prove/${slug}`,
      name: slug,
      architecture: { input_modalities: ['text', 'image'], output_modalities: ['text'] },
      endpoints: [
        {
          provider: slug,
          upstream_model: slug,
          pricing: { prompt: '0.000001', completion: '0.000002' },
        },
      ],
    })),
  }
}
