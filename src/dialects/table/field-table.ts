/** How each member of a request is handled in each protocol: one table for readers, writers and documentation. */
import { RESPONSES_STRICT_CUT, STRICT_CUT } from '../../schemas/inference/strict-members.ts'
import { OURS_NAMES } from '../../schemas/inference/text-members.ts'
import type { Dialect } from '../../schemas/inference/text-request.ts'
import {
  MAKER_TOKENS_MIN,
  MAKER_USER_CHARS_MAX,
  STRICT_STOPS_MAX,
  NO_BUDGET_FROM,
  GEMINI_STOPS_MAX,
} from '../../schemas/models/openai-maker.ts'
import type { Tuning } from '../prompt/prompt.ts'
import { TEXT_PROTOCOLS, type TextProtocol } from '../../schemas/models/protocols.ts'

/**
 * `mapped`: the protocol has an equivalent; `dropped`: it is left out of the request, and the answer reports
 * it; `refused`: without it the answer would change; `ours`: only Sluice uses it, and no provider gets it.
 */
export type FieldClass = 'mapped' | 'dropped' | 'refused' | 'ours'

/** A field of the intermediate form, with its member names in each protocol. */
export interface CarriedField {
  /** Paths from the top of the request, with dots. */
  readonly names: Readonly<Partial<Record<TextProtocol, readonly string[]>>>
  /** Other paths that readers accept but writers never write. */
  readonly aliases?: Readonly<Partial<Record<Dialect, readonly string[]>>>
  /** Values that a protocol refuses although it has the member, as text for people. */
  readonly limits?: Readonly<Partial<Record<TextProtocol, string>>>
  /** Handling when a protocol has no such member. */
  readonly lost: 'dropped' | 'refused'
}

/** All three dialects and Gemini have it, under these names. */
function everywhere(
  chat: readonly string[],
  responses: readonly string[],
  messages: readonly string[],
  gemini: readonly string[],
): CarriedField {
  return { names: { chat, responses, messages, gemini }, lost: 'refused' }
}

/** Gemini's name of a member in OpenAI's spelling. */
function inConfig(name: string): string {
  return `generationConfig.${name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())}`
}

/** Members that shape Sluice's answer, whatever protocol the provider speaks; translated requests never contain them. */
const SHAPING: Readonly<Record<Dialect, readonly string[]>> = {
  chat: ['stream_options'],
  responses: ['include'],
  messages: [],
}

/** A member that tunes the answer and is not part of a larger structure such as reasoning or tools. */
export interface TuningField extends CarriedField {
  /** Its name at the top of requests; protocols that have it elsewhere have another name in `names`. */
  readonly member: string
  readonly kind: 'number' | 'text' | 'object'
  /** Values, apart from null, that change nothing: they are never reported. */
  readonly defaults: readonly unknown[]
}

function tuned(
  kind: TuningField['kind'],
  name: string,
  protocols: readonly TextProtocol[],
  ...defaults: readonly unknown[]
): TuningField {
  const names = Object.fromEntries(
    protocols.map((protocol) => [protocol, [protocol === 'gemini' ? inConfig(name) : name]]),
  )
  return { member: name, kind, names, lost: 'dropped', defaults }
}

const UNSAMPLED = `dropped for Claude ${NO_BUDGET_FROM} and later`

/** Note on values that only OpenAI refuses; providers that imitate its protocols accept them. */
const FOR_MAKER = 'for OpenAI itself'
const LONG_USER = `dropped ${FOR_MAKER} above ${MAKER_USER_CHARS_MAX} characters`

