import { Others } from '../others.ts'
import { CHAT_PRESET } from '../../schemas/inference/presets/chat-preset.ts'
import { foreignFields, type PresetRequest, type TakenFields } from './foreign-fields.ts'
import { MESSAGES_PRESET } from '../../schemas/inference/presets/messages-preset.ts'
import { RESPONSES_PRESET } from '../../schemas/inference/presets/responses-preset.ts'
import {
  toolIdentity,
  type PresetFields,
  type PresetForm,
  type PresetSource,
  type TextPreset,
} from './text-preset.ts'

export const PRESET_FORMS: Readonly<Record<PresetSource, PresetForm>> = {
  chat: CHAT_PRESET,
  responses: RESPONSES_PRESET,
  messages: MESSAGES_PRESET,
}

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
