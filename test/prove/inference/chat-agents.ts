/** Coding agents: recorded sessions of theirs, and the agents as their makers ship them, where they are installed. */
import { deepStrictEqual as same, match, ok } from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bodyOf } from '../../support/inference/fake-chat.ts'
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeCall,
  type FakeProvider,
} from '../../support/inference/fake-provider.ts'
import { MAKERS } from '../../support/inference/forms-facts.ts'
import { hasEnded, type Spawned } from '../../support/nodes/spawned.ts'
import { PROVIDER_KEY, startStand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import type { Agent, AgentTask } from './agents/agent.ts'
import { claudeCode } from './agents/claude-code.ts'
import { asksForEffort, CHAT_SERVER_NAMES, sharedPrefix } from './agents/chat-servers.ts'
import { codex } from './agents/codex.ts'
import { loadSession, SESSION_NAMES } from './agents/recorded-session.ts'
import { replay, SessionModel } from './agents/replay.ts'
import { checkNoFaults } from './no-faults.ts'
import { IMAGE } from './scenarios/scenarios.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../../src/schemas/models/protocols.ts'

const ROUNDS = { full: 10, short: 1 }
/** Of each recorded session at each form of providers. */
const TURNS = { full: 200, short: 3 }
/** Of the first turn's prompt, in each later one: what a cache of prefixes has to find. */
const PREFIX_SHARE_MIN = 0.95
const WORDS = ['The', ' work', ' is', ' done.']
const SAIDOnce = WORDS.join('')
const PICTURE = Buffer.from(IMAGE.slice(IMAGE.indexOf(',') + 1), 'base64')

export const program: Program = {
  text: 'recorded sessions of Claude Code and Codex at providers of each form, 0 errors in 200 turns; the agents themselves, where they are installed',
  async run(proof) {
    const provider = await startFakeProvider(() => undefined)
    proof.after(() => provider.close())
    const home = temporaryFolder(proof, 'agents')
    const stand = await startStand({ catalogue: catalogueOf(provider.origin) })
    proof.after(() => stand.stop())
    const origin = `http://127.0.0.1:${stand.port}`
    const key = stand.keys.inference_key
    await replayed(proof, provider, { origin, key })
    await replayedAtServers(proof, provider, { origin, key })
    const agents = [
      claudeCode({ origin, key, model: modelOf('messages'), home }),
      await codex({ origin, key, model: modelOf('responses'), home }),
    ].filter((agent) => agent !== null)
    if (agents.length === 0) proof.say('neither `claude` nor `codex` is on the PATH: recorded sessions alone')
    const rounds = proof.isShort ? ROUNDS.short : ROUNDS.full
    for (const agent of agents)
      for (const [what, scenario] of Object.entries(SCENARIOS)) {
        const problems: string[] = []
        for (let round = 0; round < rounds; round++) {
          const folder = join(
            home,
            `${what.replaceAll(/\W+/g, '-')}-${round}`,
            agent.answers.looks('') === null ? 'codex' : 'claude',
          )
          await mkdir(folder, { recursive: true })
          await scenario({ agent, provider, folder }).catch((problem: unknown) => {
            problems.push(problem instanceof Error ? problem.message : String(problem))
          })
        }
        proof.check(`${agent.name}: ${what}`, problems.length === 0, problems[0] ?? `${rounds} of ${rounds}`)
      }
    checkNoFaults(proof, stand.output())
  },
}

async function replayed(
  proof: Proof,
  provider: FakeProvider,
  node: { readonly origin: string; readonly key: string },
): Promise<void> {
  const turns = proof.isShort ? TURNS.short : TURNS.full
  for (const name of SESSION_NAMES) {
    const session = await loadSession(name)
    for (const protocol of TEXT_PROTOCOLS) {
      const model = new SessionModel(protocol, null)
      provider.usually(model.answer)
      const { errors, requests, dropped } = await replay(
        session,
        { ...node, model: modelOf(protocol), turns },
        model,
      )
      provider.forget()
      const lost = dropped.size === 0 ? '' : `; dropped ${[...dropped].join()}`
      proof.check(
        `${session.client} ${session.version} (${name}), recorded, at a provider that speaks ${protocol}: ${turns} turns`,
        errors.length === 0,
        errors[0] ?? `0 errors in ${requests} requests${lost}`,
      )
    }
  }
}

/** Each session at each server of chat; the servers differ in habits that agents have met. */
async function replayedAtServers(
  proof: Proof,
  provider: FakeProvider,
  node: { readonly origin: string; readonly key: string },
): Promise<void> {
  const turns = proof.isShort ? TURNS.short : TURNS.full
  for (const name of SESSION_NAMES) {
    const session = await loadSession(name)
    const asked = { hasEffort: asksForEffort(session.first) }
    for (const server of CHAT_SERVER_NAMES) {
      const model = new SessionModel('chat', { name: server, asked })
      provider.usually(model.answer)
      const { errors, requests } = await replay(session, { ...node, model: `prove/${server}`, turns }, model)
      provider.forget()
      const [first = '', ...later] = model.prompts
      const shared = Math.min(...later.map((prompt) => sharedPrefix(first, prompt)))
      proof.check(
        `${session.client} ${session.version} (${name}), recorded, at a server as ${server}: ${turns} turns`,
        errors.length === 0 && shared >= PREFIX_SHARE_MIN,
        errors[0] ?? `0 errors in ${requests} requests; the first prompt is kept by ${percent(shared)}`,
      )
    }
  }
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}

interface World {
  readonly agent: Agent
  readonly provider: FakeProvider
  readonly folder: string
}

interface Ended {
  readonly output: string
  /** What the provider was asked meanwhile. */
  readonly calls: readonly FakeCall[]
}

type Scenario = (world: World) => Promise<void>

const SCENARIOS: Readonly<Record<string, Scenario>> = {
  'a tool in two steps, its thought signed': async (world) => {
    const signature = 'EqoBCkgIARABGAIiQL+/8='
    const plan = { thought: 'Let me write.', signature, command: 'echo by-a-tool > made.txt' }
    const { output, calls } = await worked(
      world,
      { prompt: 'Write made.txt' },
      steps(world, world.agent.answers.calls(plan)),
    )
    ok(output.includes(SAIDOnce), output)
    same(await readFile(join(world.folder, 'made.txt'), 'utf8'), 'by-a-tool\n')
    ok(
      calls.some(({ body }) => body.includes(signature)),
      'no second step has the signature',
    )
  },
  'a picture': async (world) => {
    const image = join(world.folder, 'picture.png')
    await writeFile(image, PICTURE)
    const looks = world.agent.answers.looks(image)
    const says = world.agent.answers.says(WORDS)
    const { output, calls } = await worked(
      world,
      { prompt: 'Look', image },
      looks === null ? says : steps(world, looks),
    )
    ok(output.includes(SAIDOnce), output)
    ok(
      calls.some(({ body }) => /base64/.test(body.toString())),
      'no call has the picture',
    )
  },
  'an answer by a schema': async (world) => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
      additionalProperties: false,
    }
    const { output, calls } = await worked(
      world,
      { prompt: 'Where?', schema },
      world.agent.answers.structured({ city: 'Oslo' }),
    )
    match(output, /\{\\?"city\\?":\s*\\?"Oslo\\?"\}/)
    ok(
      calls.some(({ body }) => body.includes('"city"')),
      'no call has the schema',
    )
  },
  'a refusal': async (world) => {
    const { output } = await worked(
      world,
      { prompt: 'Hi' },
      world.agent.answers.refuses('This prompt is too odd.'),
    )
    match(output, /This prompt is too odd\./)
  },
  'a stream that breaks off once': async (world) => {
    const { says } = world.agent.answers
    let broken = 0
    const answer: FakeAnswer = (call, reply) => {
      const isFirst = broken === 0 && world.agent.answers.isFirst(call)
      if (isFirst) broken++
      const cutAt = isFirst ? { cutAt: 1_500, ending: 'fin' as const } : {}
      return says(isFirst ? [...'abcdefghijklmnopqrstuvwxyz'] : WORDS, cutAt)(call, reply)
    }
    const { output, calls } = await worked(world, { prompt: 'Hi' }, answer)
    ok(broken === 1 && calls.length > 1, 'the agent did not ask again')
    ok(output.includes(SAIDOnce), output)
  },
  'the user leaves': async (world) => {
    const { agent, provider } = world
    provider.usually(agent.answers.stalls(WORDS))
    const before = provider.calls.length
    const running = await agent.start({ prompt: 'Hi', folder: world.folder })
    await until('words were written', () => (provider.calls[before]?.eventsSent ?? 0) > WORDS.length)
    running.child.kill('SIGINT')
    await until('the agent ends', () => hasEnded(running.child))
    await until('the provider sees it', () => provider.calls.slice(before).every(({ isClosed }) => isClosed))
  },
}

