import { keptFormOf, type TextBodyName } from '../../../schemas/bodies.ts'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { TextInput, TextRequest, CompleteText } from '../../../schemas/inference/text-request.ts'
import type { PresetFields } from '../../../dialects/presets/text-preset.ts'
import { KeptBody } from '../../../schemas/kept-body.ts'
import type { PresetBy } from '../../ports/inference/inference.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import { movable } from '../movable.ts'

export interface Merging {
  readonly content: PresetFields
  readonly model: string
}

/**
 * Merges in a thread: bodies have up to 32 MiB. The front's memory budget counts the merged bytes with the room of the
 * request's bytes, until the merged bytes are released.
 */
export async function mergePreset(
  { dialect, source }: Pick<TextRequest, 'dialect' | 'source'>,
  { content, model }: Merging,
  { jobs, isCount, ...by }: PresetBy & { readonly jobs: ShortJobs },
): Promise<Outcome<CompleteText>> {
  const { bytes } = source
  const body: TextBodyName = isCount === true ? 'count_tokens' : dialect
  const { source: form, config, systemPrompt } = content
  const preset = { source: form, config: JSON.stringify(config), systemPrompt }
  const job = { body, bytes, preset, model }
  const merged = await jobs.run('merge_preset', job, { ...by, transfer: movable(bytes) })
  if (!merged.ok) return merged
  const verdict = merged.value
  if (!verdict.ok) return { ok: false, failure: { ...verdict.failure, detail: WITH_PRESET } }
  if (verdict.source === undefined) throw new Error('the merged body was not kept')
  // The thread made it from a body in this form.
  const digest = verdict.value as unknown as TextInput
  const released = (): void => source.release()
  return ok({
    ...digest,
    model,
    preset: null,
    source: new KeptBody(verdict.source.bytes, verdict.source.places, {
      names: keptFormOf(body).names,
      released,
    }),
  })
}

const WITH_PRESET = "The preset's fields are checked like request fields."
