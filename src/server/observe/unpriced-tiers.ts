/** Answers that report a tier without a price, as shown by `doctor`, the live view and the dashboard. */
import type { ModelCatalogue } from '../ports/models/models.ts'
import {
  isTierPriced,
  OTHER_TIER,
  TIER_MEMBERS,
  type TierMember,
} from '../../schemas/models/price-conditions.ts'
import type { Advice } from './load-advice.ts'

/** Name of the counter. */
export const UNPRICED_TIER_CALLS = 'sluice_unpriced_tier_calls_total'

export interface UnpricedTier {
  readonly provider: string
  readonly model: string
  readonly member: TierMember
  /** The tier's name in price modifiers, or OTHER_TIER. */
  readonly tier: string
  readonly calls: number
}

type Labels = Readonly<Record<string, string>>

export function unpricedTierOf(labels: Labels, calls: number): UnpricedTier {
  const { provider = '', model = '', tier = '' } = labels
  const member = TIER_MEMBERS.find((name) => name === labels['member']) ?? 'service_tier'
  return { provider, model, member, tier, calls }
}

export function unpricedTiersIn(metrics: string): readonly UnpricedTier[] {
  return Array.from(metrics.matchAll(SAMPLE), ([, labels = '', count]) =>
    unpricedTierOf(
      Object.fromEntries(Array.from(labels.matchAll(LABEL), ([, name, value]) => [name, value])),
      Number(count),
    ),
  )
}

const SAMPLE = new RegExp(`^${UNPRICED_TIER_CALLS}\\{([^}]*)\\} ([0-9.e+-]+)$`, 'gm')
const LABEL = /([a-z_]+)="([^"]*)"/g

/** Removes the tiers for which a catalogue now has a modifier: the node counted them before the modifier was added. */
export function stillUnpriced(
  counts: readonly UnpricedTier[],
  catalogue: Pick<ModelCatalogue, 'models'>,
): readonly UnpricedTier[] {
  return counts.filter(({ provider, model, member, tier }) => {
    const endpoints = catalogue.models.find(({ id }) => id === model)?.endpoints ?? []
    const those = endpoints.filter((one) => one.provider.slug === provider)
    return those.length === 0 || those.some((endpoint) => !isTierPriced(endpoint, member, tier))
  })
}

/** Advice that names up to TIERS_NAMED_MAX models with the tier that has no price, most calls first. */
export function unpricedTiers(counts: readonly UnpricedTier[]): Advice | null {
  const sums = new Map<string, number>()
  for (const { provider, model, member, tier, calls } of counts) {
    const name = `${model} at ${provider}: \`${member}: ${tier}\``
    if (calls > 0) sums.set(name, (sums.get(name) ?? 0) + calls)
  }
  if (sums.size === 0) return null
  const all = [...sums].sort(([one, a], [other, b]) => b - a || one.localeCompare(other))
  const named = all.slice(0, TIERS_NAMED_MAX).map(([name]) => name)
  const rest = all.length - named.length
  const calls = all.reduce((sum, [, count]) => sum + count, 0)
  const what = calls === 1 ? '1 answer' : `${calls} answers`
  const isOther = counts.some(({ tier }) => tier === OTHER_TIER)
  return {
    detail:
      `${what} since the node started reported a tier without a price ` +
      `(${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}): charged at the base price`,
    fix: `add the tier to \`modifiers\` of the endpoint in the file of SLUICE_CATALOG${isOther ? OTHER_NAME : ''}`,
    page: 'models',
  }
}

const OTHER_NAME =
  '; for tiers counted as `other`, `service_tier` of GET /api/v1/generation has the real name'

/** Number of models and tiers that the advice names. Decision. */
const TIERS_NAMED_MAX = 3
