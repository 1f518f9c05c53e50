import { fail, ok, type Failure, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import {
  placeOf,
  type CheckName,
  type CheckReason,
  type EndpointCheck,
  type EndpointForm,
} from '../../../schemas/endpoints/private-endpoints.ts'
import type {
  EndpointActor,
  EndpointRef,
  PrivateEndpoint,
  ProbeClaim,
  ProbeResult,
  Validation,
} from '../../ports/endpoints/private-endpoints.ts'
import type { Ports } from '../../ports/ports.ts'

export const VALIDATION_FAILURES = [
  'endpoint_unknown',
  'endpoint_active',
  'probe_running',
  'endpoint_changed',
  'store_unavailable',
  'busy',
  'client_gone',
  'draining',
] as const satisfies readonly FailureName[]

export interface ValidationInput {
  readonly ref: EndpointRef
  readonly workspaceId: string
  /** Forms that have to pass; null: the forms of the draft. */
  readonly forms: readonly EndpointForm[] | null
  readonly by: EndpointActor
  readonly call: { readonly signal: AbortSignal }
}

export type ExaminedEndpoint = Validation & ProbeResult

type ProbingPorts = Pick<Ports, 'privateEndpoints' | 'endpointProber'>

/** Probes an endpoint in the same way as a workspace calls it, and stores the result. A probe with failed checks is still a successful call. B2.6. */
export async function validate(
  input: ValidationInput,
  ports: ProbingPorts,
): Promise<Outcome<ExaminedEndpoint>> {
  const claimed = await ports.privateEndpoints.claimValidation(input.ref)
  if (!claimed.ok) return claimed
  return underClaim(claimed.value, ports, async (claim) => {
    const found = await examine(claim.endpoint, input, ports)
    if (!found.ok) return found
    const { checks, forms, isSlow } = found.value
    const passed = checks.every((check) => check.passed)
    const speaks = forms.filter((one) => one.passed).map(({ form }) => form)
    const { workspaceId, by } = input
    const kept = await ports.privateEndpoints.validated(claim, { passed, checks, workspaceId, speaks }, by)
    return kept.ok ? ok({ passed, checks, forms, isSlow }) : kept
  })
}

/** Runs work under a claim and releases the claim immediately after a failure or an error. */
export async function underClaim<T>(
  claim: ProbeClaim,
  { privateEndpoints }: Pick<Ports, 'privateEndpoints'>,
  work: (claim: ProbeClaim) => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  let done: Outcome<T> | null = null
  try {
    done = await work(claim)
    return done
  } finally {
    if (done?.ok !== true) await privateEndpoints.dropClaim(claim)
  }
}

async function examine(
  endpoint: PrivateEndpoint,
  input: ValidationInput,
  ports: ProbingPorts,
): Promise<Outcome<ProbeResult>> {
  const { secretName, organizationId } = endpoint
  const { workspaceId, by, call } = input
  const host = placeOf(endpoint.baseUrl)?.host ?? ''
  const secret = secretName === null ? null : { name: secretName, host }
  const facts = await ports.privateEndpoints.facts({ organizationId, workspaceId, secret })
  if (!facts.ok) return facts
  const checks: EndpointCheck[] = []
  const passes = (name: CheckName, reason: CheckReason, isPassed: boolean): boolean => {
    checks.push(isPassed ? { name, passed: true } : { name, passed: false, reason })
    return isPassed
  }
  const mayProbe =
    passes('workspace_ok', 'workspace_not_found', facts.value.exists) &&
    passes(
      'provider_ok',
      'provider_not_found',
      ports.endpointProber.nameOf(endpoint.providerSlug) !== null,
    ) &&
    passes('base_url_ok', 'invalid_base_url', ports.endpointProber.mayReach(endpoint.baseUrl)) &&
    passes('limit_ok', 'endpoint_limit_reached', !facts.value.isFull) &&
    (facts.value.hasSecret || passes('credential_ok', 'no_byok_key', false))
  if (!mayProbe) return ok({ checks, forms: [], isSlow: false })
  const wanted = input.forms ?? endpoint.forms
  const probed = await ports.endpointProber.probe({ endpoint, workspaceId, forms: wanted, by, call })
  if (!probed.ok) return probed
  const { checks: found, forms, isSlow } = probed.value
  // The probe's own result for this check is newer and replaces the earlier one.
  return ok({
    checks: [...checks.filter(({ name }) => found.every((check) => check.name !== name)), ...found],
    forms,
    isSlow,
  })
}

/** The failure that an activation returns for failed checks; the first failed check decides. B2.6, C28. */
export function failureOfChecks({ checks, forms, isSlow }: ProbeResult): Failure {
  const failed = checks.find(({ passed }) => !passed)
  const reason = failed?.reason
  switch (reason) {
    case 'workspace_not_found':
      return { name: 'workspace_unknown' }
    case 'no_byok_key':
    case 'key_decryption_failed':
      return { name: 'credential_unavailable' }
    case 'endpoint_limit_reached':
    case 'provider_not_found':
    case 'invalid_base_url':
      return fail('validation_failed', { fields: { reason } }).failure
    case 'upstream_error':
    case 'model_not_found':
    case 'invalid_response':
    case 'invalid_stream':
    case 'missing_usage':
    case 'model_mismatch':
    case undefined:
      return isSlow ? { name: 'probe_slow' } : probeFailed(reason ?? 'upstream_error', wordsOf(forms, failed))
    default:
      return reason satisfies never
  }
}

function probeFailed(reason: CheckReason, detail: string | null): Failure {
  return { name: 'probe_failed', fields: { reason }, ...(detail !== null && { detail }) }
}

/** The error text of each refused form, when several forms were probed: the caller must see which form is meant. */
function wordsOf(forms: ProbeResult['forms'], failed: EndpointCheck | undefined): string | null {
  const refused = forms.flatMap(({ form, checks }) => {
    const check = checks.find(({ passed }) => !passed)
    return check === undefined ? [] : [`${form}: ${check.upstream_message ?? check.reason ?? 'failed'}`]
  })
  if (refused.length > 1) return `Answers by API: ${refused.join('; ')}`
  const message = failed?.upstream_message
  return message === undefined ? null : `The endpoint answered: ${message}`
}
