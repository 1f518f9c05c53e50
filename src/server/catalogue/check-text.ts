import type { Issue } from '../../schemas/failure-metadata.ts'
import { pointer } from '../../schemas/issues.ts'
import type { Protocol } from '../../schemas/models/protocols.ts'
import { writesText } from './build-text.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'

const MEMBERS = ['speaks', 'strict', 'on_leave', 'first_output_ms', 'stall_ms'] as const
const NO_CALLS = 'has no effect: the protocol `local` makes no calls'

/** The built-in models have no connection that a member could describe. */
export function checkProviderText(provider: ProviderEntry): readonly Issue[] {
  if (provider.protocol !== 'local') return []
  return MEMBERS.filter((name) => provider[name] !== undefined).map((name) => ({
    path: pointer('', name),
    message: NO_CALLS,
    expected: 'the member to be absent',
  }))
}

/** @param place path of the endpoint, and its protocol: null when its provider is not known */
export function checkEndpointText(
  model: ModelEntry,
  entry: EndpointEntry,
  { path, protocol }: { path: string; protocol: Protocol | null },
): readonly Issue[] {
  const { speaks, reasoning_field: field } = entry
  if (field !== undefined && (protocol === 'local' || !writesText(model))) {
    const expected = 'the member to be absent'
    return [{ path: `${path}/reasoning_field`, message: 'belongs to an endpoint without chat', expected }]
  }
  if (speaks === undefined) return []
  if (!writesText(model)) {
    const expected = '`text` in the output modalities'
    return [{ path: `${path}/speaks`, message: 'belongs to a model without text output', expected }]
  }
  if (protocol !== 'local') return []
  return [{ path: `${path}/speaks`, message: NO_CALLS, expected: 'the member to be absent' }]
}
