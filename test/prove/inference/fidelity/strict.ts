/** A provider that refuses what OpenAI's types lack accepts requests with everything that OpenRouter has. */
import { strictChat } from '../../../support/inference/fake-chat.ts'
import type { Proof } from '../../proof.ts'
import { Faults } from '../streams/faults.ts'
import { DIALECTS } from './faithful-dialect.ts'
import { CASE, MODEL, openFaithful, type Passed } from './faithful-stand.ts'
import { RawJson, type Written } from './raw-json.ts'
import { bytesOf, elementsOf, membersOf, textOf } from './raw-members.ts'

const REQUESTS = { full: 2_000, short: 60 }

/** A member that such a provider refuses, with a value; whether it is named where it is cut. */
type Foreign = readonly [name: string, json: string, isNamed: boolean]

/** D4. A value that is the default is not named. */
const TOP: readonly Foreign[] = [
  ['top_k', '40', true],
  ['top_k', '0', false],
  ['top_a', '0.5', true],
  ['min_p', '0.05', true],
  ['min_p', '0.0', false],
  ['repetition_penalty', '1.1', true],
  ['repetition_penalty', '1.0', false],
  ['include_reasoning', 'true', false],
  ['include_reasoning', 'false', true],
  ['image_config', '{"aspect_ratio":"1:1"}', true],
  ['image_config', '{ }', false],
  ['cache_control', '{"type":"ephemeral"}', true],
  ['prompt_cache_breakpoint', '{"x":1}', true],
]
const INSIDE: readonly Foreign[] = [
  ['cache_control', '{"type":"ephemeral","ttl":"1h"}', true],
  ['cache_control', 'null', false],
  ['prompt_cache_breakpoint', '{"x":[1.0]}', true],
]
const OF_ASSISTANTS: readonly Foreign[] = [
  ['reasoning', '"because \\u00e9"', true],
  ['reasoning', 'null', false],
  ['reasoning_content', '""', false],
  ['reasoning_details', '[{"type":"reasoning.text","text":"1e400","signature":"s"}]', true],
  ['reasoning_details', '[]', false],
  ['annotations', '[{"type":"url_citation","url_citation":{"url":"https://a.example"}}]', true],
  ['images', '[{"type":"image_url","image_url":{"url":"data:,"}}]', true],
  ['model', '"acme/one"', true],
]
const OF_TOOLS: readonly Foreign[] = [['name', '"weather"', true]]

/** Members that are Sluice's and are never named, and those that the types have. */
const OTHERS: readonly Written[] = [
  ['models', '[]'],
  ['provider', '{"sort":"price"}'],
  ['plugins', '[]'],
  ['route', '"fallback"'],
  ['usage', '{"include":true}'],
  ['session_id', '"one"'],
  ['trace', '{}'],
  ['debug', '{}'],
  ['temperature', '1.0'],
  ['seed', '7'],
  ['logit_bias', '{"1":1.0}'],
  ['metadata', '{"a":"1.0"}'],
  ['parallel_tool_calls', 'false'],
  ['response_format', '{"type":"json_object"}'],
  ['top_logprobs', '2'],
  ['logprobs', 'true'],
  ['prompt_cache_key', '"k"'],
  ['verbosity', '"low"'],
  ['service_tier', '"auto"'],
]

interface Asked {
  readonly body: string
  /** What the provider has to get of the messages and the tools. */
  readonly messages: readonly string[]
  readonly tools: readonly string[]
  readonly effort: string | null
  readonly dropped: ReadonlySet<string>
}

export async function strict(proof: Proof): Promise<void> {
  const [chat] = DIALECTS
  if (chat === undefined) throw new Error('there are no dialects')
  const count = proof.isShort ? REQUESTS.short : REQUESTS.full
  const json = new RawJson((below) => proof.random(below))
  const stand = await openFaithful(chat, strictOrUnnamed, { providers: { strict: true } })
  const faults = new Faults()
  for (let nth = 0; nth < count; nth++) {
    const asked = askedOf(json, nth)
    const fault = faultOf(asked, await stand.pass(asked.body))
    if (fault !== null) faults.add(`${nth}: ${fault}`)
  }
  await stand.close()
  proof.check(
    "chat: a strict provider takes requests with all that is OpenRouter's, and what is cut is named",
    faults.isNone,
    faults.reported(count),
  )
}

/** The member that distinguishes requests is not one of OpenAI's. */
const strictOrUnnamed: ReturnType<typeof strictChat> = (call, reply) => {
  const body = JSON.parse(call.body.toString()) as Record<string, unknown>
  delete body[CASE]
  return strictChat()({ ...call, body: Buffer.from(JSON.stringify(body)) }, reply)
}

