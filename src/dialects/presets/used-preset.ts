import { CHAT_KEPT } from '../../schemas/presets/preset-chat.ts'
import { ChatBody } from '../../schemas/inference/chat.ts'
import { MESSAGES_KEPT } from '../../schemas/presets/preset-messages.ts'
import { MessagesBody } from '../../schemas/inference/messages.ts'
import { isNull } from '../../schemas/inference/provider-body.ts'
import { RESPONSES_KEPT } from '../../schemas/presets/preset-responses.ts'
import { ResponsesBody } from '../../schemas/inference/responses.ts'
import { fits } from '../../schemas/fits.ts'
import type { Members } from '../../schemas/values/members.ts'
import { MAKER, anyClaude } from '../../schemas/models/openai-maker.ts'
import { OURS_NAMES } from '../../schemas/inference/text-members.ts'
import { Others } from '../prompt/others.ts'
import { CARRIED, isCarried, isDefaultValue, otherField } from '../table/field-table.ts'
import { PROMPT_WRITERS } from '../writers.ts'
import type { Prompt, PromptTool } from '../prompt/prompt.ts'
import type { WriteTerms } from '../prompt/write-terms.ts'
import { PROMPT_READERS } from '../translate.ts'
import { PLACES } from '../prompt/prompt-draft.ts'
import {
  BESIDE_THINKING,
  besideThinking,
  isMissing,
  jsonOf,
  type PresetFields,
  type PresetForm,
  type PresetSource,
  type TextPreset,
  toolIdentity,
  valueOf,
} from './text-preset.ts'

export interface PresetRequest {
  /** The model after the preset is applied. */
  readonly model: string
  /** The token maximum in the request itself; null: it names none. */
  readonly tokensMax: number | null
  readonly hasTools: boolean
  /** The members of the request that may be part of a conflict. */
  readonly own: Members
}

/**
 * The preset as applied to a call: fields saved in the call's dialect are used unchanged, fields of other
 * dialects are translated through the intermediate form.
 */
export function textPresetOf(
  form: PresetForm,
  { config, systemPrompt, source }: PresetFields,
  request: PresetRequest,
): TextPreset {
  const { model: _, ...saved } = config
  const { fields, tools, dropped } =
    source === form.source
      ? ownFields(form, saved)
      : foreignFields({ from: PRESET_FORMS[source], to: form }, saved, request)
  return {
    fields: Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)] as const),
    tools: tools.map((tool) => ({ identity: toolIdentity(tool), json: JSON.stringify(tool) })),
    systemPrompt: (systemPrompt ?? '') === '' ? null : JSON.stringify(systemPrompt),
    dropped,
  }
}

interface TakenFields {
  /** Values by their names in the dialect; without `tools`. */
  readonly fields: Members
  readonly tools: readonly unknown[]
  /** For `x-sluice-dropped`. */
  readonly dropped: readonly string[]
}

/** Fields that the preset saved in the call's dialect: they are validated like members of the caller's body. */
function ownFields({ source, kept }: PresetForm, { tools, ...saved }: PresetFields['config']): TakenFields {
  const others = new Others(source)
  const fields = Object.entries(saved).filter(([name]) => {
    const isKept = Object.hasOwn(kept, name)
    // The field was saved by another version of Sluice.
    if (!isKept) others.drop(name, [name])
    return isKept
  })
  const isList = Array.isArray(tools)
  if ((tools ?? null) !== null && !isList) others.drop('tools', ['tools'])
  return {
    fields: Object.fromEntries(fields),
    tools: isList ? (tools as readonly unknown[]) : [],
    dropped: others.members.map(({ name }) => name),
  }
}

export const CHAT_PRESET: PresetForm = {
  source: 'chat',
  kept: CHAT_KEPT.properties,
  body: ChatBody.properties,
  empty: { messages: [] },
  together: [
    ['max_tokens', 'max_completion_tokens'],
    ['reasoning', 'reasoning_effort', 'include_reasoning'],
  ],
  promptEdits(body, systemPrompt) {
    const messages = body.last('messages')
    if (messages === null) return []
    // The list is never empty, so a comma follows the added message.
    const text = `{"role":"system","content":${systemPrompt}},`
    return [{ kind: 'insert', at: messages.start + 1, text }]
  },
}

