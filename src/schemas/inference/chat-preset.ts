import type { KeptBody, MemberSpan } from '../kept-body.ts'
import { CHAT_KEPT } from '../presets/preset-chat.ts'
import { KEPT, OPENAI_KEPT } from '../presets/preset-fields.ts'
import type { KeptRequest } from '../presets/preset-input.ts'
import { chatToolOf, toolIdentity } from './chat-preset-tools.ts'
import { isNull, providerBody, type BodyEdit } from './provider-body.ts'

type Source = KeptRequest['source']
type Config = KeptRequest['config']

/** A preset in the form of chat, as JSON: texts cross to a thread at once, whatever they hold. */
export interface ChatPreset {
  /** Values by their names in chat; without `model` and `tools`. */
  readonly fields: readonly (readonly [name: string, json: string])[]
  readonly tools: readonly { readonly identity: string; readonly json: string }[]
  /** The value of a message's `content`; null: the preset has no system prompt. */
  readonly systemPrompt: string | null
  /** Fields of another form that have no words here, for `x-sluice-dropped`. D6. */
  readonly dropped: readonly string[]
}

/**
 * Fields that a chat would refuse: those of another form are dropped, since such a preset is never refused.
 */
export const PRESET_REFUSED = ['plugins', 'stop_server_tools_when'] as const
const SHARED = Object.keys(KEPT).filter((name) => !(PRESET_REFUSED as readonly string[]).includes(name))

/** Fields of a form, by the name that each has in chat. */
const NAMES: Readonly<Record<Source, ReadonlyMap<string, string>>> = {
  chat: namesOf(Object.keys(CHAT_KEPT.properties)),
  responses: namesOf(
    [
      ...SHARED,
      ...Object.keys(OPENAI_KEPT).filter((name) => !Object.hasOwn(KEPT, name)),
      'reasoning',
      'modalities',
    ],
    { max_output_tokens: 'max_tokens' },
  ),
  messages: namesOf([...SHARED, 'max_tokens'], { stop_sequences: 'stop' }),
}

function namesOf(
  same: readonly string[],
  others: Readonly<Record<string, string>> = {},
): ReadonlyMap<string, string> {
  return new Map([...same.map((name) => [name, name] as const), ...Object.entries(others)])
}

/** Fields of which the request's own one stands for all: they say the same thing. */
const TOGETHER: readonly (readonly string[])[] = [
  ['max_tokens', 'max_completion_tokens'],
  ['reasoning', 'reasoning_effort', 'include_reasoning'],
]

/**
 * What a chat takes of a preset, whichever form saved it: fields of chat as they are, those of other forms
 * where chat has the same field, and functions in the form of chat. D6, D10.
 */
export function chatPresetOf({ config, systemPrompt, source }: Omit<KeptRequest, 'ignored'>): ChatPreset {
  const names = NAMES[source]
  const fields: [string, string][] = []
  const dropped: string[] = []
  const { model: _, tools, tool_choice: choice, ...others } = config
  for (const [name, value] of Object.entries(others)) {
    const ours = names.get(name)
    if (ours === undefined) dropped.push(name)
    else fields.push([ours, JSON.stringify(value)])
  }
  const taken = takenTools({ tools, tool_choice: choice }, source)
  if (taken.choice !== undefined) fields.push(['tool_choice', JSON.stringify(taken.choice)])
  return {
    fields,
    tools: taken.tools.map((tool) => ({ identity: toolIdentity(tool), json: JSON.stringify(tool) })),
    systemPrompt: systemPrompt === null ? null : JSON.stringify(systemPrompt),
    dropped: [...dropped, ...taken.dropped],
  }
}

interface TakenTools {
  readonly tools: readonly unknown[]
  readonly choice: unknown
  readonly dropped: readonly string[]
}

function takenTools({ tools, tool_choice: choice }: Config, source: Source): TakenTools {
  const all = Array.isArray(tools) ? (tools as readonly unknown[]) : []
  if (source === 'chat') return { tools: all, choice, dropped: [] }
  const taken = all.flatMap((tool) => chatToolOf(tool, source) ?? [])
  const isLess = taken.length < all.length
  // Only words mean the same everywhere, and a choice among no tools is refused.
  const isSame = typeof choice === 'string' && (taken.length > 0 || all.length === 0)
  return {
    tools: taken,
    choice: isSame ? choice : undefined,
    dropped: [...(isLess ? ['tools'] : []), ...(choice === undefined || isSame ? [] : ['tool_choice'])],
  }
}

/**
 * The caller's bytes with the fields of the preset that the request lacks: its tools behind those of the
 * request, and its system prompt before all messages. What the request says wins as a whole, and all other
 * bytes stay as they are. D10, B2.2.
 * @param body has passed the schema of a chat
 * @param model that results
 */
export function mergedChat(body: KeptBody, preset: ChatPreset, model: string): Uint8Array {
  const edits: BodyEdit[] = [
    { kind: 'set', name: 'model', json: JSON.stringify(model) },
    { kind: 'cut', name: 'preset' },
  ]
  for (const [name, json] of preset.fields) {
    const names = TOGETHER.find((some) => some.includes(name)) ?? [name]
    if (names.every((one) => isMissing(body, one))) edits.push({ kind: 'add', name, json })
  }
  edits.push(...promptEdits(body, preset), ...toolEdits(body, preset))
  return joined(providerBody(body, edits))
}

export function isMissing(body: KeptBody, name: string): boolean {
  const member = body.last(name)
  return member === null || isNull(body, member)
}

function promptEdits(body: KeptBody, { systemPrompt }: ChatPreset): readonly BodyEdit[] {
  const messages = body.last('messages')
  if (systemPrompt === null || messages === null) return []
  // The list has a message at least.
  const text = `{"role":"system","content":${systemPrompt}},`
  return [{ kind: 'insert', at: messages.start + 1, text }]
}

function toolEdits(body: KeptBody, { tools }: ChatPreset): readonly BodyEdit[] {
  if (tools.length === 0) return []
  const list = (some: ChatPreset['tools']): string => some.map(({ json }) => json).join(',')
  const member = body.last('tools')
  if (member === null || isNull(body, member))
    return [{ kind: 'add', name: 'tools', json: `[${list(tools)}]` }]
  const own = toolsOf(body, member)
  const identities = new Set(own.map(toolIdentity))
  const others = tools.filter(({ identity }) => !identities.has(identity))
  if (others.length === 0) return []
  const text = `${own.length === 0 ? '' : ','}${list(others)}`
  return [{ kind: 'insert', at: member.end - 1, text }]
}

function toolsOf({ bytes }: KeptBody, { start, end }: MemberSpan): readonly unknown[] {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()) as unknown[]
}

/** One piece of memory of its own, which can be moved to another thread. */
export function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}