function askedOf(json: RawJson, id: number): Asked {
  const dropped = new Set<string>()
  const foreign = (from: readonly Foreign[]): readonly Written[] => {
    const some = new Map(json.shuffled(from).map((one) => [one[0], one] as const))
    const taken = [...some.values()].filter(() => json.once(2))
    for (const [name, , isNamed] of taken) if (isNamed) dropped.add(name)
    return taken.map(([name, value]) => [name, value])
  }
  /** An object as it is sent, and as it has to come. */
  const both = (own: readonly Written[], cut: readonly Written[]): Both => {
    const names = new Set(cut.map(([name]) => name))
    const sent = json.object(json.shuffled([...own, ...cut]))
    const come = membersOf(bytesOf(sent)).filter(({ name }) => !names.has(name))
    return { sent, come: come.map(({ key, value }) => `${key}:${value}`).join() }
  }
  const messages = Array.from({ length: 1 + json.random(5) }, () => messageOf(json, { foreign, both }))
  const tools = Array.from({ length: json.random(3) }, () =>
    both(
      [
        ['type', '"function"'],
        ['function', '{"name":"f","parameters":{"a":1.0}}'],
      ],
      foreign(INSIDE),
    ),
  )
  const effort = json.once(3) ? json.pick(['low', 'high']) : null
  const reasoning = reasoningOf(json, effort, dropped)
  const members: readonly Written[] = [
    ['model', `"${MODEL}"`],
    ['messages', json.list(messages.map(({ sent }) => sent))],
    ...(tools.length === 0 ? [] : [['tools', json.list(tools.map(({ sent }) => sent))] as const]),
    ...(json.once(2) ? [['stream', 'true'] as const] : []),
    ...reasoning,
    ...OTHERS.filter(() => json.once(2)),
    ...foreign(TOP),
  ]
  const body = bytesOf(json.object([...json.shuffled(members), [CASE, String(id)]]))
  return {
    body,
    messages: messages.map(({ come }) => come),
    tools: tools.map(({ come }) => come),
    effort,
    dropped,
  }
}

/** An object as it is sent, and its members as they have to come. */
interface Both {
  readonly sent: string
  readonly come: string
}

interface Making {
  foreign(from: readonly Foreign[]): readonly Written[]
  both(own: readonly Written[], cut: readonly Written[]): Both
}

function messageOf(json: RawJson, { foreign, both }: Making): Both {
  const role = json.pick(['system', 'user', 'assistant', 'tool'] as const)
  const text: Written = ['content', json.text()]
  if (role === 'tool')
    return both(
      [['role', '"tool"'], ['tool_call_id', '"c"'], text],
      [...foreign(OF_TOOLS), ...foreign(INSIDE)],
    )
  const cut = [...(role === 'assistant' ? foreign(OF_ASSISTANTS) : []), ...foreign(INSIDE)]
  return both([['role', `"${role}"`], text], cut)
}

function reasoningOf(json: RawJson, effort: string | null, dropped: Set<string>): readonly Written[] {
  const isLimited = json.once(3)
  if (effort === null && !isLimited) return []
  if (isLimited) dropped.add('reasoning.max_tokens')
  const members: readonly Written[] = [
    ...(effort === null ? [] : [['effort', `"${effort}"`] as const]),
    ...(isLimited ? [['max_tokens', '1024'] as const] : []),
    ['exclude', 'false'],
  ]
  return [['reasoning', json.object(members)]]
}

function faultOf(asked: Asked, { status, got, dropped, refusal }: Passed): string | null {
  if (status !== 200 || got === null) return `${status} ${refusal}`
  const members = new Map(membersOf(got).map(({ name, value }) => [name, value]))
  const come = (name: string): readonly string[] =>
    elementsOf(members.get(name) ?? '[]').map((one) =>
      membersOf(one)
        .map(({ key, value }) => `${key}:${value}`)
        .join(),
    )
  for (const name of ['messages', 'tools'] as const)
    if (come(name).join('\n') !== asked[name].join('\n')) return `${name} differ: ${come(name).join()}`
  const effort = members.get('reasoning_effort')
  if ((effort === undefined ? null : textOf(effort)) !== asked.effort)
    return `effort ${effort} for ${asked.effort}`
  const [named, wanted] = [[...dropped].sort().join(), [...asked.dropped].sort().join()]
  return named === wanted ? null : `dropped ${named} for ${wanted}`
}
