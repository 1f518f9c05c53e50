/** Tiers, speeds and places of a call by one name each, whatever providers and callers write. F6, F9. */
import { TIER_MEMBERS, type TierMember } from '../models/price-conditions.ts'

/** The name of the usual tier, speed and place, whatever a provider calls it. F6. */
export const USUAL_TIER = 'default'

/** Tiers by member, as `tierOf` names them; absent: nothing was reported, or asked for. */
export type Tiers = Readonly<Partial<Record<TierMember, string>>>
export const NO_TIERS: Tiers = {}

const USUAL: Readonly<Record<TierMember, ReadonlySet<string>>> = {
  service_tier: new Set([USUAL_TIER, 'standard', 'standard_only', 'on_demand']),
  speed: new Set([USUAL_TIER, 'standard']),
  inference_geo: new Set([USUAL_TIER, 'global', 'not_available']),
}

/** Tiers that providers have for a whole account. */
const SOLD_TIERS: readonly string[] = ['flex', 'priority', 'ultrafast', 'performance', 'scale', 'reserved']
/** The words for them, and for the usual one. `auto` leaves the tier to the account, so it names none. F9. */
export const ACCOUNT_TIERS: readonly string[] = [...USUAL.service_tier, ...SOLD_TIERS, 'fast']

/**
 * The name of a tier as modifiers have it.
 * @returns undefined: no name, or none that the account does not decide
 */
export function tierOf(member: TierMember, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const name = value.toLowerCase()
  if (member === 'service_tier') {
    if (name === 'auto') return undefined
    // OpenAI answers so to either word.
    if (name === 'fast') return 'priority'
  }
  return USUAL[member].has(name) ? USUAL_TIER : name
}

/** The member of what shows a tier to a caller; nothing where none was reported. */
export function shownTier(reported: Readonly<Partial<Record<TierMember, unknown>>> = {}): {
  readonly tier?: string
} {
  const tier = tierOf('service_tier', reported.service_tier)
  return tier === undefined ? {} : { tier }
}

/** @returns NO_TIERS where no value is a name */
export function tiersOf(values: Readonly<Partial<Record<TierMember, unknown>>>): Tiers {
  let tiers: Partial<Record<TierMember, string>> | null = null
  for (const member of TIER_MEMBERS) {
    const tier = tierOf(member, values[member])
    if (tier !== undefined) (tiers ??= {})[member] = tier
  }
  return tiers ?? NO_TIERS
}
