/** What of a request is Sluice's, by the words of the contract alone: a row for each form of callers. */
import { answersChat } from '../../../support/inference/fake-chat.ts'
import { answersMessages } from '../../../support/inference/fake-messages.ts'
import type { FakeAnswer } from '../../../support/inference/fake-provider.ts'
import { answersResponses } from '../../../support/inference/fake-responses.ts'
import { membersOf, type RawMember } from './raw-members.ts'
import type { RawJson, Written } from './raw-json.ts'

export interface FaithfulDialect {
  readonly name: string
  /** Below `/api/v1`. */
  readonly path: string
  /** The member that has the conversation. */
  readonly turns: string
  readonly answers: FakeAnswer
  /** Members that every request has, besides `model` and the conversation. */
  readonly required: readonly Written[]
  /** Members that are checked: names, with values that are right. */
  readonly checked: readonly Written[]
  turn(json: RawJson): string
  /** Members that have another value at the provider, by their names. @param kept what is not taken out */
  changes(kept: readonly RawMember[]): Readonly<Record<string, string>>
}

/** Members that no provider gets, with values that are right. D4. */
const OURS: readonly Written[] = [
  ['models', '[]'],
  ['provider', '{"allow_fallbacks":true,"sort":"price"}'],
  ['preset', 'null'],
  ['route', '"fallback"'],
  ['transforms', '[]'],
  ['plugins', '[]'],
  ['usage', '{"include":true}'],
  ['session_id', '"one"'],
  ['trace', '{"name":"\\u00e9","deep":[{}]}'],
  ['debug', '{"echo_upstream_body":false}'],
]

/** Of a provider that has no limit to keep. */
const FIGURES: readonly Written[] = [
  ['temperature', '1.0'],
  ['top_p', '0.90'],
]
/** Members that are named nowhere, with values of the kinds that providers have. */
const PASSED: readonly Written[] = [
  ['service_tier', '"auto"'],
  ['logit_bias', '{"50256":-100.0}'],
  ['chat_template_kwargs', '{"enable_thinking":false}'],
  ['context_management', '{"edits":[]}'],
]

/** Turns of a user, of an assistant, with parts of known and of unknown types, and with unknown members. */
function turn(json: RawJson, textPart: string): string {
  const role = json.pick(['user', 'user', 'assistant'])
  const part = (): string => {
    const type = json.pick([textPart, 'x_part'])
    const own: readonly Written[] = [
      ['type', `"${type}"`],
      ['text', json.text()],
    ]
    return json.object(json.shuffled([...own, ...more(json)]))
  }
  const parts = Array.from({ length: 1 + json.random(3) }, part)
  const content = json.once(2) ? json.text() : json.list(parts)
  return json.object(json.shuffled([['role', `"${role}"`], ['content', content], ...more(json)]))
}

function more(json: RawJson): readonly Written[] {
  const cache: readonly Written[] = json.once(3) ? [['cache_control', '{"type": "ephemeral"}']] : []
  const unknown = (): Written => [`x_${json.random(1_000)}`, json.value()]
  return [...cache, ...Array.from({ length: json.random(3) }, unknown)]
}

const chat: FaithfulDialect = {
  name: 'chat',
  path: '/chat/completions',
  turns: 'messages',
  answers: answersChat(),
  required: [],
  checked: [
    ...OURS,
    ...FIGURES,
    ...PASSED,
    ['seed', '7.0'],
    ['stop', '["\\u0000", "😀"]'],
    ['max_tokens', '1e2'],
    ['user', '"1e400"'],
    ['response_format', '{"type":"text","x":1.0}'],
    ['tools', '[{"type":"function","function":{"name":"f","parameters":{"b":1.0,"a":1e40}}}]'],
    ['tool_choice', '"auto"'],
    ['stream_options', '{ "x" : [ ] }'],
  ],
  turn: (json) => turn(json, 'text'),
  changes(kept) {
    const isStream = kept.some(({ name, value }) => name === 'stream' && value === 'true')
    const options = kept.find(({ name }) => name === 'stream_options')?.value
    if (!isStream) return {}
    if (options === undefined || options === 'null') return { stream_options: '{"include_usage":true}' }
    return { stream_options: asksUsage(options) }
  },
}

/** The options with the usage asked for, all else as it was. D7. */
function asksUsage(options: string): string {
  const asked = '"include_usage":true'
  const inner = options.slice(options.indexOf('{') + 1)
  const space = /^[ \t\n\r]*/.exec(inner)?.[0] ?? ''
  const rest = inner.slice(space.length)
  return membersOf(options).length === 0 ? `{${space}${asked}${rest}` : `{${space}${asked},${rest}`
}

const messages: FaithfulDialect = {
  name: 'messages',
  path: '/messages',
  turns: 'messages',
  answers: answersMessages(),
  required: [['max_tokens', '64']],
  checked: [
    ...OURS,
    ...FIGURES,
    ...PASSED,
    ['metadata', '{"user_id":"\\u00e9","x":1.0}'],
    ['stop_sequences', '["\\u0000", "😀"]'],
    ['system', '[{"type":"text","text":"1e400","cache_control":{"type":"ephemeral"}}]'],
    ['tools', '[{"name":"f","input_schema":{"type":"object","b":1.0,"a":1e40}}]'],
    ['thinking', '{"type":"disabled"}'],
  ],
  turn: (json) => turn(json, 'text'),
  changes: () => ({}),
}

const responses: FaithfulDialect = {
  name: 'responses',
  path: '/responses',
  turns: 'input',
  answers: answersResponses(),
  required: [],
  checked: [
    ...OURS,
    ...FIGURES,
    ...PASSED,
    ['store', 'false'],
    ['instructions', '"1e400 \\ud83d\\ude00"'],
    ['max_output_tokens', '1e2'],
    ['include', '["reasoning.encrypted_content"]'],
    ['tools', '[{"type":"function","name":"f","parameters":{"b":1.0,"a":1e40}}]'],
    ['text', '{"format":{"type":"text"},"x":1.0}'],
    ['metadata', '{"a":"1.0"}'],
  ],
  turn: (json) => turn(json, 'input_text'),
  changes: () => ({ store: 'false' }),
}

export const DIALECTS: readonly FaithfulDialect[] = [chat, messages, responses]

/**
 * The members of a request as the provider has to get them, in their order. D4.
 * @param model the provider's own name of it
 */
export function expectedOf(
  dialect: FaithfulDialect,
  sent: readonly RawMember[],
  model: string,
): readonly RawMember[] {
  const known = onceOnly(dialect)
  const ours = new Set(OURS.map(([name]) => name))
  const kept = sent.filter(
    ({ name }, at) =>
      !ours.has(name) && !(known.has(name) && sent.slice(at + 1).some((later) => later.name === name)),
  )
  const changes = new Map(Object.entries({ model: JSON.stringify(model), ...dialect.changes(kept) }))
  const changed = kept.map((member) => ({ ...member, value: changes.get(member.name) ?? member.value }))
  const added = [...changes].filter(([name]) => !kept.some((one) => one.name === name))
  return [...changed, ...added.map(([name, value]) => ({ name, key: JSON.stringify(name), value }))]
}

/** Names that stand for one member each: of several the last counts, and goes out alone. D4. */
export function onceOnly(dialect: FaithfulDialect): ReadonlySet<string> {
  const names = [...dialect.checked, ...dialect.required].map(([name]) => name)
  const passed = new Set(PASSED.map(([name]) => name))
  return new Set(['model', 'stream', dialect.turns, ...names.filter((name) => !passed.has(name))])
}
