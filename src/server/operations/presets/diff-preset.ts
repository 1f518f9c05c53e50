import { isDeepStrictEqual } from 'node:util'
import { ok, type Outcome } from '../../../schemas/failures.ts'
import {
  PresetDiffAnswer,
  PresetDiffQuery,
  type PresetDiff,
} from '../../../schemas/presets/preset-changes.ts'
import { PresetParams } from '../../../schemas/presets/presets.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PresetConfig, PresetRef, PresetVersion } from '../../ports/presets/presets.ts'
import { defineOperation } from '../define.ts'
import { EXAMPLE_PRESET, PRESET_READ_FAILURES, PRESET_READ_STATUSES, presetRefOf } from './preset-answers.ts'

/** Compares two versions of a preset. An extension of Sluice. */
export const diffPreset = defineOperation({
  id: 'presets.diff',
  method: 'get',
  path: '/presets/{slug}/diff',
  tag: 'presets',
  summary: 'Compare two versions of a preset',
  input: { params: PresetParams, query: PresetDiffQuery },
  success: { status: 200, body: PresetDiffAnswer },
  statuses: PRESET_READ_STATUSES,
  failures: ['preset_version_unknown', ...PRESET_READ_FAILURES],
  example: { params: EXAMPLE_PRESET, query: { from: 1, to: 2 } },
  async run(call, ports) {
    const ref = await presetRefOf(call, ports)
    if (!ref.ok) return ref
    const to = await versionOr(ref.value, call.query.to, ports)
    if (!to.ok) return to
    const number = call.query.from ?? to.value.version - 1
    const from = number === 0 ? NOTHING : await ports.presets.version(ref.value, number)
    return from.ok ? ok({ kind: 'json', value: { data: diffOf(from.value, to.value) } }) : from
  },
})

const NOTHING = ok(null)

/** The version with that number; without a number the designated version. */
async function versionOr(
  ref: PresetRef,
  number: number | undefined,
  { presets }: Ports,
): Promise<Outcome<PresetVersion>> {
  if (number !== undefined) return presets.version(ref, number)
  const preset = await presets.get(ref)
  return preset.ok ? ok(preset.value.designated) : preset
}

function diffOf(from: PresetVersion | null, to: PresetVersion): PresetDiff {
  const [before, after] = [from?.config ?? {}, to.config]
  const changed = Object.keys(after).filter(
    (name) => Object.hasOwn(before, name) && !isDeepStrictEqual(before[name], after[name]),
  )
  const prompt = from?.systemPrompt ?? null
  return {
    from: from?.version ?? null,
    to: to.version,
    added: without(after, before),
    removed: without(before, after),
    changed: Object.fromEntries(changed.map((name) => [name, { from: before[name], to: after[name] }])),
    system_prompt: prompt === to.systemPrompt ? null : { from: prompt, to: to.systemPrompt },
    ignored: [...to.ignored],
  }
}

/** The fields of one config that are missing from the other. */
function without(one: PresetConfig, other: PresetConfig): PresetConfig {
  return Object.fromEntries(Object.entries(one).filter(([name]) => !Object.hasOwn(other, name)))
}