/** The first step, then words. */
function steps({ agent: { answers } }: World, first: FakeAnswer): FakeAnswer {
  const last = answers.says(WORDS)
  return (call, reply) => (answers.isFirst(call) ? first : last)(call, reply)
}

async function worked(
  { agent, provider, folder }: World,
  task: Omit<AgentTask, 'folder'>,
  answer: FakeAnswer,
): Promise<Ended> {
  const before = provider.calls.length
  provider.usually(answer)
  const running: Spawned = await agent.start({ ...task, folder })
  await until('the agent ends', () => hasEnded(running.child))
  const calls = provider.calls.slice(before)
  ok(
    calls.every((call) => bodyOf(call)['model'] === 'upstream'),
    'a call names another model',
  )
  return { output: running.output(), calls }
}

function modelOf(protocol: TextProtocol): string {
  return `prove/${protocol}`
}

function catalogueOf(origin: string): object {
  const at = { base_url: `${origin}/v1`, api_key_env: PROVIDER_KEY }
  const ofProtocols = TEXT_PROTOCOLS.map((speaks) => ({
    slug: `of-${speaks}`,
    protocol: MAKERS[speaks],
    ...at,
    strict: MAKERS[speaks] === 'openai',
    speaks: [speaks],
  }))
  const asServers = CHAT_SERVER_NAMES.map((name) => ({
    slug: `as-${name}`,
    protocol: 'openai',
    ...at,
    speaks: ['chat'],
  }))
  return {
    providers: [...ofProtocols, ...asServers],
    models: [
      // The names of Google's models determine the fields that they take.
      ...TEXT_PROTOCOLS.map((name) =>
        modelAt(name, `of-${name}`, name === 'gemini' ? 'gemini-3.1-pro' : 'upstream'),
      ),
      ...CHAT_SERVER_NAMES.map((name) => modelAt(name, `as-${name}`, 'upstream')),
    ],
  }
}

function modelAt(name: string, provider: string, upstream: string): object {
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  return {
    id: `prove/${name}`,
    name,
    architecture: { input_modalities: ['text', 'image', 'file'], output_modalities: ['text'] },
    context_length: 1_000_000,
    endpoints: [{ provider, upstream_model: upstream, pricing, max_completion_tokens: 64_000 }],
  }
}
