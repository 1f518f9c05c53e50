import type { BodyName } from '../../../schemas/bodies.ts'
import { ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { unknownFields } from '../../../schemas/presets/preset-input.ts'
import type { PresetParams, PresetQuery } from '../../../schemas/presets/presets.ts'
import type { Ports } from '../../ports/ports.ts'
import type { PresetInput } from '../../ports/presets/presets.ts'
import type { Call, Success } from '../define.ts'
import { PRESET_FAILURES, presetActorOf, presetAnswer, presetRefOf } from './preset-answers.ts'
import { sessionIdOf } from '../../../schemas/inference/conversation.ts'

/** Statuses of the operations that save a preset. §7, B1.2, B2.2. */
export const SAVING_STATUSES = [400, 403, 404, 409, 500] as const
/** Failures of the operations that save a preset. §7, B1.2, B2.2. */
export const SAVING_FAILURES = [
  'header_invalid',
  'body_invalid',
  'previous_response_unsupported',
  'preset_too_large',
  'presets_full',
  'preset_conflict',
  ...PRESET_FAILURES,
] as const satisfies readonly FailureName[]

export const SAVING_HEADERS = {
  'x-sluice-ignored': 'Fields of the request that are unknown in its format, comma-separated.',
}

export interface SavingInputs<B extends BodyName> {
  readonly params: typeof PresetParams
  readonly query: typeof PresetQuery
  readonly headers: readonly ['x-session-id']
  readonly body: B
}

type SavingCall = Call<{ readonly slug: string }, { readonly workspace_id?: string }, PresetInput>

/** Saves a preset from any of the three forms: each body already has the stored form. */
export async function savePreset(
  call: SavingCall,
  ports: Pick<Ports, 'presets' | 'workspaces'>,
): Promise<Outcome<Success>> {
  // A session id in the body wins, and was checked with the body. §4.2.
  const session = sessionIdOf(
    null,
    call.body.ignored.includes('session_id') ? undefined : call.headers['x-session-id'],
  )
  if (!session.ok) return session
  const ref = await presetRefOf(call, ports)
  if (!ref.ok) return ref
  const saved = await ports.presets.put(ref.value, call.body, presetActorOf(call))
  return saved.ok ? ok(presetAnswer(saved.value, ignoredRemark(call.body))) : saved
}

/** Other members of a request are no slips: a form of calls may have members that Sluice does not know. C25. */
function ignoredRemark({ ignored }: PresetInput): Readonly<Record<string, string>> {
  const names = unknownFields(ignored).map((name) => name.replace(/[^\w.$-]/g, '_'))
  return names.length === 0 ? {} : { 'x-sluice-ignored': names.join(',') }
}