/** The tuning members. In messages, the user is a member of `metadata`. */
export const TUNING: Readonly<Record<keyof Tuning, TuningField>> = {
  temperature: {
    ...tuned('number', 'temperature', TEXT_PROTOCOLS),
    limits: { messages: `values above 1 become 1; ${UNSAMPLED}` },
  },
  topP: {
    ...tuned('number', 'top_p', TEXT_PROTOCOLS, 1),
    limits: { messages: `dropped if \`temperature\` is sent; ${UNSAMPLED}` },
  },
  topK: {
    ...tuned('number', 'top_k', TEXT_PROTOCOLS, 0, -1),
    limits: { messages: UNSAMPLED, gemini: 'values other than integers are dropped' },
  },
  minP: tuned('number', 'min_p', ['chat'], 0),
  topA: tuned('number', 'top_a', ['chat'], 0),
  seed: {
    ...tuned('number', 'seed', ['chat', 'gemini']),
    limits: { gemini: 'values other than 32-bit integers are dropped' },
  },
  presencePenalty: tuned('number', 'presence_penalty', ['chat', 'responses', 'gemini'], 0),
  frequencyPenalty: tuned('number', 'frequency_penalty', ['chat', 'responses', 'gemini'], 0),
  repetitionPenalty: tuned('number', 'repetition_penalty', ['chat'], 1),
  logitBias: tuned('object', 'logit_bias', ['chat'], {}),
  verbosity: {
    ...tuned('text', 'verbosity', ['chat'], 'medium'),
    names: { chat: ['verbosity'], responses: ['text.verbosity'] },
  },
  serviceTier: {
    ...tuned('text', 'service_tier', ['chat', 'responses', 'messages'], 'auto', 'default'),
    names: {
      ...{ chat: ['service_tier'], responses: ['service_tier'], messages: ['service_tier'] },
      gemini: ['service_tier'],
    },
    limits: {
      messages: 'only `default` is sent, other values are dropped',
      gemini:
        'only `default`, `flex` and `priority` are sent, other values are dropped; the field is not sent to Vertex',
    },
  },
  cacheKey: tuned('text', 'prompt_cache_key', ['chat', 'responses']),
  user: {
    ...tuned('text', 'user', ['chat', 'responses']),
    names: { chat: ['user'], responses: ['user'], messages: ['metadata.user_id'] },
    limits: { chat: LONG_USER, responses: LONG_USER },
  },
  metadata: {
    ...tuned('object', 'metadata', ['chat', 'responses'], {}),
    limits: { chat: `dropped ${FOR_MAKER}` },
  },
}

/** All fields of the intermediate form. */
export const CARRIED: readonly CarriedField[] = [
  everywhere(['model'], ['model'], ['model'], ['model']),
  everywhere(
    ['messages'],
    ['input', 'instructions'],
    ['messages', 'system'],
    ['contents', 'systemInstruction'],
  ),
  everywhere(['stream', 'stream_options'], ['stream'], ['stream'], ['alt']),
  {
    ...everywhere(
      ['max_tokens', 'max_completion_tokens'],
      ['max_output_tokens'],
      ['max_tokens'],
      ['generationConfig.maxOutputTokens'],
    ),
    limits: { responses: `at least ${MAKER_TOKENS_MIN} ${FOR_MAKER}` },
  },
  {
    ...everywhere(['tools'], ['tools'], ['tools'], ['tools']),
    limits: {
      messages: 'top-level alternatives of a schema are merged; limits of a strict schema become text',
    },
  },
  everywhere(['tool_choice'], ['tool_choice'], ['tool_choice'], ['toolConfig']),
  {
    ...everywhere(
      ['response_format'],
      ['text.format'],
      ['output_config.format'],
      ['generationConfig.responseMimeType', 'generationConfig.responseJsonSchema'],
    ),
    aliases: { messages: ['output_format'] },
    limits: { messages: '`json_object` is refused, `description` is dropped, schema limits become text' },
  },
  {
    ...everywhere(
      ['reasoning', 'reasoning_effort'],
      ['reasoning', 'include'],
      ['thinking', 'output_config.effort'],
      ['generationConfig.thinkingConfig'],
    ),
    aliases: { chat: ['include_reasoning'] },
    limits: {
      messages: 'dropped if a tool is forced',
      gemini: 'not sent to models without thinking',
    },
  },
  {
    names: {
      chat: ['parallel_tool_calls'],
      responses: ['parallel_tool_calls'],
      messages: ['tool_choice.disable_parallel_tool_use'],
    },
    lost: 'dropped',
  },
  {
    names: { chat: ['stop'], messages: ['stop_sequences'], gemini: ['generationConfig.stopSequences'] },
    lost: 'refused',
    limits: {
      chat: `more than ${STRICT_STOPS_MAX} are refused if the provider accepts only OpenAI's fields`,
      messages: 'whitespace-only strings are refused',
      gemini: `more than ${GEMINI_STOPS_MAX} are refused`,
    },
  },
  {
    names: { chat: ['cache_control'], responses: ['cache_control'], messages: ['cache_control'] },
    lost: 'dropped',
  },
  ...Object.values(TUNING),
]

