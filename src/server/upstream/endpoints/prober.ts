import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { PROBE_MS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { EndpointCheck, EndpointForm } from '../../../schemas/endpoints/private-endpoints.ts'
import { isProviderKey } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress, VettedOrigin } from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { EndpointProber, ProbeResult, ProbeInput } from '../../ports/endpoints/private-endpoints.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import { conclude, type ProbedForm, type UnprobedForm } from './form-findings.ts'
import { formsOf } from './own-forms.ts'
import { destinationOf, OwnProviders } from './own-providers.ts'
import { probeEmbeddings } from './probe-embeddings.ts'
import { probeText } from './probe-text.ts'
import { judge } from './probe-verdict.ts'

export interface ProberDeps {
  readonly egress: Pick<Egress, 'vetted'>
  readonly jobs: ShortJobs
  readonly releases: SecretReleases
  readonly providers: readonly Provider[]
  /** Milliseconds of the same clock as the ends of the gate's attempts. */
  readonly now: () => number
}

/** Probes private endpoints on the same way as calls: gate, credential and protocol. B2.6. */
export function createProber(deps: ProberDeps): EndpointProber {
  const providers = new OwnProviders(deps.providers)
  return {
    nameOf: (slug) => providers.nameOf(slug),
    mayReach(baseUrl) {
      const destination = destinationOf(baseUrl)
      return destination !== null && deps.egress.vetted(destination).ok
    },
    async probe(given) {
      const { endpoint } = given
      const provider = providers.at(endpoint)
      if (provider === null)
        return failed({ name: 'provider_ok', passed: false, reason: 'provider_not_found' })
      const destination = destinationOf(endpoint.baseUrl)
      const origin =
        destination === null ? null : deps.egress.vetted({ ...destination, workspaceId: given.workspaceId })
      if (destination === null || origin?.ok !== true) return failed(BAD_URL)
      const released = await release(given, destination.host, deps.releases)
      if (!released.ok)
        return released.failure.name === 'secret_not_released' ? failed(NO_CREDENTIAL) : released
      if (released.value === null)
        return failed({ name: 'credential_ok', passed: false, reason: 'no_byok_key' })
      // Calls refuse such a key too: no header can carry it.
      if (!isProviderKey(released.value.reveal())) return failed(NO_CREDENTIAL)
      return probeForms(given, { provider, origin: origin.value, secret: released.value }, deps)
    },
  }
}

const BAD_URL: EndpointCheck = { name: 'base_url_ok', passed: false, reason: 'invalid_base_url' }
const NO_CREDENTIAL: EndpointCheck = { name: 'credential_ok', passed: false, reason: 'key_decryption_failed' }

function failed(check: EndpointCheck): Outcome<ProbeResult> {
  return ok({ checks: [check], forms: [], isSlow: false })
}

function release(
  { endpoint, workspaceId, by }: ProbeInput,
  host: string,
  releases: SecretReleases,
): Promise<Outcome<Secret | null>> {
  const { organizationId, secretName: name } = endpoint
  if (name === null) return Promise.resolve(ok(null))
  const scope = { organizationId, workspaceId, internId: null }
  return releases.release({
    scope,
    name,
    host,
    operation: by.operation,
    by: { actor: by.actor, requestId: by.requestId },
  })
}

interface Way {
  readonly provider: Provider
  readonly origin: VettedOrigin
  readonly secret: Secret
}

/**
 * Probes each form, all at once: together they have the time of one. A form that was not asked for may go
 * without a probe where there is no room for it. Failures: busy (none was probed, or not each that is
 * wanted), and those that say nothing about the upstream.
 */
async function probeForms(given: ProbeInput, way: Way, deps: ProberDeps): Promise<Outcome<ProbeResult>> {
  const { forms: wanted } = given
  const mayHave = formsOf(way.provider)
  if (wanted?.some((form) => !mayHave.includes(form)) === true)
    return failed({ name: 'provider_ok', passed: false, reason: 'provider_not_found' })
  const endsAt = deps.now() + PROBE_MS_MAX
  const probed = await Promise.all(
    (wanted ?? mayHave).map(async (form) => ({
      form,
      probe: await probeForm(form, { given, way, endsAt }, deps),
    })),
  )
  const found: (ProbedForm | UnprobedForm)[] = []
  let noRoom: Outcome<never> | null = null
  for (const { form, probe } of probed) {
    if (probe.ok) found.push(probe.value)
    else if (wanted !== null || probe.failure.name !== 'busy') return probe
    else {
      noRoom = probe
      found.push({ form, checks: null })
    }
  }
  const isProbed = found.some(({ checks }) => checks !== null)
  return noRoom !== null && !isProbed ? noRoom : ok(conclude(found, wanted !== null))
}

interface Probing {
  readonly given: ProbeInput
  readonly way: Way
  readonly endsAt: number
}

/** Failures: those that say nothing about the upstream. */
async function probeForm(
  form: EndpointForm,
  { given, way, endsAt }: Probing,
  { jobs, now }: ProberDeps,
): Promise<Outcome<ProbedForm>> {
  const { endpoint, workspaceId, call } = given
  const { provider, origin, secret } = way
  const key = secret.reveal()
  const caller = { organizationId: endpoint.organizationId, workspaceId, key: endpoint.id }
  const probing = { endpoint, provider, origin, key, caller, call, endsAt, now }
  const probed = form === 'embeddings' ? probeEmbeddings(probing, jobs) : probeText(form, probing)
  const { answer, seen } = await probed
  if (!answer.ok && isOurs(answer.failure)) return answer
  const { hostname: host } = new URL(provider.baseUrl)
  const about = { seen, redacted: { credential: key, host }, modelId: endpoint.upstreamModelId }
  return ok({ form, status: seen?.status ?? null, ...judge(answer, about) })
}

/** True for failures that say nothing about the upstream. */
function isOurs({ name }: Failure): boolean {
  return ['busy', 'client_gone', 'draining', 'internal', 'store_unavailable'].includes(name)
}
