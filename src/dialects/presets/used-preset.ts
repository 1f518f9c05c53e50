import { Others } from '../prompt/others.ts'
import { foreignFields, type PresetRequest, type TakenFields } from './foreign-fields.ts'
import {
  toolIdentity,
  type PresetFields,
  type PresetForm,
  type PresetSource,
  type TextPreset,
  jsonOf,
  valueOf,
  BESIDE_THINKING,
  besideThinking,
  isMissing,
} from './text-preset.ts'
import { CHAT_KEPT } from '../../schemas/presets/preset-chat.ts'
import { ChatBody } from '../../schemas/inference/chat.ts'
import { MESSAGES_KEPT } from '../../schemas/presets/preset-messages.ts'
import { MessagesBody } from '../../schemas/inference/messages.ts'
import { isNull } from '../../schemas/inference/provider-body.ts'
import { RESPONSES_KEPT } from '../../schemas/presets/preset-responses.ts'
import { ResponsesBody } from '../../schemas/inference/responses.ts'

/**
 * What a call takes of a preset, whichever form saved it: fields of its own form as they are, those of other
 * forms through the form between. D6, D10.
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

/** What a chat takes of presets. D10. */
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

/** What a message takes of presets. D10. */
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

/** What a call of responses takes of presets. D10. */
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
