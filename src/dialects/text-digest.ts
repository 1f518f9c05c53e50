/** Parts of a body that Sluice uses in the same way in every dialect. */
import { fail, type Outcome } from '../schemas/failures.ts'
import type { ProviderPreferences } from '../schemas/models/preferences.ts'
import { TIER_MEMBERS, tiersOf } from '../schemas/models/price-conditions.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'
import { accountPathOf } from './account-contents.ts'
import { JSON_SCHEMA, takesText } from './form-fit.ts'
import { ECHO_UNITS_MAX } from '../schemas/inference/inference-limits.ts'
import {
  EFFORT_CLASSES,
  type EffortClass,
  type PlacedModality,
  type TextInput,
} from '../schemas/inference/text-request.ts'
import type { DeclaredTool } from '../schemas/inference/server-tools.ts'

/** Prefix of the types of tools that OpenRouter's servers run. */
const ROUTER_TOOL = 'openrouter:'

/** Members with the same name and meaning in all dialects. */
interface CommonMembers {
  readonly model?: string
  readonly stream?: boolean | null
  readonly models?: readonly string[] | null
  readonly provider?: ProviderPreferences | null
  readonly preset?: string | null
  readonly session_id?: string | null
  readonly transforms?: readonly string[] | null
}

type CommonInput = Pick<
  TextInput,
  | 'model'
  | 'isStream'
  | 'sessionId'
  | 'models'
  | 'provider'
  | 'preset'
  | 'dropped'
  | 'parameters'
  | 'dearMember'
  | 'tiers'
  | 'compactionPath'
  | 'hasFallbacks'
  | 'accountPath'
  | 'outputs'
>

export function commonInputOf(body: CommonMembers): CommonInput {
  const compactionPath = compactionPathOf(membersOf(body))
  const accountPath = accountPathOf(membersOf(body))
  const outputs = outputsOf(membersOf(body)['modalities'])
  return {
    model: body.model ?? null,
    isStream: body.stream === true,
    sessionId: body.session_id ?? null,
    models: body.models ?? [],
    provider: body.provider ?? null,
    preset: body.preset ?? null,
    dropped: (body.transforms ?? []).length > 0 ? ['transforms'] : [],
    parameters: body.provider?.require_parameters === true ? parametersOf(membersOf(body)) : [],
    dearMember: dearMemberOf(membersOf(body)),
    tiers: tiersOf(membersOf(body)),
    hasFallbacks: isAsked(membersOf(body)['fallbacks']),
    ...(compactionPath === null ? null : { compactionPath }),
    ...(accountPath === null ? null : { accountPath }),
    ...(outputs.length === 0 ? null : { outputs }),
  }
}

/** @param modalities of the answer, as OpenAI and OpenRouter name them; anything else is passed on */
function outputsOf(modalities: unknown): readonly PlacedModality[] {
  if (!Array.isArray(modalities)) return []
  return (modalities as readonly unknown[]).flatMap((name, nth) =>
    typeof name === 'string' && name !== 'text' ? [{ name, path: `/modalities/${nth}` }] : [],
  )
}

function dearMemberOf(body: Members): string | null {
  for (const member of TIER_MEMBERS)
    if (isAsked(body[member]) && (typeof body[member] !== 'string' || body[member] === '')) return member
  // The provider may answer with another model, which may have another price.
  if (isAsked(body['fallbacks'])) return 'fallbacks'
  return editsOf(body).every((edit) => SHORTENS.test(edit) || SUMMARIZES.test(edit))
    ? null
    : 'context_management'
}

/** Edits that remove parts of the input and are free. */
const SHORTENS = /^clear_/
/** An edit that makes the model summarize the input and read the summary instead. */
const SUMMARIZES = /^compact_\d/

/** Types of the edits of `context_management`, a list or an object with one; '' stands for an unknown type. */
function editsOf({ context_management: management }: Members): readonly string[] {
  const edits = Array.isArray(management) ? management : membersOf(management)['edits']
  if (Array.isArray(edits)) return edits.map((edit) => String(membersOf(edit)['type'] ?? ''))
  const isUnknown = isAsked(edits) || (isAsked(management) && typeof management !== 'object')
  return isUnknown ? [''] : []
}

function compactionPathOf(body: Members): string | null {
  if (isAsked(body['compaction'])) return '/compaction'
  return editsOf(body).some((edit) => SUMMARIZES.test(edit)) ? '/context_management' : null
}

/** The path of the member that names an earlier call whose input is compared with this one's; null: none. */
export function comparedPathOf(body: Members): string | null {
  const { comparison_response_id: compared } = membersOf(body['prompt_cache_options'])
  return isAsked(compared) ? '/prompt_cache_options/comparison_response_id' : null
}

/** Members of all dialects, and the name that the catalogue has for each in `supported_parameters`. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ...[
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'max_tokens',
    'min_p',
    'presence_penalty',
    'reasoning',
    'repetition_penalty',
    'seed',
    'stop',
    'temperature',
    'tool_choice',
    'tools',
    'top_a',
    'top_k',
    'top_p',
  ].map((name) => [name, name] as const),
  ['max_completion_tokens', 'max_tokens'],
  ['max_output_tokens', 'max_tokens'],
  ['reasoning_effort', 'reasoning'],
  ['stop_sequences', 'stop'],
  ['top_logprobs', 'logprobs'],
])

/** Parameters that answer formats require, by the type that all dialects use; a text requires none. */
const FORMS: ReadonlyMap<unknown, string> = new Map([
  ['json_object', 'response_format'],
  ['json_schema', 'structured_outputs'],
])

