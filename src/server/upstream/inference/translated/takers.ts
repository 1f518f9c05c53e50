import { ok, type Outcome } from '../../../../schemas/failures.ts'
import type { Issue } from '../../../../schemas/failure-metadata.ts'
import type { TranslationJob } from '../../../../dialects/translate.ts'
import type { CountJob } from '../../../ports/inference/inference.ts'
import type { Endpoint } from '../../../ports/models/models.ts'
import type { ShortJobs } from '../../../ports/short-jobs.ts'
import { contentsOf } from '../inline/named-contents.ts'
import { isEcho, translatedTo } from '../spoken.ts'
import {
  isDropRefused,
  isTranslatedHere,
  translationJob,
  type WrittenCall,
  lostOf,
  unsupported,
} from './translation-job.ts'
import { refusalsOf, type RefusalsJob } from '../../../../dialects/refusals.ts'
import { nativeRequest } from '../native-wire.ts'

/** Kinds of endpoints against which one call is checked before routing; further refusals show in the attempts. Decision. */
export const JUDGED_MAX = 16

/** The parts of one call that endpoints would refuse, known before any endpoint is tried. */
export class Takers {
  readonly #issues: ReadonlyMap<Endpoint, readonly Issue[]>

  constructor(issues: ReadonlyMap<Endpoint, readonly Issue[]>) {
    this.#issues = issues
  }

  /**
   * The endpoints that accept the call; all of them when none is configured. Failure: field_unsupported, when the
   * configured ones would refuse the call.
   */
  among(
    endpoints: readonly Endpoint[],
    isConfigured: (endpoint: Endpoint) => boolean,
  ): Outcome<readonly Endpoint[]> {
    const taking = endpoints.filter((endpoint) => !this.#issues.has(endpoint))
    if (taking.length === endpoints.length || taking.some(isConfigured)) return ok(taking)
    const issues = endpoints.filter(isConfigured).flatMap((endpoint) => this.#issues.get(endpoint) ?? [])
    return issues.length === 0 ? ok(endpoints) : unsupported(distinct(issues))
  }
}

/** Endpoints of one kind refuse the same. */
function distinct(issues: readonly Issue[]): readonly Issue[] {
  return [...new Map(issues.map((issue) => [`${issue.path} ${issue.expected}`, issue])).values()]
}

type JudgedJob = Pick<CountJob, 'models' | 'request' | 'files' | 'caller' | 'call' | 'deadlineAt'> &
  WrittenCall & {
    /** The call counts tokens; endpoints that cannot count them for the caller refuse nothing. */
    readonly isCount?: true
  }

type Known = Outcome<Takers | null>

/**
 * Null when every endpoint accepts the call, as endpoints do that get it unchanged, or when there is only one endpoint.
 * For endpoints of other forms the request is read; a large one in a thread. Failures: those of the pool of short jobs.
 */
export function takersOf(job: JudgedJob, jobs: ShortJobs): Known | Promise<Known> {
  const native = isDropRefused(job.request) ? lostNatively(job) : NO_ISSUES
  // The attempt at the only endpoint reads the request anyway, and reports refused members.
  const kinds = isAlone(job) ? null : kindsOf(job)
  if (kinds === null) return native.size === 0 ? ALL_TAKE : ok(new Takers(native))
  const { sent, targets } = kinds.input
  // When no member may be dropped, the request is written for each of them.
  const times = sent.isDropRefused === true ? targets.length : 1
  const known = (refused: readonly (readonly Issue[])[]): Takers =>
    new Takers(new Map([...native, ...kinds.refusedAt(refused)]))
  if (isTranslatedHere(sent.body, times)) return ok(known(refusalsOf(kinds.input)))
  const { caller, call, deadlineAt: endsAt } = job
  return jobs
    .run('refused_fields', kinds.input, { caller, signal: call.signal, endsAt })
    .then((done) => (done.ok ? ok(known(done.value)) : done))
}

const ALL_TAKE: Known = ok(null)
const NO_ISSUES: ReadonlyMap<Endpoint, readonly Issue[]> = new Map()

function isAlone({ models }: Pick<JudgedJob, 'models'>): boolean {
  return models.length === 1 && models[0]?.endpoints.length === 1
}

/** The members that providers of the caller's own form would not get. */
function lostNatively(job: JudgedJob): ReadonlyMap<Endpoint, readonly Issue[]> {
  const { dialect } = job.request
  const lost = new Map<Endpoint, readonly Issue[]>()
  for (const endpoint of endpointsOf(job)) {
    const { text } = endpoint
    if (text === null || isEcho(endpoint) || !text.speaks.includes(dialect)) continue
    const issues = lostOf(job.request, nativeRequest(job, endpoint, text).dropped)
    if (issues.length > 0) lost.set(endpoint, issues)
  }
  return lost
}

function* endpointsOf({ models }: Pick<JudgedJob, 'models'>): Generator<Endpoint> {
  for (const { endpoints } of models) yield* endpoints
}

interface Kinds {
  readonly input: RefusalsJob
  /** @param refused issues by kind */
  refusedAt(refused: readonly (readonly Issue[])[]): readonly (readonly [Endpoint, readonly Issue[]])[]
}

/** The endpoints for which the call is translated, grouped by kind; null when there are none. */
function kindsOf(job: JudgedJob): Kinds | null {
  if (!isTranslated(job)) return null
  const { dialect } = job.request
  const kinds = new Map<string, { readonly job: TranslationJob; readonly endpoints: Endpoint[] }>()
  for (const endpoint of endpointsOf(job)) {
    const protocol = judgedAs(endpoint, job)
    const { text } = endpoint
    if (protocol === null || text === null) continue
    const written = translationJob(job, { endpoint, text, protocol })
    const key = keyOf(written)
    const kind = kinds.get(key)
    if (kind !== undefined) kind.endpoints.push(endpoint)
    else if (kinds.size < JUDGED_MAX) kinds.set(key, { job: written, endpoints: [endpoint] })
  }
  const all = [...kinds.values()]
  const isDropped = isDropRefused(job.request)
  const contents = contentsOf(job.files)?.named
  return {
    input: {
      sent: {
        dialect,
        body: job.request.source.bytes,
        ...(isDropped && { isDropRefused: true }),
        ...(contents && { contents }),
      },
      targets: all.map(({ job: { protocol, terms } }) => ({ protocol, terms })),
    },
    refusedAt: (refused) =>
      all.flatMap(({ endpoints }, nth) => {
        const issues = refused[nth] ?? []
        return issues.length === 0 ? [] : endpoints.map((endpoint) => [endpoint, issues] as const)
      }),
  }
}

/** Allocates nothing: most calls only use endpoints of their own form. */
function isTranslated(job: JudgedJob): boolean {
  for (const { endpoints } of job.models)
    for (const endpoint of endpoints) if (judgedAs(endpoint, job) !== null) return true
  return false
}

/** The protocol into which the call is translated for an endpoint; null when the endpoint refuses no part of it. */
function judgedAs(
  endpoint: Endpoint,
  { request: { dialect }, isCount }: Pick<JudgedJob, 'request' | 'isCount'>,
): TranslationJob['protocol'] | null {
  if (isEcho(endpoint)) return null
  const protocol = translatedTo(endpoint.text, dialect)
  return isCount === true && protocol !== 'gemini' ? null : protocol
}

/** All endpoints of a protocol refuse the same members; the dropped members depend on the model too. */
function keyOf({ protocol, terms, isDropRefused: isDropped }: TranslationJob): string {
  return JSON.stringify(isDropped === true ? [protocol, terms] : [protocol, terms.isStrict])
}
