import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import { PROBE_ANSWER_BYTES_MAX, PROBE_MS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type { EndpointCheck } from '../../../schemas/endpoints/private-endpoints.ts'
import { isProviderKey } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress, VettedOrigin } from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { EndpointProber, ProbeResult, ProbeInput } from '../../ports/endpoints/private-endpoints.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import type { LinkOrigin } from '../link.ts'
import { openRemote } from '../embeddings/remote.ts'
import { endpointAt } from './own-endpoint.ts'
import { destinationOf, OwnProviders } from './own-providers.ts'
import { judge, type Seen } from './probe-verdict.ts'

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
      return send(given, { provider, origin: origin.value, secret: released.value }, deps)
    },
  }
}

const BAD_URL: EndpointCheck = { name: 'base_url_ok', passed: false, reason: 'invalid_base_url' }
const NO_CREDENTIAL: EndpointCheck = { name: 'credential_ok', passed: false, reason: 'key_decryption_failed' }

function failed(check: EndpointCheck): Outcome<ProbeResult> {
  return ok({ checks: [check], isSlow: false })
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

/** The smallest valid input. */
const INPUT = 'Hello'

async function send(
  { endpoint, workspaceId, call }: ProbeInput,
  { provider, origin, secret }: Way,
  { jobs, now }: ProberDeps,
): Promise<Outcome<ProbeResult>> {
  const recorder = new Recorder(origin)
  const key = secret.reveal()
  const protocol = openRemote(endpointAt(endpoint, provider), { origin: recorder, key, jobs })
  if (protocol === null) return failed({ name: 'provider_ok', passed: false, reason: 'provider_not_found' })
  const endsAt = now() + PROBE_MS_MAX
  const reading = await protocol.embed({
    request: { model: endpoint.upstreamModelId, input: INPUT },
    shape: { kind: 'string', count: 1 },
    endsAt,
    deadlineAt: endsAt,
    caller: { organizationId: endpoint.organizationId, workspaceId, key: endpoint.id },
    call,
  })
  if (reading.ok) reading.value.release()
  else if (isOurs(reading.failure)) return reading
  const { hostname: host } = new URL(provider.baseUrl)
  return ok(
    judge(reading, {
      seen: recorder.seen,
      redacted: { credential: key, host },
      modelId: endpoint.upstreamModelId,
      provider,
    }),
  )
}

/** True for failures that say nothing about the upstream. */
function isOurs({ name }: Failure): boolean {
  return ['busy', 'client_gone', 'draining', 'internal', 'store_unavailable'].includes(name)
}

/** Records the parts of a response that the protocol does not return: its status and its body. */
class Recorder implements LinkOrigin {
  seen: Seen | null = null
  readonly #origin: VettedOrigin

  constructor(origin: VettedOrigin) {
    this.#origin = origin
  }

  async call(request: Parameters<LinkOrigin['call']>[0]): ReturnType<LinkOrigin['call']> {
    const outcome = await this.#origin.call({
      ...request,
      mayCutSent: true,
      answerBytesMax: PROBE_ANSWER_BYTES_MAX,
    })
    // The recorder copies the body: the parser of a response may move its bytes away.
    if (outcome.ok) this.seen = { status: outcome.value.status, body: outcome.value.body.slice() }
    return outcome
  }

  exchange(request: Parameters<LinkOrigin['exchange']>[0]): ReturnType<LinkOrigin['exchange']> {
    return this.#origin.exchange(request)
  }
}