export const MESSAGES_PRESET: PresetForm = {
  source: 'messages',
  kept: MESSAGES_KEPT.properties,
  body: MessagesBody.properties,
  empty: { messages: [] },
  // Both contain the answer format.
  together: [['output_config', 'output_format']],
  conflicts: { names: BESIDE_THINKING, fitting: besideThinking },
  promptEdits(body, systemPrompt) {
    const system = body.last('system')
    if (system === null || isNull(body, system)) return [{ kind: 'add', name: 'system', json: systemPrompt }]
    const block = `{"type":"text","text":${systemPrompt}}`
    const own = valueOf(body, system)
    // Anthropic refuses empty texts.
    if (own === '') return [{ kind: 'set', name: 'system', json: systemPrompt }]
    if (Array.isArray(own))
      return [{ kind: 'insert', at: system.start + 1, text: own.length === 0 ? block : `${block},` }]
    // The value is replaced as a whole: if it is last, members are added at its end, so no text can be inserted there.
    const json = `[${block},{"type":"text","text":${jsonOf(body, system)}}]`
    return [{ kind: 'set', name: 'system', json }]
  },
}

/** Separator of the preset's system prompt and the caller's own, escaped for JSON. */
const BLANK_LINE = '\\n\\n'

export const RESPONSES_PRESET: PresetForm = {
  source: 'responses',
  kept: RESPONSES_KEPT.properties,
  body: ResponsesBody.properties,
  empty: {},
  together: [],
  promptEdits(body, systemPrompt) {
    const own = body.last('instructions')
    if (own === null || isMissing(body, 'instructions'))
      return [{ kind: 'add', name: 'instructions', json: systemPrompt }]
    return [{ kind: 'insert', at: own.start + 1, text: `${systemPrompt.slice(1, -1)}${BLANK_LINE}` }]
  },
}

export const PRESET_FORMS: Readonly<Record<PresetSource, PresetForm>> = {
  chat: CHAT_PRESET,
  responses: RESPONSES_PRESET,
  messages: MESSAGES_PRESET,
}

interface Forms {
  readonly from: PresetForm
  readonly to: PresetForm
}

/** Sluice's own fields that a call would refuse. They are dropped, since a preset of another dialect is never refused. */
const REFUSED: readonly string[] = ['plugins', 'stop_server_tools_when']
/** Members that writers set for every call and that no preset contains. */
const FRAME: readonly string[] = ['model', 'messages', 'input', 'store']
/** Members that writers also set from the request. */
const TOKENS: readonly string[] = ['max_tokens', 'max_completion_tokens']

/**
 * Translates fields of a preset that was saved in another dialect. A field that the caller's dialect cannot
 * express is dropped and reported, even if table D6 refuses it in a request; so is a field that is invalid in
 * every call.
 */
function foreignFields(forms: Forms, config: Members, request: PresetRequest): TakenFields {
  const { from, to } = forms
  const lost = new Others(from.source)
  const { same, read } = split(forms, config, lost)
  const prompt = PROMPT_READERS[from.source]({ ...from.empty, ...read })
  for (const { name, path } of prompt.others) lost.drop(name, [path])
  const { tools: list, ...members } = writtenIn(to, { prompt, request }, lost)
  const isAsked = (name: string): boolean =>
    !FRAME.includes(name) && (!TOKENS.includes(name) || prompt.tokensMax !== null)
  const fields = Object.entries({ ...same, ...members }).filter(
    ([name, value]) => isAsked(name) && hasRoom(forms, { config, name, value }, lost),
  )
  const fitting = to.conflicts?.fitting(Object.fromEntries(fields), request.own)
  for (const name of fitting?.dropped ?? []) lost.drop(name, [name])
  return {
    fields: fitting?.fields ?? Object.fromEntries(fields),
    tools: Array.isArray(list) ? (list as readonly unknown[]).slice(0, prompt.tools.length) : [],
    dropped: lost.members.map(({ name }) => name),
  }
}

