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
  /** The model that results. */
  readonly model: string
  /** The most tokens of the answer that the request itself names; null: it names none. */
  readonly tokensMax: number | null
  readonly hasTools: boolean
  /** Its members that the form's conflicts are about. */
  readonly own: Members
}

/**
 * What a call takes of a preset, whichever form saved it: fields of its own form as they are, those of other
 * forms through the form between.
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
  /** Values by the names that they have in the form; without `tools`. */
  readonly fields: Members
  readonly tools: readonly unknown[]
  /** For `x-sluice-dropped`. */
  readonly dropped: readonly string[]
}

/** A call refuses what it would refuse in the caller's own body. */
function ownFields({ source, kept }: PresetForm, { tools, ...saved }: PresetFields['config']): TakenFields {
  const others = new Others(source)
  const fields = Object.entries(saved).filter(([name]) => {
    const isKept = Object.hasOwn(kept, name)
    // A field of another version of Sluice.
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
    // The list has a message at least.
    const text = `{"role":"system","content":${systemPrompt}},`
    return [{ kind: 'insert', at: messages.start + 1, text }]
  },
}

export const MESSAGES_PRESET: PresetForm = {
  source: 'messages',
  kept: MESSAGES_KEPT.properties,
  body: MessagesBody.properties,
  empty: { messages: [] },
  // Both have the form of the answer.
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
    // A value that comes last ends where members are added: no text can be put in there.
    const json = `[${block},{"type":"text","text":${jsonOf(body, system)}}]`
    return [{ kind: 'set', name: 'system', json }]
  },
}

/** Between the system prompt of a preset and the caller's own, as JSON writes it. */
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

/** Fields of Sluice's own that a call would refuse: a preset of another form is never refused. */
const REFUSED: readonly string[] = ['plugins', 'stop_server_tools_when']
/** What writers set of a call, and no preset has. */
const FRAME: readonly string[] = ['model', 'messages', 'input', 'store']
/** Members that writers also set from the request. */
const TOKENS: readonly string[] = ['max_tokens', 'max_completion_tokens']

/**
 * Fields of a preset that another form of calls saved, in the words of the caller's form. A field without
 * words in it is dropped and named, whatever table D6 makes of it in a request; so is one that no call could
 * have.
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

/** Members of a call without what the form has no words for. */
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

/** Stands for the tools of the request: without tools writers leave out how to choose among them. */
const TOOL_OF_REQUEST: PromptTool = {
  name: 'request',
  description: null,
  schema: null,
  isStrict: null,
  cache: null,
}

/** The caller's form has words for all that its members can say: which endpoint answers is not known yet. */
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
  /** Fields that both forms have by one name, and that the form between does not carry. */
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

/** Members that would make the answer another one are not carried by their names alone. */
function isSame({ from, to }: Forms, name: string): boolean {
  if (isCarried(from.source, name) || REFUSED.includes(name)) return false
  return Object.hasOwn(to.kept, name) && otherField(from.source, name)?.class !== 'refused'
}

/** Readers rely on the schema of calls, which a preset of another version of Sluice need not meet. */
function isValid({ kept, body }: PresetForm, name: string, value: unknown): boolean {
  return Object.hasOwn(kept, name) && isFit(kept, name, value) && isFit(body, name, value)
}

/** @param shapes of members; one without a shape may have any value */
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

/** Whether a call may have this value: the limits of the forms differ. */
function hasRoom({ from, to }: Forms, { config, name, value }: Field, lost: Others): boolean {
  if (isFit(to.body, name, value)) return true
  const rows = CARRIED.filter(({ names }) => names[to.source]?.includes(name))
  const names = rows.flatMap((row) => row.names[from.source] ?? []).filter((one) => one in config)
  for (const one of names.length === 0 ? [name] : names) lost.drop(one, [one])
  return false
}
