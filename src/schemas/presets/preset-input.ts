import type { TSchema } from 'typebox'
import { fail, ok, type Outcome } from '../failures.ts'
import { CHAT_KEPT } from './preset-chat.ts'
import { knownOf } from '../known-members.ts'
import { ISSUES_MAX } from '../limits/limits.ts'
import { PRESET_BYTES_MAX, PRESET_TOOL_CALLS_MAX } from './preset-limits.ts'
import { MESSAGES_KEPT } from './preset-messages.ts'
import { mentionsPreset } from './preset-references.ts'
import { RESPONSES_KEPT } from './preset-responses.ts'

/** The most names of ignored fields that a version lists. Decision. */
export const PRESET_IGNORED_MAX = 64
/** Characters of the name of an ignored field. Decision. */
export const PRESET_IGNORED_CHARS_MAX = 64

/** The wire form of a request. */
export type PresetSource = 'responses' | 'chat' | 'messages'

export interface KeptRequest {
  /** Fields by their wire names, in the order of the request; none is null. */
  readonly config: Readonly<Record<string, unknown>>
  readonly systemPrompt: string | null
  readonly source: PresetSource
  /** Names of the request's top-level fields that are not kept, sorted; at most PRESET_IGNORED_MAX. */
  readonly ignored: readonly string[]
}

type Body = Readonly<Record<string, unknown>>

interface Form {
  readonly kept: TSchema & { readonly properties: Readonly<Record<string, TSchema>> }
  readonly systemPrompt: (body: Body) => string | null
  /** Fields whose whole content becomes the system prompt. */
  readonly prompts: readonly string[]
}

/** Fields that the forms know but do not keep; they are reported first when not all names can be reported. */
const PASSING = [
  'messages',
  'input',
  'prompt',
  'prompt_cache_key',
  'stream',
  'store',
  'background',
  'debug',
  'session_id',
  'user',
  'safety_identifier',
  'trace',
  'metadata',
  'max_tool_calls',
  'stream_options',
  'prediction',
]

/** The ignored fields of a request that its form does not know. */
export function unknownFields(ignored: readonly string[]): readonly string[] {
  return ignored.filter((name) => !PASSING.includes(name))
}

const FORMS: Readonly<Record<PresetSource, Form>> = {
  responses: {
    kept: RESPONSES_KEPT,
    systemPrompt: ({ instructions }) => textOr(instructions, null),
    prompts: ['instructions'],
  },
  chat: { kept: CHAT_KEPT, systemPrompt: ({ messages }) => promptOfMessages(messages), prompts: [] },
  messages: {
    kept: MESSAGES_KEPT,
    systemPrompt: ({ system }) => promptOfSystem(system),
    prompts: ['system'],
  },
}

/** Values that existing clients always send and that have no effect. */
const DEFAULTS: Readonly<Record<string, unknown>> = { service_tier: 'auto', store: false, stream: false }

/**
 * The parts that a preset keeps of a request that passed its schema. Failures:
 * previous_response_unsupported, body_invalid (a model that is a preset, too many tool steps),
 * preset_too_large.
 */
export function presetInputOf(body: Body, source: PresetSource): Outcome<KeptRequest> {
  const refusal = refusalOf(body)
  if (refusal !== null) return refusal
  const form = FORMS[source]
  const config: Record<string, unknown> = {}
  const ignored: string[] = []
  for (const name of Object.keys(body)) {
    const value = body[name]
    if (value === null || value === DEFAULTS[name]) continue
    const shape = Object.hasOwn(form.kept.properties, name) ? form.kept.properties[name] : undefined
    if (shape !== undefined && !isOverruled(name, body))
      config[name] = name === 'service_tier' ? tierOf(value) : knownOf(shape, value)
    else if (!form.prompts.includes(name)) ignored.push(name)
  }
  const systemPrompt = form.systemPrompt(body)
  const bytes = Buffer.byteLength(JSON.stringify(config)) + Buffer.byteLength(JSON.stringify(systemPrompt))
  if (bytes > PRESET_BYTES_MAX)
    return fail('preset_too_large', { fields: { limit: String(PRESET_BYTES_MAX) } })
  return ok({ config, systemPrompt, source, ignored: shownNames(ignored) })
}

