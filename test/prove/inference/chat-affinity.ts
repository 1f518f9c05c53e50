/** All turns of a conversation go to the same endpoint, whichever front has them, and endpoints share the load. */
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import type { Program, Proof } from '../proof.ts'

const FULL = { conversations: 500, turns: 140, apart: 0.1 }
/** Few conversations share unevenly by chance: so much is four standard deviations. */
const SHORT = { conversations: 40, turns: 6, apart: 0.35 }
const SLUGS = ['north', 'east', 'west'] as const
const MODEL = 'maker/model-1'
const FRONTS = 2
/** Calls under way at once. */
const CALLS = 16
/** Times that a turn is asked for. */
const TRIES_MAX = 3

/** How callers name a conversation, and where. */
interface Kind {
  readonly name: string
  readonly path: '/chat/completions' | '/messages'
  readonly headers?: (conversation: string) => Readonly<Record<string, string>>
  readonly members?: (conversation: string) => object
  /** The first text of the user. */
  readonly text?: (conversation: string) => string
}

const KINDS: readonly Kind[] = [
  { name: 'session_id', path: '/chat/completions', members: (session_id) => ({ session_id }) },
  ...(['x-session-id', 'x-claude-code-session-id', 'session-id'] as const).map((name): Kind => ({
    name: `header ${name}`,
    path: '/chat/completions',
    headers: (conversation) => ({ [name]: conversation }),
  })),
  { name: 'prompt_cache_key', path: '/chat/completions', members: (key) => ({ prompt_cache_key: key }) },
  { name: 'metadata.user_id', path: '/messages', members: (user_id) => ({ metadata: { user_id } }) },
  { name: 'the texts alone', path: '/chat/completions', text: (conversation) => `This is ${conversation}.` },
]

export const program: Program = {
  text: 'turns of a conversation stay on one of three endpoints, which share the load, and leave one that dies',
  async run(proof) {
    const { conversations, turns, apart } = proof.isShort ? SHORT : FULL
    const providers = await Promise.all(SLUGS.map((slug) => startProvider(proof, slug)))
    const stand = await startStand({
      settings: { SLUICE_FRONTS: String(FRONTS) },
      catalogue: catalogueOf(providers),
    })
    proof.after(() => stand.stop())
    const calls = new Calls(stand)
    proof.after(async () => calls.close())
    const load = new Map<string, number>()
    for (const kind of KINDS) {
      const names = Array.from({ length: conversations }, (_, nth) => `${kind.name} ${proof.seed} ${nth}`)
      const turned = await calls.all(kind, names, turns)
      const own = [...turned.values()].map((slugs) => mostOf(slugs))
      const kept = own.reduce((sum, { count }) => sum + count, 0) / (conversations * turns)
      proof.check(
        `by ${kind.name}: at least 95 % of turns on the endpoint of their conversation`,
        kept >= 0.95,
        `${(kept * 100).toFixed(2)} % of ${conversations * turns}`,
      )
      for (const { slug } of own) load.set(slug, (load.get(slug) ?? 0) + turns)
    }
    checkEven(proof, load, apart)
    await die(proof, { calls, providers, conversations })
  },
}

/** The load of all conversations, however they were named. */
function checkEven(proof: Proof, load: ReadonlyMap<string, number>, apart: number): void {
  const even = [...load.values()].reduce((sum, count) => sum + count, 0) / SLUGS.length
  const worst = Math.max(...SLUGS.map((slug) => Math.abs((load.get(slug) ?? 0) / even - 1)))
  proof.check(
    `the load of each endpoint is within ${apart * 100} % of even`,
    worst <= apart,
    [...load].map(([slug, count]) => `${slug} ${count}`).join(', '),
  )
}

interface Dying {
  readonly calls: Calls
  readonly providers: readonly Provider[]
  readonly conversations: number
}

async function die(proof: Proof, { calls, providers, conversations }: Dying): Promise<void> {
  const [kind] = KINDS
  const [dying] = providers
  if (kind === undefined || dying === undefined) throw new Error('nothing can die')
  const names = Array.from({ length: conversations }, (_, nth) => `dying ${proof.seed} ${nth}`)
  const once = async (): Promise<ReadonlyMap<string, string>> => {
    const turned = await calls.all(kind, names, 1)
    return new Map([...turned].map(([name, slugs]) => [name, slugs[0] ?? '']))
  }
  const before = await once()
  await dying.stop()
  const during = await once()
  const strayed = names.filter(
    (name) => before.get(name) !== dying.slug && before.get(name) !== during.get(name),
  )
  const stuck = names.filter((name) => during.get(name) === dying.slug)
  proof.check(
    'an endpoint that dies loses its conversations at once',
    stuck.length === 0,
    `${stuck.length} stuck`,
  )
  proof.check('conversations of the others stay', strayed.length === 0, `${strayed.length} strayed`)
  await dying.start()
  // Its breaker asks again within 30 s; until then its conversations are elsewhere.
  let after = await once()
  const home = (): number => names.filter((name) => after.get(name) === before.get(name)).length
  for (let round = 0; round < 200 && home() < names.length; round++) after = await once()
  const share = names.filter((name) => after.get(name) === dying.slug).length
  const had = names.filter((name) => before.get(name) === dying.slug).length
  proof.check('it gets no more than its share back', share === had, `${share}, and had ${had}`)
}

