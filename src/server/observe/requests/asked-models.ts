import { ASKED_MODEL_ORGANIZATIONS_MAX, ASKED_MODELS_MAX } from '../../../schemas/requests/request-limits.ts'
import type { CallSettled } from '../../ports/observe.ts'

const MINUTE_MS = 60_000

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
