import { REQUESTS_LAST_WEIGHT } from '../../../schemas/requests/request-limits.ts'
import type { CallSettled } from '../../ports/observe.ts'

/**
 * Free calls with the same outcome (a failure, or none), key, front and second that are all kept; of further
 * ones a share is kept. Decision.
 */
export const REQUESTS_WHOLE_MAX = 20
/** Of further calls of that kind, one in this many is kept, with this weight. Decision. */
export const REQUESTS_FIRST_WEIGHT = 10
/** Number of calls of that kind after which only one in REQUESTS_LAST_WEIGHT is kept. Decision. */
export const REQUESTS_FIRST_WEIGHT_MAX = 520
/** Kinds of calls that a front counts separately in a second; further kinds share one count. Decision. */
export const REQUESTS_KINDS_MAX = 1_000
/** Of these, kinds that are counted by key; further keys share the count of their organization. Decision. */
export const REQUESTS_KEY_KINDS_MAX = 500
/** Of these, kinds of one organization. Decision. */
export const REQUESTS_ORGANIZATION_KINDS_MAX = 32
/** Names of unknown models that a front keeps for one organization in a minute; further names are left out. Decision. */
export const ASKED_MODELS_MAX = 32
/** Organizations for which a front keeps names of unknown models in a minute. Decision. */
export const ASKED_MODEL_ORGANIZATIONS_MAX = 1_000

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const FURTHER = ''

export type SampledCall = Pick<CallSettled, 'organizationId' | 'keyHash' | 'failure' | 'status'>

/**
 * Decides which free calls the log keeps: the first of each key, outcome and second, and a share of the
 * others, weighted so that the weights of all kept calls add up to about the number of calls. A flood from one
 * key takes no room from other keys or organizations.
 */
export class Sampling {
  readonly #counts = new Map<string, number>()
  /** For each organization, the kinds of its keys that are counted separately. */
  readonly #ofOrganization = new Map<string, number>()
  #keyKinds = 0
  #second = 0

  /** @returns the calls that this one stands for; 0 when it is not kept */
  weightOf(nowMs: number, call: SampledCall): number {
    const second = Math.floor(nowMs / SECOND_MS)
    if (second !== this.#second) this.#clear()
    this.#second = second
    const kind = this.#kindOf(call)
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    return weightAt(count)
  }

  #clear(): void {
    this.#counts.clear()
    this.#ofOrganization.clear()
    this.#keyKinds = 0
  }

  /** Key and outcome. For an organization with too many kinds only the outcome, so that other organizations have room for their own kinds. */
  #kindOf({ organizationId, keyHash, failure, status }: SampledCall): string {
    const organization = organizationId ?? ''
    const shared = `${organization} ${failure ?? status}`
    const own = `${shared} ${keyHash ?? ''}`
    if (this.#counts.has(own)) return own
    const kinds = this.#ofOrganization.get(organization) ?? 0
    if (kinds < REQUESTS_ORGANIZATION_KINDS_MAX && this.#keyKinds < REQUESTS_KEY_KINDS_MAX) {
      this.#ofOrganization.set(organization, kinds + 1)
      this.#keyKinds++
      return own
    }
    return this.#counts.size < REQUESTS_KINDS_MAX || this.#counts.has(shared) ? shared : FURTHER
  }
}

/** The weight of the nth call of a kind, counted from 1. */
function weightAt(count: number): number {
  if (count <= REQUESTS_WHOLE_MAX) return 1
  const isFirst = count <= REQUESTS_FIRST_WEIGHT_MAX
  const weight = isFirst ? REQUESTS_FIRST_WEIGHT : REQUESTS_LAST_WEIGHT
  const behind = count - (isFirst ? REQUESTS_WHOLE_MAX : REQUESTS_FIRST_WEIGHT_MAX)
  return behind % weight === 0 ? weight : 0
}

/**
 * Keeps names that calls gave to models that do not exist. Callers choose these names, so only a few distinct
 * ones a minute are kept for each organization: they must not fill the log.
 */
export class AskedModels {
  readonly #names = new Map<string, Set<string>>()
  #minute = 0

  /** @returns the name; undefined when the call named no unknown model, or its name is not kept */
  of(nowMs: number, { organizationId, askedModel }: CallSettled): string | undefined {
    if (askedModel === undefined || organizationId === null) return undefined
    const minute = Math.floor(nowMs / MINUTE_MS)
    if (minute !== this.#minute) this.#names.clear()
    this.#minute = minute
    const names = this.#names.get(organizationId) ?? this.#begin(organizationId)
    if (names === null) return undefined
    if (names.size < ASKED_MODELS_MAX) names.add(askedModel)
    return names.has(askedModel) ? askedModel : undefined
  }

  /** Null when the limit of organizations is reached. */
  #begin(organizationId: string): Set<string> | null {
    if (this.#names.size >= ASKED_MODEL_ORGANIZATIONS_MAX) return null
    const names = new Set<string>()
    this.#names.set(organizationId, names)
    return names
  }
}