/** Callers of a node, each on a connection that is kept. */
class Calls {
  readonly #stand: Stand
  readonly #agent = new Agent({ keepAlive: true, maxSockets: CALLS })

  constructor(stand: Stand) {
    this.#stand = stand
  }

  /** @returns the endpoints of each conversation's turns */
  async all(
    kind: Kind,
    names: readonly string[],
    turns: number,
  ): Promise<ReadonlyMap<string, readonly string[]>> {
    const turned = new Map<string, string[]>(names.map((name) => [name, []]))
    // Turn by turn, so that the turns of a conversation meet both fronts.
    const todo = Array.from({ length: turns }, () => names).flat()
    let next = 0
    const worker = async (): Promise<void> => {
      for (let name = todo[next++]; name !== undefined; name = todo[next++])
        turned.get(name)?.push(await this.#call(kind, name))
    }
    await Promise.all(Array.from({ length: CALLS }, worker))
    return turned
  }

  close(): void {
    this.#agent.destroy()
  }

  /** @returns the slug of the provider that answered, where a busy machine had money and the key in time */
  async #call(kind: Kind, conversation: string): Promise<string> {
    for (let tries = 1; ; tries++) {
      const { status, slug } = await this.#once(kind, conversation)
      if (status === 200 && slug !== null) return slug
      if (status !== 503 || tries === TRIES_MAX) throw new Error(`a turn was answered with ${status}`)
    }
  }

  async #once(
    kind: Kind,
    conversation: string,
  ): Promise<{ readonly status: number; readonly slug: string | null }> {
    const { port, keys } = this.#stand
    const content = kind.text?.(conversation) ?? 'Hello there'
    const body = JSON.stringify({
      model: MODEL,
      max_tokens: 8,
      messages: [{ role: 'user', content }],
      ...kind.members?.(conversation),
    })
    const sent = request({
      port,
      host: '127.0.0.1',
      agent: this.#agent,
      method: 'POST',
      path: `/api/v1${kind.path}`,
      headers: {
        authorization: `Bearer ${keys.inference_key}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...kind.headers?.(conversation),
      },
    })
    sent.end(body)
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    await once(answer, 'end')
    const slug = answer.headers['x-sluice-provider']
    return { status: answer.statusCode ?? 0, slug: typeof slug === 'string' ? slug : null }
  }
}

interface Provider {
  readonly slug: string
  readonly port: number
  stop(): Promise<void>
  start(): Promise<void>
}

const CHAT_ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
})
const MESSAGES_ANSWER = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 2, output_tokens: 1 },
})

async function startProvider(proof: Proof, slug: string): Promise<Provider> {
  let server = await listen(0)
  const { port } = server.address() as AddressInfo
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    if (server.listening) await new Promise((closed) => server.close(closed))
  }
  proof.after(stop)
  return { slug, port, stop, start: async () => void (server = await listen(port)) }
}

async function listen(port: number): Promise<Server> {
  const server = createServer((asked, reply) => {
    asked.resume().on('end', () => {
      reply.setHeader('content-type', 'application/json')
      reply.end(asked.url?.endsWith('/messages') === true ? MESSAGES_ANSWER : CHAT_ANSWER)
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

function catalogueOf(providers: readonly Provider[]): object {
  return {
    providers: providers.map(({ slug, port }) => ({
      slug,
      name: slug,
      protocol: 'openai',
      base_url: `http://127.0.0.1:${port}/v1`,
    })),
    models: [
      {
        id: MODEL,
        name: 'Model',
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        context_length: 128_000,
        endpoints: providers.map(({ slug }) => ({
          provider: slug,
          upstream_model: 'm',
          speaks: ['chat', 'messages'],
          pricing: { prompt: '0', completion: '0' },
        })),
      },
    ],
  }
}

function mostOf(slugs: readonly string[]): { readonly slug: string; readonly count: number } {
  const counts = new Map<string, number>()
  for (const slug of slugs) counts.set(slug, (counts.get(slug) ?? 0) + 1)
  const [slug = '', count = 0] = [...counts].sort(([, one], [, other]) => other - one)[0] ?? []
  return { slug, count }
}