/** Checks that the schema cannot express. */
function refusalOf(body: Body): Outcome<never> | null {
  const { previous_response_id: previous, max_tool_calls: steps } = body
  const chained = chainedModels(body).map((path) => ({
    path,
    message: 'is the name of a preset',
    expected: 'the name of a model; a preset cannot use another preset',
  }))
  if (chained.length > 0) return fail('body_invalid', { metadata: { issues: chained } })
  if (previous !== undefined && previous !== null) {
    const issue = {
      path: '/previous_response_id',
      message: 'is not supported',
      expected: 'null, with the full conversation in `input`',
    }
    return fail('previous_response_unsupported', { metadata: { issues: [issue] } })
  }
  if (typeof steps !== 'number' || steps <= PRESET_TOOL_CALLS_MAX || isOverruled('max_tool_calls', body))
    return null
  const expected = `at most ${PRESET_TOOL_CALLS_MAX}, unless stop_server_tools_when is set`
  return fail('body_invalid', {
    metadata: { issues: [{ path: '/max_tool_calls', message: 'is too large', expected }] },
  })
}

/** Paths of models that are themselves presets, which would allow chains and cycles of presets. */
function chainedModels({ model, models }: Body): readonly string[] {
  const fallbacks = (Array.isArray(models) ? models : []).map(
    (each: unknown, at) => [`/models/${at}`, each] as const,
  )
  return [['/model', model] as const, ...fallbacks]
    .filter(([, each]) => typeof each === 'string' && mentionsPreset(each))
    .map(([path]) => path)
    .slice(0, ISSUES_MAX)
}

/** Stop conditions override the limit of steps, which then has no effect. */
function isOverruled(name: string, { stop_server_tools_when: conditions }: Body): boolean {
  return name === 'max_tool_calls' && conditions !== undefined
}

function tierOf(tier: unknown): unknown {
  return tier === 'fast' ? 'priority' : tier
}

function textOr<T>(value: unknown, other: T): string | T {
  return typeof value === 'string' ? value : other
}

interface Message {
  readonly role: string
  readonly content?: unknown
}

/** Joins several prompts with a blank line. */
function promptOfMessages(messages: unknown): string | null {
  const texts = (messages as readonly Message[])
    .filter(({ role }) => role === 'system' || role === 'developer')
    .map(({ content }) => textsOf(content).join(''))
  return texts.length === 0 ? null : texts.join('\n\n')
}

function promptOfSystem(system: unknown): string | null {
  if (system === undefined) return null
  const texts = textsOf(system)
  return texts.length === 0 ? null : texts.join('\n\n')
}

function textsOf(content: unknown): readonly string[] {
  return typeof content === 'string'
    ? [content]
    : (content as readonly { readonly text: string }[]).map(({ text }) => text)
}

/** Names to report, shortened, since a name may be as long as a body: known fields first, then the caller's, in order. */
function shownNames(names: readonly string[]): readonly string[] {
  const known = names.filter((name) => PASSING.includes(name))
  const others = names.filter((name) => !PASSING.includes(name)).sort()
  const room = others.slice(0, PRESET_IGNORED_MAX - known.length).map(short)
  return [...known, ...room].sort()
}

function short(name: string): string {
  if (name.length <= PRESET_IGNORED_CHARS_MAX) return name
  const chars = [...name.slice(0, 2 * PRESET_IGNORED_CHARS_MAX + 2)]
  return chars.length <= PRESET_IGNORED_CHARS_MAX
    ? name
    : `${chars.slice(0, PRESET_IGNORED_CHARS_MAX - 1).join('')}…`
}