interface Asked {
  readonly prompt: Prompt
  readonly request: PresetRequest
}

/** The members of a call that the dialect can express. */
function writtenIn({ source }: PresetForm, { prompt, request }: Asked, lost: Others): Members {
  const write = PROMPT_WRITERS[source]
  const terms = termsOf(request)
  const asked = {
    ...prompt,
    others: [],
    tokensMax: request.tokensMax ?? prompt.tokensMax,
    tools: prompt.tools.length === 0 && request.hasTools ? [TOOL_OF_REQUEST] : prompt.tools,
  }
  const first = write(asked, terms)
  const paths = first.refused.map(({ path }) => path)
  for (const path of paths) lost.drop(path.slice(1).replaceAll('/', '.'), [path])
  const { stops, format } = PLACES[prompt.dialect]
  const { body, dropped } =
    paths.length === 0
      ? first
      : write(
          {
            ...asked,
            ...(paths.includes(stops) && { stops: [] }),
            ...(paths.includes(format) && { format: null }),
          },
          terms,
        )
  for (const name of dropped) lost.drop(name, [name])
  return body
}

/** Stands for the tools of the request: without tools, writers leave out `tool_choice`. */
const TOOL_OF_REQUEST: PromptTool = {
  name: 'request',
  description: null,
  schema: null,
  isStrict: null,
  cache: null,
}

/** Terms that allow everything the caller's dialect can express, since the endpoint is not known yet. */
function termsOf({ model }: PresetRequest): WriteTerms {
  return {
    upstreamModel: anyClaude(model),
    tokensMax: null,
    isStrict: false,
    isMaker: model.startsWith(`${MAKER}/`),
    signatureFormats: [],
    isOfPreset: true,
  }
}

interface Split {
  /** Fields with the same name in both dialects that the intermediate form does not carry. */
  readonly same: Members
  readonly read: Members
}

function split(forms: Forms, config: Members, lost: Others): Split {
  const same: Record<string, unknown> = {}
  const read: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(config)) {
    if (name === 'tools') read[name] = readableTools(forms.from, value, lost)
    else if (isValid(forms.from, name, value) && isSame(forms, name)) same[name] = value
    else if (isValid(forms.from, name, value) && !OURS_NAMES.includes(name)) read[name] = value
    else if (!isDefaultValue(value, [[]])) lost.drop(name, [name])
  }
  return { same, read }
}

/** Members that would change the answer are not carried by name alone. */
function isSame({ from, to }: Forms, name: string): boolean {
  if (isCarried(from.source, name) || REFUSED.includes(name)) return false
  return Object.hasOwn(to.kept, name) && otherField(from.source, name)?.class !== 'refused'
}

/** Readers rely on the schema of calls, which a preset of another version of Sluice need not meet. */
function isValid({ kept, body }: PresetForm, name: string, value: unknown): boolean {
  return Object.hasOwn(kept, name) && isFit(kept, name, value) && isFit(body, name, value)
}

/** @param shapes of members; a member without a shape may have any value */
function isFit(shapes: PresetForm['body'], name: string, value: unknown): boolean {
  const shape = Object.hasOwn(shapes, name) ? shapes[name] : undefined
  return shape === undefined || fits(shape, value)
}

function readableTools(form: PresetForm, tools: unknown, lost: Others): readonly unknown[] {
  const all = Array.isArray(tools) ? (tools as readonly unknown[]) : [tools]
  const readable = all.filter((tool) => isValid(form, 'tools', [tool]))
  if (readable.length < all.length) lost.drop('tools', ['tools'])
  return readable
}

interface Field {
  readonly config: Members
  readonly name: string
  readonly value: unknown
}

/** Whether this value is within the limits of a call, since limits differ between dialects. */
function hasRoom({ from, to }: Forms, { config, name, value }: Field, lost: Others): boolean {
  if (isFit(to.body, name, value)) return true
  const rows = CARRIED.filter(({ names }) => names[to.source]?.includes(name))
  const names = rows.flatMap((row) => row.names[from.source] ?? []).filter((one) => one in config)
  for (const one of names.length === 0 ? [name] : names) lost.drop(one, [one])
  return false
}
