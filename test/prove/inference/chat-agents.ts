/** Coding agents as their makers ship them, where they are installed. */
import { deepStrictEqual as same, match, ok } from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bodyOf } from '../../support/inference/fake-chat.ts'
import {
  startFakeProvider,
  type FakeAnswer,
  type FakeCall,
  type FakeProvider,
} from '../../support/inference/fake-provider.ts'
import { hasEnded, type Spawned } from '../../support/nodes/spawned.ts'
import { startStand } from '../../support/nodes/stand.ts'
import { until } from '../../support/wait.ts'
import type { Program, Proof } from '../proof.ts'
import { versionOf, type Agent, type AgentTask } from './agents/agent.ts'
import { CLAUDE_CODE, claudeCode } from './agents/claude-code.ts'
import { CODEX, codex } from './agents/codex.ts'
import { IMAGE } from './scenarios/scenarios.ts'

const ROUNDS = { full: 10, short: 1 }
const CLAUDE = 'prove/claude'
const OPENAI = 'prove/openai'
const WORDS = ['The', ' work', ' is', ' done.']
const SAID = WORDS.join('')
const PICTURE = Buffer.from(IMAGE.slice(IMAGE.indexOf(',') + 1), 'base64')

export const program: Program = {
  text: 'Claude Code and Codex, where they are installed: tools, signed thoughts, pictures, schemas, errors and leaving, 0 failures',
  async run(proof) {
    if (versionOf(CLAUDE_CODE) === null && versionOf(CODEX) === null) {
      proof.skipped = 'neither `claude` nor `codex` is on the PATH'
      return
    }
    const provider = await startFakeProvider(() => undefined)
    proof.after(() => provider.close())
    const home = await mkdtemp(join(tmpdir(), 'sluice-agents-'))
    proof.after(() => rm(home, { recursive: true, force: true }))
    const stand = await startStand({ catalogue: catalogueOf(provider.origin) })
    proof.after(() => stand.stop())
    const origin = `http://127.0.0.1:${stand.port}`
    const key = stand.keys.inference_key
    const agents = [
      claudeCode({ origin, key, model: CLAUDE, home }),
      await codex({ origin, key, model: OPENAI, home }),
    ].filter((agent) => agent !== null)
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
    noFaults(proof, stand.output())
  },
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
    ok(output.includes(SAID), output)
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
    ok(output.includes(SAID), output)
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
    ok(output.includes(SAID), output)
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

/** No call, however it ended, was a fault of the node's own. */
function noFaults(proof: Proof, output: string): void {
  const fault = output.split('\n').find((line) => line.includes('"level":"error"'))
  proof.check('the node logs no error', fault === undefined, fault ?? 'none')
}

function catalogueOf(origin: string): object {
  const pricing = { prompt: '0.000001', completion: '0.000002' }
  const architecture = { input_modalities: ['text', 'image'], output_modalities: ['text'] }
  return {
    providers: [
      { slug: 'claude', protocol: 'anthropic', base_url: `${origin}/v1` },
      { slug: 'openai', protocol: 'openai', base_url: `${origin}/v1`, strict: true, speaks: ['responses'] },
    ],
    models: ['claude', 'openai'].map((slug) => ({
      id: `prove/${slug}`,
      name: slug,
      architecture,
      context_length: 200_000,
      endpoints: [{ provider: slug, upstream_model: 'upstream', pricing, max_completion_tokens: 64_000 }],
    })),
  }
}
