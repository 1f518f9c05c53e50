import { keptFormOf, type TextBodyName } from '../schemas/bodies.ts'
import { CHAT_PRESET } from '../schemas/inference/presets/chat-preset.ts'
import { MESSAGES_PRESET } from '../schemas/inference/presets/messages-preset.ts'
import { RESPONSES_PRESET } from '../schemas/inference/presets/responses-preset.ts'
import { mergedBody, type PresetForm } from '../schemas/inference/presets/text-preset.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { readBody } from './read-body.ts'

const FORMS: Readonly<Record<TextBodyName, PresetForm>> = {
  chat: CHAT_PRESET,
  responses: RESPONSES_PRESET,
  messages: MESSAGES_PRESET,
  count_tokens: MESSAGES_PRESET,
}

/**
 * The body of a call with what it lacks of a preset, read as if it had come so: the digest, the places and
 * every check are those of the merged body, whatever the preset has in it. D10.
 */
export function mergePreset({
  body: name,
  bytes,
  preset,
  model,
}: ShortJobTypes['merge_preset']['in']): BodyVerdict {
  const read = readBody({ body: name, bytes })
  if (!read.ok) return read
  if (read.source === undefined) throw new Error('the body of a call is not kept')
  const { names } = keptFormOf(name)
  const body = new KeptBody(bytes, read.source.places, { names, released: () => undefined })
  return readBody({ body: name, bytes: mergedBody(FORMS[name], body, { preset, model }) })
}
