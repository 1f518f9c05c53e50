import { type Failure, ok, type Outcome } from '../../../schemas/failures.ts'
import { PROBE_ANSWER_BYTES_MAX, PROBE_MS_MAX } from '../../../schemas/endpoints/endpoint-limits.ts'
import type {
  EndpointCheck,
  EndpointForm,
  FormFinding,
} from '../../../schemas/endpoints/private-endpoints.ts'
import { isProviderKey } from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import { membersOf } from '../../../schemas/values/members.ts'
import type { Egress, VettedOrigin } from '../../ports/egress/egress.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { EndpointProber, ProbeInput, ProbeResult } from '../../ports/endpoints/private-endpoints.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import { openRemote } from '../embeddings/remote.ts'
import type { LinkOrigin } from '../link.ts'
import { destinationOf, OwnProviders, formsOf } from './own-providers.ts'
import { probeText, PROBE_TEXT, type FormProbe, type FormProbing } from './probe-text.ts'
import { type FormVerdict, judge, type Seen } from './probe-verdict.ts'
import { endpointAt } from './own-endpoint.ts'

export interface ProberDeps {
  readonly egress: Pick<Egress, 'vetted'>
  readonly jobs: ShortJobs
  readonly releases: SecretReleases
  readonly providers: readonly Provider[]
  /** Milliseconds on the clock of the gate's attempts. */
  readonly now: () => number
}

/** Probes private endpoints in the same way as calls reach them: through the gate, with the credential and the protocol. */
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
 * Probes all forms at the same time, within the time of one probe. A form that was not requested may stay unprobed when
 * there is no room. Failures: busy (no form was probed, or not every requested one), and failures that say nothing
 * about the upstream.
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
  const isAnyProbed = found.some(isProbed)
  return noRoom !== null && !isAnyProbed ? noRoom : ok(conclude(found, wanted !== null))
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

interface ProbedForm extends FormVerdict {
  readonly form: EndpointForm
  /** Null when there was no response. */
  readonly status: number | null
}

/** A form that was not probed because there was no room. */
interface UnprobedForm {
  readonly form: EndpointForm
  readonly checks: null
}

/**
 * The result for an endpoint from the probes of its forms.
 * @param forms at least one that was probed
 * @param areAllWanted every form has to be served, otherwise any of them
 */
function conclude(forms: readonly (ProbedForm | UnprobedForm)[], areAllWanted: boolean): ProbeResult {
  const found = forms.filter(isProbed)
  const served = found.find(isServed)
  const unserved = found.find((one) => !isServed(one))
  const telling = areAllWanted ? (unserved ?? served) : (served ?? furthest(found))
  if (telling === undefined) throw new Error('a probe that tested no API')
  const { checks, isSlow, form } = telling
  const named = (check: EndpointCheck): EndpointCheck => (check.passed ? check : { ...check, form })
  return {
    checks: found.length > 1 ? checks.map(named) : checks,
    isSlow,
    forms: forms.map(findingOf),
  }
}

function isProbed(one: ProbedForm | UnprobedForm): one is ProbedForm {
  return one.checks !== null
}

function isServed({ checks }: FormVerdict): boolean {
  return checks.every(({ passed }) => passed)
}

function findingOf(one: ProbedForm | UnprobedForm): FormFinding {
  if (!isProbed(one)) return { form: one.form, passed: false, checks: [], is_unprobed: true }
  return { form: one.form, passed: isServed(one), checks: [...one.checks] }
}

/** The form that passed the most checks; the first of them if several did. */
function furthest(found: readonly ProbedForm[]): ProbedForm | undefined {
  return [...found].sort((one, other) => distanceOf(other) - distanceOf(one))[0]
}

/** Statuses with which a server reports that it has no such path. */
const PATHLESS: readonly (number | null)[] = [404, 405, 501]

/** Number of passed checks; half a check less for a missing path, which is less informative than other failures. */
function distanceOf({ checks, status }: ProbedForm): number {
  const passed = checks.filter((check) => check.passed).length
  return passed + (PATHLESS.includes(status) ? 0 : 0.5)
}

async function probeEmbeddings(
  { endpoint, provider, origin, key, caller, call, endsAt }: FormProbing,
  jobs: ShortJobs,
): Promise<FormProbe> {
  const recorder = new Recorder(origin)
  const protocol = openRemote(endpointAt(endpoint, provider), { origin: recorder, key, jobs })
  if (protocol === null) throw new Error('a probe of a protocol without embeddings')
  const reading = await protocol.embed({
    request: { model: endpoint.upstreamModelId, input: PROBE_TEXT },
    shape: { kind: 'string', count: 1, pictures: 0 },
    endsAt,
    deadlineAt: endsAt,
    caller,
    call,
  })
  const { seen } = recorder
  if (!reading.ok) return { answer: reading, seen }
  const { promptTokens, release } = reading.value
  release()
  // Gemini does not count tokens of embeddings.
  const hasUsage = promptTokens !== null || provider.protocol === 'google'
  const model = seen === null ? null : modelIn(seen.body)
  return { answer: ok({ models: model === null ? [] : [model], hasUsage, isWhole: null }), seen }
}

/** The name of the model in an answer; null: no name. */
function modelIn(body: Uint8Array): string | null {
  try {
    const { model } = membersOf(JSON.parse(Buffer.from(body).toString()))
    return typeof model === 'string' && model !== '' ? model : null
  } catch {
    return null
  }
}

/** Records the parts of a response that the protocol does not return: its status and its body. */
class Recorder implements LinkOrigin {
  seen: Seen | null = null
  readonly #origin: LinkOrigin

  constructor(origin: LinkOrigin) {
    this.#origin = origin
  }

  async call(request: Parameters<LinkOrigin['call']>[0]): ReturnType<LinkOrigin['call']> {
    const outcome = await this.#origin.call({
      ...request,
      mayCutSent: true,
      answerBytesMax: PROBE_ANSWER_BYTES_MAX,
    })
    // The recorder copies the body: the parser of a response may transfer its bytes.
    if (outcome.ok) this.seen = { status: outcome.value.status, body: outcome.value.body.slice() }
    return outcome
  }

  exchange(request: Parameters<LinkOrigin['exchange']>[0]): ReturnType<LinkOrigin['exchange']> {
    return this.#origin.exchange(request)
  }
}