/**
 * Parameters that an endpoint must support for `require_parameters`, each name once. Members that are not in
 * the table are not parameters of the catalogue.
 */
function parametersOf(body: Members): readonly string[] {
  const { response_format, output_format, thinking } = body
  const { effort, format: outputFormat } = membersOf(body['output_config'])
  const formats = [response_format, output_format, outputFormat, membersOf(body['text'])['format']]
  const isThinking = (membersOf(thinking)['type'] ?? 'disabled') !== 'disabled'
  return [
    ...new Set([
      ...Object.keys(body).flatMap((name) => (isAsked(body[name]) ? (PARAMETERS.get(name) ?? []) : [])),
      ...formats.flatMap((format) => FORMS.get(membersOf(format)['type']) ?? []),
      ...(isThinking || isAsked(effort) ? ['reasoning'] : []),
    ]),
  ]
}

function isAsked(value: unknown): boolean {
  return value !== null && value !== undefined && !(Array.isArray(value) && value.length === 0)
}

/** The texts that the built-in model repeats. @param texts of the user's last turn; undefined: no such turn */
export function repeatedOf(texts: readonly string[] | undefined): Pick<TextInput, 'last' | 'isLastCut'> {
  const text = (texts ?? []).join('\n')
  return { last: text.slice(0, ECHO_UNITS_MAX), isLastCut: text.length > ECHO_UNITS_MAX }
}

/** Stop texts for the built-in model; longer ones are left out, since they cannot occur in the text that it repeats. */
export function stopsOf(stops: readonly string[]): readonly string[] {
  return stops.filter(({ length }) => length <= ECHO_UNITS_MAX)
}

interface ReasoningMembers {
  readonly effort?: string | null
  readonly enabled?: boolean | null
  readonly exclude?: boolean | null
}

/** @param otherEffort the effort, if the dialect has another member for it */
export function wantsReasoning(
  reasoning: ReasoningMembers | null | undefined,
  otherEffort?: string | null,
): boolean {
  const effort = reasoning?.effort ?? otherEffort ?? 'none'
  return reasoning?.exclude !== true && (reasoning?.enabled ?? effort !== 'none')
}

/**
 * Whether the request asks for reasoning, visible or hidden; null: the model decides.
 * @param otherEffort the effort, if the dialect has another member for it
 */
export function asksReasoning(
  reasoning: (ReasoningMembers & { readonly max_tokens?: number | null }) | null | undefined,
  otherEffort?: string | null,
): boolean | null {
  const effort = reasoning?.effort ?? otherEffort ?? null
  if (reasoning?.enabled === false || effort === 'none') return false
  return reasoning?.enabled === true || effort !== null || (reasoning?.max_tokens ?? 0) > 0 || null
}

/** The smallest reasoning budget of each class, in tokens. */
const BUDGETS: readonly (readonly [tokens: number, effort: EffortClass])[] = [
  [32_768, 'max'],
  [16_384, 'high'],
  [4_096, 'medium'],
  [2_048, 'low'],
  [1, 'minimal'],
]

/** The effort class of a request, as a member to spread; empty if the model decides. */
export function effortOf(effort: unknown, budget: unknown): { readonly effort?: EffortClass } {
  const tokens = typeof budget === 'number' ? budget : 0
  const found =
    EFFORT_CLASSES.find((one) => one === effort) ?? BUDGETS.find(([least]) => tokens >= least)?.[1]
  return found === undefined ? {} : { effort: found }
}

/** Members of a body that may be refused, in all dialects. */
interface RefusedMembers {
  readonly plugins?: readonly unknown[] | null
  readonly stop_server_tools_when?: unknown
}

/** Members that would change the answer, and tools, that Sluice does not support. */
export function refusedOf(
  { plugins, stop_server_tools_when }: RefusedMembers,
  tools: Iterable<DeclaredTool>,
): Outcome<never> | null {
  if ((plugins ?? []).length > 0) return notSupported('/plugins', 'no plugin')
  for (const { tool, path } of tools)
    if (typeof tool['type'] === 'string' && tool['type'].startsWith(ROUTER_TOOL))
      return notSupported(`${path}/type`, 'a tool run by you or by the provider')
  if ((stop_server_tools_when ?? null) !== null) return notSupported('/stop_server_tools_when', 'null')
  return null
}

function notSupported(path: string, expected: string): Outcome<never> {
  return fail('not_supported', { metadata: { issues: [{ path, message: 'is not available', expected }] } })
}

export function wordsOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + countOf(text), 0)
}

/** Counts words by their beginnings: a regular expression that matches each word of 256 KiB would block the loop for 13 ms. */
function countOf(text: string): number {
  let count = 0
  let isBetween = true
  for (let at = 0; at < text.length; at++) {
    const isSpace = isSpaceAt(text, at)
    if (isBetween && !isSpace) count++
    isBetween = isSpace
  }
  return count
}

/** The highest ASCII character that is white space. */
const SPACE = 0x20

const LAST_ASCII = 0x7f

/** A regular expression is fast enough for the few characters above ASCII. */
function isSpaceAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  if (code <= SPACE) return code === SPACE || (code >= 0x09 && code <= 0x0d)
  return code > LAST_ASCII && /\s/.test(text.charAt(at))
}

/**
 * @param format of the body; without a type it is `text`
 * @param schema of the format
 * @param last the text that is repeated
 */
export function formOf(
  format: { readonly type: string } | null | undefined,
  { schema, last }: { readonly schema: unknown; readonly last: string },
): Pick<TextInput, 'form' | 'isFormMet'> {
  const form = format?.type ?? 'text'
  return { form, isFormMet: form === JSON_SCHEMA ? takesText(schema, last) : form === 'text' }
}
