/** A recorded session that goes on for as many turns as asked, by what the model of the run answers. */
import { isDeepStrictEqual } from 'node:util'
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import { isObject, membersOf, type Members } from '../../../../src/schemas/values/members.ts'
import { messageReader, responseOf } from '../../../support/inference/accumulated.ts'
import { bodyOf } from '../../../support/inference/fake-chat.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { filled, projected } from './neutral.ts'
import { answersAs, renderedPrompt, type AskedEffort, type ChatServerName } from './chat-servers.ts'
import { STRICT } from './provider-rules.ts'
import { HISTORY, type RecordedSession } from './recorded-session.ts'
import { statedIn, WRITES, type Stated } from './scripted-model.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export interface ReplayInput {
  /** Of the node. */
  readonly origin: string
  readonly key: string
  readonly model: string
  readonly turns: number
}

export interface Replayed {
  /** The first errors: of a status, of a stream, or of what the client reads. */
  readonly errors: readonly string[]
  readonly requests: number
  /** Names in `x-sluice-dropped`. */
  readonly dropped: ReadonlySet<string>
}

/** The model of a session, before which a strict provider, or a server of chat with its own habits, stands. */
export class SessionModel {
  readonly answer: FakeAnswer
  turn = 0
  stated: Stated | null = null
  /** The prompts of the conversation, as a server of chat renders them. */
  readonly prompts: string[] = []
  readonly #given = new Set<string>()

  constructor(
    protocol: TextProtocol,
    server: { readonly name: ChatServerName; readonly asked: AskedEffort } | null,
  ) {
    let asked: Members = {}
    const say = (): Stated => {
      const text = statedIn(this.turn, protocol, asked)
      this.#given.add(text.signature)
      this.stated = text
      return text
    }
    const strict =
      server === null
        ? STRICT[protocol](WRITES[protocol](say), this.#given)
        : answersAs(server.name, say, server.asked)
    this.answer = (call, reply) => {
      asked = bodyOf(call)
      if (server !== null) this.prompts[this.turn] ??= renderedPrompt(asked)
      return strict(call, reply)
    }
  }
}

/** Each recorded turn as the client wrote it: what the model said, and what the client added. */
interface Templates {
  /** By their types. */
  readonly written: ReadonlyMap<string, Members>
  readonly results: readonly Members[]
  /** Added to results in the same entry, by turns. */
  readonly added: readonly (readonly Members[])[]
  /** Entries after that one, by turns. */
  readonly after: readonly (readonly Members[])[]
}

export async function replay(
  session: RecordedSession,
  { origin, key, model, turns }: ReplayInput,
  scripted: SessionModel,
): Promise<Replayed> {
  const errors: string[] = []
  const dropped = new Set<string>()
  const dialect = DIALECT_REPLAYS[session.dialect]
  const first = filled(session.first) as Members
  const templates = dialect.templates(session)
  const read = await dialect.reader()
  let requests = 0
  const send = async (body: Members): Promise<Buffer | null> => {
    requests++
    const response = await fetch(`${origin}${API_PREFIX}${dialect.path}${session.query}`, {
      method: 'POST',
      headers: { ...session.headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, model }),
    })
    const bytes = Buffer.from(await response.arrayBuffer())
    for (const name of (response.headers.get('x-sluice-dropped') ?? '').split(','))
      if (name !== '') dropped.add(name)
    if (response.status === 200) return bytes
    errors.push(`${response.status}: ${bytes.toString().slice(0, 400)}`)
    return null
  }
  for (const side of session.sides) await send(filled(side) as Members)
  scripted.prompts.length = 0
  const begun = first[HISTORY[session.dialect]] as readonly Members[]
  let history: readonly Members[] = begun
  for (let turn = 0; turn < turns && errors.length < 3; turn++) {
    scripted.turn = turn
    const bytes = await send(billed({ ...first, [HISTORY[session.dialect]]: history }, turn))
    if (bytes === null) break
    const answer = await read(bytes).catch((problem: unknown) => {
      errors.push(`turn ${turn}: ${problem instanceof Error ? problem.message : String(problem)}`)
      return null
    })
    if (answer === null || scripted.stated === null) break
    const fault = faultOf(dialect.wrote(answer), scripted.stated)
    if (fault !== null) errors.push(`turn ${turn}: ${fault}`)
    const more = dialect.next(answer, { templates, turn, prompt: begun.at(-1) ?? {} })
    history = [...history.map(unmarked), ...more]
  }
  return { errors, requests, dropped }
}

/** Claude Code's first system text differs in each request. */
function billed(body: Members, turn: number): Members {
  const { system } = body
  if (!Array.isArray(system)) return body
  const text = `x-anthropic-billing-header: cc_version=2.1.330; cc_entrypoint=cli; cch=${turn};`
  return { ...body, system: [{ type: 'text', text }, ...(system as unknown[]).slice(1)] }
}

interface Wrote {
  readonly text: string
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
}

function faultOf(wrote: Wrote, { words, calls }: Stated): string | null {
  const meant: Wrote = {
    text: words.join(''),
    calls: calls.map(({ name, input }) => ({ name, input: bare(input) })),
  }
  const came: Wrote = {
    ...wrote,
    calls: wrote.calls.map(({ name, input }) => ({ name, input: bare(input) })),
  }
  return isDeepStrictEqual(came, meant) ? null : `${JSON.stringify(came)} is not ${JSON.stringify(meant)}`
}

/** A tool that takes a text is a function with one argument where the protocol has functions alone. */
function bare(input: unknown): unknown {
  const { input: text, ...more } = membersOf(input)
  return typeof text === 'string' && Object.keys(more).length === 0 ? text : input
}

interface Going {
  readonly templates: Templates
  readonly turn: number
  /** What the user wrote first. */
  readonly prompt: Members
}