/** A member that the intermediate form does not carry. */
export interface OtherField {
  readonly class: 'dropped' | 'refused'
  /** As in `TuningField`. */
  readonly defaults: readonly unknown[]
}

const dropped = (...defaults: readonly unknown[]): OtherField => ({ class: 'dropped', defaults })
const refused = (...defaults: readonly unknown[]): OtherField => ({ class: 'refused', defaults })
const TEXT_ALONE = ['text']

/** Members of all dialects that only some providers support. */
const SHARED: Readonly<Record<string, OtherField>> = {
  speed: dropped('standard'),
  // The region where the caller's data may be processed.
  inference_geo: refused('global'),
  fallbacks: dropped([]),
  context_management: dropped([]),
  compaction: dropped(),
  prompt_cache_options: dropped(),
  prompt_cache_retention: dropped('in_memory', 'in-memory'),
  safety_identifier: dropped(),
  moderation: dropped(),
  image_config: dropped({}),
  modalities: refused(TEXT_ALONE),
  logprobs: refused(false),
  top_logprobs: refused(0),
  store: refused(false),
}

/** Members of requests that the intermediate form does not carry; members that are not listed are dropped. */
export const OTHERS: Readonly<Record<Dialect, Readonly<Record<string, OtherField>>>> = {
  chat: {
    ...SHARED,
    n: refused(1),
    audio: refused(),
    prediction: refused(),
    functions: refused([]),
    function_call: refused('none', 'auto'),
    web_search_options: refused(false),
    search_parameters: refused(false),
    enable_search: refused(false),
    // It is content that the model would read.
    cached_content: refused(),
    cachedContent: refused(),
    data_sources: refused([]),
    dataSources: refused([]),
    prompt_cache_breakpoint: dropped(),
  },
  responses: {
    ...SHARED,
    background: refused(false),
    previous_response_id: refused(),
    conversation: refused(),
    prompt: refused(),
    max_tool_calls: dropped(),
    truncation: dropped('disabled'),
    stream_options: dropped({}),
    access_programs: dropped(),
    image: dropped({}),
    // With `false`, the provider stores the input and generates no output.
    generate: refused(true),
  },
  messages: {
    ...SHARED,
    mcp_servers: refused([]),
    container: refused(),
    thread: refused(),
    diagnostics: dropped(),
    betas: dropped([]),
    billing_policy: dropped(),
    fallback_credit_token: dropped(),
    user_profile_id: refused(),
    workspace_id: refused(),
  },
}

/**
 * Nested members that the intermediate form does not carry, by the names that readers report: without it the
 * model would read, call or write something else. All other nested members are dropped.
 */
export const NESTED_REFUSED: ReadonlySet<string> = new Set([
  'messages.content',
  'messages.audio',
  'messages.function_call',
  'messages.tool_calls',
  'input',
  'input.content',
  'include.logprobs',
  'document.citations',
  'tools',
  'tool_choice',
  'response_format',
  'text.format',
  'output_config.format',
])

