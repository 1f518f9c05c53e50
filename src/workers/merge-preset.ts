import { keptFormOf } from '../schemas/bodies.ts'
import { fail } from '../schemas/failures.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../schemas/inference/inference-limits.ts'
import { isNull } from '../schemas/inference/provider-body.ts'
import { mergedBody, valueOf, type SavedPreset } from '../dialects/presets/text-preset.ts'
import { PRESET_FORMS, textPresetOf } from '../dialects/presets/used-preset.ts'
import type { TextInput } from '../schemas/inference/text-request.ts'
import { KeptBody } from '../schemas/kept-body.ts'
import { membersOf, type Members } from '../schemas/values/members.ts'
import type { BodyVerdict, ShortJobTypes } from '../server/ports/short-jobs.ts'
import { readBody } from './read-body.ts'

/**
 * The body of a call with what it lacks of a preset, read as if it had come so: the digest, the places and
 * every check are those of the merged body, whatever the preset has in it.
 */
export function mergePreset({
  body: name,
  bytes,
  preset,
  model,
}: ShortJobTypes['merge_preset']['in']): BodyVerdict {
  const read = readBody({ body: name, bytes })
  if (!read.ok) return read
  if (read.source === undefined) throw new Error('the request body was not kept')
  const { names } = keptFormOf(name)
  const body = new KeptBody(bytes, read.source.places, { names, released: () => undefined })
  const form = PRESET_FORMS[name === 'count_tokens' ? 'messages' : name]
  const { size } = digestOf(read)
  const own = ownMembers(body, form.conflicts?.names ?? [])
  const request = { model, tokensMax: size.tokensMax, hasTools: size.tools > 0, own }
  const used = textPresetOf(form, { ...preset, config: configOf(preset) }, request)
  const whole = mergedBody(form, body, { preset: used, model })
  if (whole.length > INFERENCE_BODY_BYTES_MAX)
    return fail('body_too_large', { fields: { limit: INFERENCE_BODY_BYTES_MAX } })
  const merged = readBody({ body: name, bytes: whole })
  if (!merged.ok || used.dropped.length === 0) return merged
  const dropped = [...new Set([...digestOf(merged).dropped, ...used.dropped])]
  return { ...merged, value: { ...merged.value, dropped } }
}

/** The body is in the form of a call, whose digest this is. */
function digestOf({ value }: { readonly value: Record<string, unknown> }): TextInput {
  return value as unknown as TextInput
}

function ownMembers(body: KeptBody, names: readonly string[]): Members {
  const own = names.flatMap((name) => {
    const member = body.knows(name) ? body.last(name) : null
    return member === null || isNull(body, member) ? [] : [[name, valueOf(body, member)] as const]
  })
  return Object.fromEntries(own)
}

function configOf({ config }: SavedPreset): Members {
  return membersOf(JSON.parse(config))
}
