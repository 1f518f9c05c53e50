/**
 * Records a session of a coding agent that is on the PATH, against a model that follows a script, and keeps its
 * shape: `node dist/test/prove/inference/agents/record.js codex gpt-5.5 codex-known`. Agents offer other
 * tools to models that they know.
 */
import { isDeepStrictEqual } from 'node:util'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isObject, membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { bodyOf, refusesChat } from '../../../support/inference/fake-chat.ts'
import { startFakeProvider, type FakeCall } from '../../../support/inference/fake-provider.ts'
import { hasEnded } from '../../../support/nodes/spawned.ts'
import { until } from '../../../support/wait.ts'
import { IMAGE } from '../scenarios/scenarios.ts'
import type { Agent } from './agent.ts'
import { claudeCode } from './claude-code.ts'
import { codex } from './codex.ts'
import { Neutral } from './neutral.ts'
import { HISTORY, SESSIONS, type RecordedSession } from './recorded-session.ts'

/** Headers whose values are words of the API. All others keep their names, without those of every client. */
const KEPT_HEADERS: ReadonlySet<string> = new Set(['anthropic-version', 'anthropic-beta', 'openai-beta'])
const USUAL_HEADERS =
  /^(?:host|connection|content-|accept|user-agent|authorization|x-api-key|transfer-encoding|x-stainless-)/

const [name = '', model = 'recorded', file = name] = process.argv.slice(2)
if (name !== 'claude-code' && name !== 'codex')
  throw new Error('name claude-code or codex, a model and the file of the session')
const session = await recorded(name, model)
await writeFile(join(SESSIONS, `${file}.json`), `${JSON.stringify(session, null, 1)}\n`)

async function recorded(kind: 'claude-code' | 'codex', model: string): Promise<RecordedSession> {
  const home = await mkdtemp(join(tmpdir(), 'sluice-recorded-'))
  const folder = join(home, 'work')
  await mkdir(folder)
  await writeFile(join(folder, 'picture.png'), Buffer.from(IMAGE.slice(IMAGE.indexOf(',') + 1), 'base64'))
  const provider = await startFakeProvider(() => undefined)
  const input = { origin: provider.origin, key: 'recorded', model, home }
  const agent = kind === 'codex' ? await codex(input) : claudeCode(input)
  if (agent === null) throw new Error(`${kind} is not on the PATH`)
  try {
    const script = agent.answers.session(folder)
    const last = agent.answers.says(['All', ' is', ' done.'])
    let step = 0
    provider.usually((call, reply) => {
      const answer = isMain(call) ? (script[step++] ?? last) : isWriting(call) ? last : refusesChat(404)
      return answer(call, reply)
    })
    const running = await agent.start({ prompt: 'Do the work.', folder })
    await until('the agent ends', () => hasEnded(running.child))
    process.stderr.write(`${running.output().slice(-2_000)}\n${provider.calls.length} calls\n`)
    return sessionOf(agent, kind, provider.calls)
  } finally {
    await provider.close()
    await rm(home, { recursive: true, force: true })
  }
}

/** Agents also look for models and count tokens. */
function isWriting({ method, path }: FakeCall): boolean {
  return method === 'POST' && /\/(?:messages|responses)(?:\?|$)/.test(path)
}

/** A step of the conversation: other calls have no tools, which may stand in the conversation. */
function isMain(call: FakeCall): boolean {
  if (!isWriting(call)) return false
  const { tools, input } = bodyOf(call)
  const within = Array.isArray(input) ? input.flatMap((item) => membersOf(item)['tools'] ?? []) : []
  return (Array.isArray(tools) && tools.length > 0) || within.length > 0
}

function sessionOf(agent: Agent, kind: string, calls: readonly FakeCall[]): RecordedSession {
  const neutral = new Neutral()
  const dialect = kind === 'codex' ? 'responses' : 'messages'
  const [first, ...later] = calls.filter(isMain)
  if (first === undefined) throw new Error('the agent called no model')
  const shape = (value: unknown): Members => neutral.shapeOf(value) as Members
  const histories = [first, ...later].map((call) => bodyOf(call)[HISTORY[dialect]] as readonly Members[])
  const [client = '', version = ''] = agent.name.split(/ (?=\d)/)
  return {
    client,
    version,
    dialect,
    headers: headersOf(first),
    query: /\?.*$/.exec(first.path)?.[0] ?? '',
    first: shape(bodyOf(first)),
    turns: histories.slice(1).map((history, nth) => addedTo(histories[nth] ?? [], history).map(shape)),
    sides: calls.filter((call) => isWriting(call) && !isMain(call)).map((call) => shape(bodyOf(call))),
  }
}

function headersOf({ headers }: FakeCall): Readonly<Record<string, string>> {
  const own = Object.entries(headers).filter(([header]) => !USUAL_HEADERS.test(header))
  return Object.fromEntries(
    own.map(([header, value]) => [header, KEPT_HEADERS.has(header) ? value : 'neutral']),
  )
}

/** What a request added. Marks of the cache move to its end. */
function addedTo(before: readonly Members[], history: readonly Members[]): readonly Members[] {
  const at = before.findIndex((one, nth) => !isDeepStrictEqual(unmarked(one), unmarked(history[nth])))
  if (at >= 0) process.stderr.write(`entry ${at} was written anew\n`)
  return history.slice(before.length)
}

function unmarked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unmarked)
  if (!isObject(value)) return value
  const { cache_control: _, ...rest } = value
  return Object.fromEntries(Object.entries(rest).map(([member, one]) => [member, unmarked(one)]))
}
