import { REQUESTS_LAST_WEIGHT } from '../../../schemas/requests/request-limits.ts'
import type { CallSettled } from '../../ports/observe.ts'

/**
 * Calls of one end (a failure, or none) that cost nothing, of one key, front and second, which are all kept;
 * of further ones a share is kept. Decision.
 */
export const REQUESTS_WHOLE_MAX = 20
/** Of further calls of that kind one in so many is kept, with this weight. Decision. */
export const REQUESTS_FIRST_WEIGHT = 10
/** Calls of that kind after which one in REQUESTS_LAST_WEIGHT is kept. Decision. */
export const REQUESTS_FIRST_WEIGHT_MAX = 520
/** Kinds of calls that a front counts apart in a second; further kinds share one count. Decision. */
export const REQUESTS_KINDS_MAX = 1_000
/** Of these, kinds that are counted by key; keys beyond them share the count of their organization. Decision. */
export const REQUESTS_KEY_KINDS_MAX = 500
/** Of these, kinds of one organization. Decision. */
export const REQUESTS_ORGANIZATION_KINDS_MAX = 32
/** Such names of one organization that a front keeps in a minute; further ones are left out. Decision. */
export const ASKED_MODELS_MAX = 32
/** Organizations whose names of models that there are not a front keeps in a minute. Decision. */
export const ASKED_MODEL_ORGANIZATIONS_MAX = 1_000

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const FURTHER = ''

export type SampledCall = Pick<CallSettled, 'organizationId' | 'keyHash' | 'failure' | 'status'>

/**
 * Decides which calls that cost nothing the log keeps: the first of each key, end and second, and of the
 * others so many that the weights of all that are kept come to about the number of calls. A flood of one key
 * takes no room of other keys, nor of other organizations.
 */
export class Sampling {
  readonly #counts = new Map<string, number>()
  /** Of each organization, the kinds of its keys that are counted apart. */
  readonly #ofOrganization = new Map<string, number>()
  #keyKinds = 0
  #second = 0

  /** @returns the calls that this one stands for; 0: it is not kept */
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

  /** Key and end; of an organization with many such kinds the end alone, so that others have their own. */
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

/** The weight of a call by its number, from 1. */
function weightAt(count: number): number {
  if (count <= REQUESTS_WHOLE_MAX) return 1
  const isFirst = count <= REQUESTS_FIRST_WEIGHT_MAX
  const weight = isFirst ? REQUESTS_FIRST_WEIGHT : REQUESTS_LAST_WEIGHT
  const behind = count - (isFirst ? REQUESTS_WHOLE_MAX : REQUESTS_FIRST_WEIGHT_MAX)
  return behind % weight === 0 ? weight : 0
}

/**
 * Keeps names that calls gave to models that do not exist. Callers choose these names, so each organization
 * has a few different ones in a minute, and the log does not fill with them.
 */
export class AskedModels {
  readonly #names = new Map<string, Set<string>>()
  #minute = 0

  /** @returns the name; undefined: the call asked for none that is kept */
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

  /** Null: the organization is one too many. */
  #begin(organizationId: string): Set<string> | null {
    if (this.#names.size >= ASKED_MODEL_ORGANIZATIONS_MAX) return null
    const names = new Set<string>()
    this.#names.set(organizationId, names)
    return names
  }
}