interface DialectReplay {
  readonly path: string
  reader(): Promise<(bytes: Buffer) => Promise<Members>>
  templates(session: RecordedSession): Templates
  wrote(answer: Members): Wrote
  /** Entries that the client adds to the conversation after an answer. */
  next(answer: Members, going: Going): readonly Members[]
}

const MESSAGES: DialectReplay = {
  path: '/messages',
  reader: () => messageReader(),
  templates({ turns }) {
    const of = (entries: readonly Members[], role: string): readonly Members[] =>
      entries.filter((one) => one['role'] === role).flatMap(({ content }) => listOf(content))
    const given = turns.map((entries) => of(entries, 'user'))
    return {
      written: new Map(
        turns.flatMap((entries) => of(entries, 'assistant')).map((one) => [String(one['type']), one]),
      ),
      results: given.flat().filter(({ type }) => type === 'tool_result'),
      added: given.map((blocks) => blocks.filter(({ type }) => type !== 'tool_result')),
      after: turns.map((entries) => entries.filter(({ role }) => role !== 'user' && role !== 'assistant')),
    }
  },
  wrote({ content }) {
    const blocks = listOf(content)
    return {
      text: blocks.map(({ type, text }) => (type === 'text' ? String(text) : '')).join(''),
      calls: blocks
        .filter(({ type }) => type === 'tool_use')
        .map(({ name, input }) => ({ name: String(name), input })),
    }
  },
  next({ content }, { templates, turn, prompt }) {
    const blocks = listOf(content).map((block) => echoed(block, templates))
    const calls = blocks.filter(({ type }) => type === 'tool_use')
    if (calls.length === 0) return [{ role: 'assistant', content: blocks }, prompt]
    const results = calls.map(({ id }, nth) => ({ ...resultOf(templates, turn + nth), tool_use_id: id }))
    return [
      { role: 'assistant', content: blocks },
      { role: 'user', content: [...results, ...filledAt(templates.added, turn)] },
      ...filledAt(templates.after, turn),
    ]
  },
}

const OUTPUT_OF: ReadonlyMap<unknown, string> = new Map([
  ['function_call', 'function_call_output'],
  ['custom_tool_call', 'custom_tool_call_output'],
])
const OF_MODEL: ReadonlySet<unknown> = new Set(['reasoning', 'function_call', 'custom_tool_call'])

const RESPONSES: DialectReplay = {
  path: '/responses',
  reader: () => Promise.resolve(responseOf),
  templates({ turns }) {
    const items = turns.flat()
    const isResult = ({ type }: Members): boolean => [...OUTPUT_OF.values()].includes(String(type))
    const isStated = ({ type, role }: Members): boolean => OF_MODEL.has(type) || role === 'assistant'
    return {
      written: new Map(items.filter(isStated).map((one) => [String(one['type']), one])),
      results: items.filter(isResult),
      added: [],
      after: turns.map((some) => some.filter((one) => !isResult(one) && !isStated(one))),
    }
  },
  wrote({ output }) {
    const items = listOf(output)
    return {
      text: items
        .filter(({ type }) => type === 'message')
        .flatMap(({ content }) => listOf(content).map(({ text }) => String(text)))
        .join(''),
      calls: items
        .filter(({ type }) => OUTPUT_OF.has(type))
        .map((item) => ({ name: nameOf(item), input: argumentsOf(item) })),
    }
  },
  next({ output }, { templates, turn, prompt }) {
    const items = listOf(output)
    const calls = items.filter(({ type }) => OUTPUT_OF.has(type))
    const text = items.map((item) => echoed(item, templates))
    if (calls.length === 0) return [...text, prompt]
    const results = calls.map(({ type, call_id }, nth) => {
      const result = resultOf(templates, turn + nth, OUTPUT_OF.get(type))
      return { ...result, call_id }
    })
    return [...text, ...results, ...filledAt(templates.after, turn)]
  },
}

const DIALECT_REPLAYS = { messages: MESSAGES, responses: RESPONSES } as const

/** A tool of a namespace is a function of both names where the protocol has functions alone. */
function nameOf({ namespace, name }: Members): string {
  return typeof namespace === 'string' ? `${namespace}__${String(name)}` : String(name)
}

function argumentsOf({ type, arguments: json, input }: Members): unknown {
  return type === 'custom_tool_call' ? input : JSON.parse(String(json))
}

/** With the members that the client gives back. */
function echoed(part: Members, { written }: Templates): Members {
  const template = written.get(String(part['type']))
  const { namespace } = part
  const named = namespace === undefined ? {} : { namespace }
  return template === undefined ? part : { ...(projected(part, template) as Members), ...named }
}

/** @param type of the result; absent: any */
function resultOf({ results }: Templates, turn: number, type?: string): Members {
  const fitting = results.filter((one) => type === undefined || one['type'] === type)
  return filled(atTurn(fitting, turn) ?? { type, output: 'done' }) as Members
}

function atTurn<T>(list: readonly T[], turn: number): T | undefined {
  return list[turn % Math.max(1, list.length)]
}

function filledAt(turns: readonly (readonly Members[])[], turn: number): readonly Members[] {
  return filled(atTurn(turns, turn) ?? []) as readonly Members[]
}

/** Marks of the cache are at the end of the conversation alone. */
function unmarked(entry: Members): Members {
  const { content } = entry
  if (!Array.isArray(content)) return entry
  const blocks = content.map((block: unknown) => {
    if (!isObject(block)) return block
    const { cache_control: _, ...more } = block
    return more
  })
  return { ...entry, content: blocks }
}

function listOf(value: unknown): readonly Members[] {
  return Array.isArray(value) ? value.map(membersOf) : []
}