/** Values of nested members that change nothing, in addition to null, empty texts and empty lists. */
export const NESTED_DEFAULTS: Readonly<Record<string, readonly unknown[]>> = {
  defer_loading: [false],
  eager_input_streaming: [false],
  'stream_options.include_obfuscation': [true],
}

/** The class of a dialect's top-level member in a different protocol. */
export function fieldClass(
  dialect: Dialect,
  name: string,
  { protocol, isStrict }: { readonly protocol: TextProtocol; readonly isStrict: boolean },
): FieldClass {
  if (oursIn(dialect).includes(name)) return 'ours'
  const rows = CARRIED.filter((field) => pathsIn(field, dialect).some((path) => topOf(path) === name))
  if (rows.length === 0) return otherField(dialect, name)?.class ?? 'dropped'
  if (rows.some((row) => hasField(row, protocol, isStrict))) return 'mapped'
  return rows.some(({ lost }) => lost === 'refused') ? 'refused' : 'dropped'
}

/** Members of a dialect that only Sluice uses. */
export function oursIn(dialect: Dialect): readonly string[] {
  return [...OURS_NAMES, ...SHAPING[dialect]]
}

/** Paths of a carried field in a dialect. */
export function pathsIn({ names, aliases }: CarriedField, dialect: Dialect): readonly string[] {
  const paths = (names[dialect] ?? []).filter((path) => !SHAPING[dialect].includes(path))
  return [...paths, ...(aliases?.[dialect] ?? [])]
}

export function topOf(path: string): string {
  return path.split('.', 1)[0] ?? path
}

/** Whether a protocol can express a carried field. */
function hasField(field: CarriedField, protocol: TextProtocol, isStrict: boolean): boolean {
  return writtenAs(field, protocol, isStrict).length > 0
}

/** Paths of a carried field in a protocol; empty if the protocol lacks it. */
export function writtenAs(
  { names }: CarriedField,
  protocol: TextProtocol,
  isStrict: boolean,
): readonly string[] {
  return (names[protocol] ?? []).filter((name) => !(isStrict && isForeign(name, protocol)))
}

/** OpenRouter's members, which a strict provider of OpenAI's protocols refuses. */
const FOREIGN: Readonly<Partial<Record<TextProtocol, ReadonlySet<string>>>> = {
  // In OpenAI's chat, the effort is a separate member.
  chat: new Set([...Object.keys(STRICT_CUT), 'reasoning']),
  responses: new Set(Object.keys(RESPONSES_STRICT_CUT)),
}

/** Whether a strict provider of the protocol refuses the member. */
export function isForeign(name: string, protocol: TextProtocol): boolean {
  return FOREIGN[protocol]?.has(name) ?? false
}

/** Null: the table has no such member, so it is dropped. */
export function otherField(dialect: Dialect, name: string): OtherField | null {
  const fields = OTHERS[dialect]
  return Object.hasOwn(fields, name) ? (fields[name] ?? null) : null
}

const CARRIED_NAMES = new Map(
  (['chat', 'responses', 'messages'] as const).map((dialect) => [
    dialect,
    new Set([...CARRIED.flatMap((field) => pathsIn(field, dialect).map(topOf)), ...SHAPING[dialect]]),
  ]),
)

/** Whether a reader uses a top-level member. */
export function isCarried(dialect: Dialect, name: string): boolean {
  return CARRIED_NAMES.get(dialect)?.has(name) ?? false
}

/** Whether a value changes nothing. Objects and lists are compared as JSON. */
export function isDefaultValue(value: unknown, defaults: readonly unknown[]): boolean {
  if (value === null || value === undefined) return true
  if (typeof value !== 'object') return defaults.includes(value)
  return (
    Object.keys(value).length <= 1 && defaults.some((one) => JSON.stringify(one) === JSON.stringify(value))
  )
}
