/** Every client of chat that npm has, against a provider and against the built-in model. */
import { API_PREFIX } from '../../../src/schemas/api-prefix.ts'
import { answersChat } from '../../support/inference/fake-chat.ts'
import { startFakeProvider } from '../../support/inference/fake-provider.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program, Proof } from '../proof.ts'
import type { ChatClient } from './clients/client.ts'
import { openAi } from './clients/openai.ts'
import { openRouter } from './clients/openrouter.ts'
import { vercel } from './clients/vercel.ts'
import { BUILT_IN, DIALECTS, NATIVE, type Scenario } from './scenarios.ts'

const ROUNDS = { full: 10, short: 1 }
/** Milliseconds that a scenario takes at most: a client that waits for ever fails its cell alone. */
const CELL_MS = 30_000

export const program: Program = {
  text: 'Every chat client of npm: answers, streams, tools, pictures, reasoning, errors and leaving, 0 failures',
  async run(proof) {
    const provider = await startFakeProvider(answersChat())
    proof.after(() => provider.close())
    const stand = await startStand({ catalogue: catalogueOf(provider.origin) })
    proof.after(() => stand.stop())
    const clients = await clientsOf(stand)
    const groups: readonly (readonly [string, string, Readonly<Record<string, Scenario>>])[] = [
      ['lenient provider', 'prove/lenient', { ...NATIVE, ...DIALECTS }],
      ['strict provider', 'prove/strict', NATIVE],
      ['sluice/echo-1', 'sluice/echo-1', BUILT_IN],
    ]
    const rounds = proof.isShort ? ROUNDS.short : ROUNDS.full
    for (const [group, model, scenarios] of groups)
      for (const [name, scenario] of Object.entries(scenarios)) {
        const cells = new Cells(clients)
        for (let round = 0; round < rounds; round++)
          for (const client of clients) await cells.fill(client, () => scenario({ provider, client, model }))
        proof.check(`${group}: ${name}`, cells.problems.length === 0, cells.said())
      }
    silent(proof, stand)
  },
}

async function clientsOf({ port, keys }: Stand): Promise<readonly ChatClient[]> {
  const base = `http://127.0.0.1:${port}${API_PREFIX}`
  const key = keys.inference_key
  return [openAi(base, key), await openRouter(base, key), ...(await vercel(base, key))]
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

  said(): string {
    if (this.problems.length > 0) return this.problems.join(' | ')
    return [...this.#passed].map(([name, count]) => `${name} ${count}`).join(', ')
  }
}

/** No call, however it ended, was a fault of the node's own. */
function silent(proof: Proof, stand: Stand): void {
  const faults = stand
    .output()
    .split('\n')
    .filter((line) => line.includes('"level":"error"'))
  proof.check('the node logs no error', faults.length === 0, faults[0] ?? 'none')
}

function catalogueOf(origin: string): object {
  return {
    providers: [
      { slug: 'lenient', protocol: 'openai', base_url: `${origin}/v1`, strict: false },
      { slug: 'strict', protocol: 'openai', base_url: `${origin}/v1`, strict: true },
    ],
    models: ['lenient', 'strict'].map((slug) => ({
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
