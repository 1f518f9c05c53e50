import { ok, type Outcome } from '../../../schemas/failures.ts'
import type { CompleteText, TextRequest } from '../../../schemas/inference/text-request.ts'
import { callerOf } from '../../../schemas/values/callers.ts'
import type { PresetBy } from '../../ports/inference/inference.ts'
import type { Ports } from '../../ports/ports.ts'
import { isComplete, usedPreset } from '../apply-preset.ts'
import type { Call } from '../define.ts'
import { withFiles, type TextWithFiles } from './inline-files.ts'

type TextCall = Pick<Call<undefined, undefined, TextRequest>, 'key' | 'body' | 'signal' | 'isRegional'>
type TextPorts = Pick<Ports, 'inference' | 'presetConfigs' | 'files' | 'transfers'>
type Completed = Outcome<TextWithFiles>

type PresetUse = Pick<PresetBy, 'isCount'>
const OF_CALL: PresetUse = {}

/**
 * The body of a call with what it lacks of its preset, and with its files; no promise for a body that names
 * neither. Failures: those of `PRESET_USE_FAILURES`, of `Inference.withPreset` and of `withFiles`. D10, D31.
 */
export function completeText(
  call: TextCall,
  ports: TextPorts,
  use: PresetUse = OF_CALL,
): Completed | Promise<Completed> {
  const { body } = call
  return isCompleteText(body) ? found(call, body, ports) : withPreset(call, ports, use)
}

function found(call: TextCall, body: CompleteText, ports: TextPorts): Completed | Promise<Completed> {
  return body.files === undefined ? ok({ body }) : withFiles(call, body, ports)
}

function isCompleteText(body: TextRequest): body is CompleteText {
  return isComplete(body)
}

async function withPreset(call: TextCall, ports: TextPorts, { isCount }: PresetUse): Promise<Completed> {
  const used = await usedPreset(call, ports)
  if (!used.ok) return used
  const { model, content } = used.value
  const { key, body, signal } = call
  const by = { caller: callerOf(key), signal, ...(isCount === true && { isCount }) }
  const merged = await ports.inference.withPreset(body, { content, model }, by)
  return merged.ok ? found(call, merged.value, ports) : merged
}
