import type { KeptBody, MemberSpan } from '../kept-body.ts'
import { KEPT } from '../presets/preset-fields.ts'
import type { KeptRequest } from '../presets/preset-input.ts'
import { MESSAGES_KEPT } from '../presets/preset-messages.ts'
import { isMissing, joined, PRESET_REFUSED, type ChatPreset } from './chat-preset.ts'
import { isNull, providerBody, type BodyEdit } from './provider-body.ts'

type Source = KeptRequest['source']
type Config = KeptRequest['config']
type Members = Readonly<Record<string, unknown>>

const SHARED = Object.keys(KEPT).filter((name) => !(PRESET_REFUSED as readonly string[]).includes(name))

/** Fields of a form, by the name that each has in messages. */
const NAMES: Readonly<Record<Source, ReadonlyMap<string, string>>> = {
  messages: new Map(Object.keys(MESSAGES_KEPT.properties).map((name) => [name, name])),
  chat: namesOf({ max_tokens: 'max_tokens', max_completion_tokens: 'max_tokens', stop: 'stop_sequences' }),
  responses: namesOf({ max_output_tokens: 'max_tokens' }),
}

function namesOf(others: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map([...SHARED.map((name) => [name, name] as const), ...Object.entries(others)])
}

/** The words of OpenAI's two forms for a choice of tools. */
const CHOICES: ReadonlyMap<unknown, string> = new Map([
  ['auto', 'auto'],
  ['required', 'any'],
  ['none', 'none'],
])

/**
 * What a message takes of a preset, whichever form saved it: fields of messages as they are, those of other
 * forms where messages have the same field, and functions in the form of messages. D6, D10.
 */
export function messagesPresetOf({ config, systemPrompt, source }: Omit<KeptRequest, 'ignored'>): ChatPreset {
  const names = NAMES[source]
  const fields = new Map<string, string>()
  const dropped: string[] = []
  const { model: _, tools, tool_choice: choice, ...others } = config
  for (const [name, value] of Object.entries(others)) {
    const ours = names.get(name)
    if (ours === undefined) dropped.push(name)
    else fields.set(ours, JSON.stringify(name === 'stop' && typeof value === 'string' ? [value] : value))
  }
  const taken = takenTools({ tools, tool_choice: choice }, source)
  if (taken.choice !== undefined) fields.set('tool_choice', JSON.stringify(taken.choice))
  return {
    fields: [...fields],
    tools: taken.tools.map((tool) => ({ identity: identityOf(tool), json: JSON.stringify(tool) })),
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
  if (source === 'messages') return { tools: all, choice, dropped: [] }
  const taken = all.flatMap((tool) => messageToolOf(tool, source) ?? [])
  const word = CHOICES.get(choice)
  // A choice among no tools is refused.
  const isTaken = word !== undefined && taken.length > 0
  return {
    tools: taken,
    choice: isTaken ? { type: word } : undefined,
    dropped: [
      ...(taken.length < all.length ? ['tools'] : []),
      ...(choice === undefined || isTaken ? [] : ['tool_choice']),
    ],
  }
}

/** Null: messages have no such tool, which a server runs. */
function messageToolOf(tool: unknown, source: 'chat' | 'responses'): object | null {
  const outer = membersOf(tool)
  if (outer['type'] !== 'function') return null
  const { name, description, parameters, strict } = source === 'chat' ? membersOf(outer['function']) : outer
  if (typeof name !== 'string') return null
  const schema = membersOf(parameters)
  return {
    name,
    description: description ?? undefined,
    input_schema: { type: 'object', ...schema },
    strict: strict ?? undefined,
  }
}

/** What makes two tools the same one: type and name. B2.2. */
function identityOf(tool: unknown): string {
  const { type, name } = membersOf(tool)
  return JSON.stringify([type ?? 'custom', name ?? ''])
}

/**
 * The caller's bytes with the fields of the preset that the request lacks: its tools behind those of the
 * request, and its system prompt before the request's own. What the request says wins as a whole, and all
 * other bytes stay as they are. D10, B2.2.
 * @param body has passed the schema of a message
 * @param model that results
 */
export function mergedMessage(body: KeptBody, preset: ChatPreset, model: string): Uint8Array {
  const edits: BodyEdit[] = [
    { kind: 'set', name: 'model', json: JSON.stringify(model) },
    { kind: 'cut', name: 'preset' },
  ]
  for (const [name, json] of preset.fields)
    if (body.knows(name) && isMissing(body, name)) edits.push({ kind: 'add', name, json })
  edits.push(...promptEdits(body, preset), ...toolEdits(body, preset))
  return joined(providerBody(body, edits))
}

function promptEdits(body: KeptBody, { systemPrompt }: ChatPreset): readonly BodyEdit[] {
  if (systemPrompt === null) return []
  const system = body.last('system')
  if (system === null || isNull(body, system)) return [{ kind: 'add', name: 'system', json: systemPrompt }]
  const block = `{"type":"text","text":${systemPrompt}}`
  const own = valueOf(body, system)
  if (Array.isArray(own))
    return [{ kind: 'insert', at: system.start + 1, text: own.length === 0 ? block : `${block},` }]
  return [
    { kind: 'insert', at: system.start, text: `[${block},{"type":"text","text":` },
    { kind: 'insert', at: system.end, text: '}]' },
  ]
}

function toolEdits(body: KeptBody, { tools }: ChatPreset): readonly BodyEdit[] {
  if (tools.length === 0) return []
  const list = (some: ChatPreset['tools']): string => some.map(({ json }) => json).join(',')
  const member = body.last('tools')
  if (member === null || isNull(body, member))
    return [{ kind: 'add', name: 'tools', json: `[${list(tools)}]` }]
  const own = valueOf(body, member) as readonly unknown[]
  const identities = new Set(own.map(identityOf))
  const others = tools.filter(({ identity }) => !identities.has(identity))
  if (others.length === 0) return []
  return [{ kind: 'insert', at: member.end - 1, text: `${own.length === 0 ? '' : ','}${list(others)}` }]
}

function valueOf({ bytes }: KeptBody, { start, end }: MemberSpan): unknown {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString())
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}
}
