import type { TextInput } from '../../../schemas/inference/text-request.ts'
import { TIER_MEMBERS, type TierMember } from '../../../schemas/models/price-conditions.ts'
import {
  priceAt,
  unpricedTierOf,
  type PriceFacts,
  type ResolvedPrice,
} from '../../../schemas/money/price-at.ts'
import { NO_TIERS, tiersOf, USUAL_TIER, type Tiers } from '../../../schemas/money/tiers.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { CallInstants } from '../cost-bound.ts'
import type { ReportedTiers, TokenUsage } from '../../../dialects/parts.ts'
import { inputTokens, textCostNano } from '../../../schemas/money/costs.ts'

type PricedRequest = Pick<TextInput, 'tiers' | 'size'>

/** What an attempt is charged for. */
export interface ChargedUse {
  readonly usage: TokenUsage
  readonly reported: ReportedTiers
  /** The clock when its head was written. */
  readonly startedAt: number
}

export interface TextCharge {
  /** Whole nano-USD. C14. */
  readonly costNano: number
  readonly price: ResolvedPrice
  /** The reported tier that has no modifier; null: each has one. */
  readonly unpricedTier: TierMember | null
}

/** What the answers to one call cost. */
export class CallPrices {
  readonly instants: CallInstants
  readonly #request: PricedRequest

  constructor(request: PricedRequest, instants: CallInstants) {
    this.#request = request
    this.instants = instants
  }

  /** By what the answer reports; by the dearer of asked and usual where it reports nothing. F8. */
  charge(endpoint: Endpoint, { usage, reported, startedAt }: ChargedUse): TextCharge {
    const { prices } = endpoint
    const unpricedTier = this.unpricedTierAt(endpoint, reported)
    if (prices.conditions === null)
      return { costNano: this.#costNano(usage, prices), price: prices, unpricedTier }
    const facts = { promptTokens: inputTokens(usage), at: this.instants.at(startedAt) }
    let dearest: Omit<TextCharge, 'unpricedTier'> | null = null
    for (const one of possibleTiers(tiersOf(reported), askedAt(endpoint, this.#request.tiers))) {
      const price = priceAt(endpoint, { ...facts, reported: one } satisfies PriceFacts)
      const costNano = this.#costNano(usage, price)
      if (dearest === null || costNano > dearest.costNano) dearest = { costNano, price }
    }
    const { costNano, price } = dearest ?? { costNano: 0, price: prices }
    return { costNano, price, unpricedTier }
  }

  /** The reported tier without a price in the catalogue, where the operator pays; null: each has one. */
  unpricedTierAt(endpoint: Endpoint, reported: ReportedTiers): TierMember | null {
    const tiers = tiersOf(reported)
    if (tiers === NO_TIERS || endpoint.ownWay !== undefined || isFree(endpoint)) return null
    return unpricedTierOf(endpoint, tiers)
  }

  #costNano(usage: TokenUsage, price: ResolvedPrice): number {
    return textCostNano(usage, price) + this.#request.size.media.image * price.imageNano
  }
}

/** Calls of the endpoint cost nothing, whatever they are. */
export function isFree({ text, prices }: Pick<Endpoint, 'text' | 'prices'>): boolean {
  if (text === null || prices.conditions !== null) return false
  const { inputNanoPerMillionMax, outputNanoPerMillionMax, requestNano, searchNano, imageNano } = prices
  return inputNanoPerMillionMax + outputNanoPerMillionMax + requestNano + searchNano + imageNano === 0
}

/**
 * The tiers that a call asks for at an endpoint. Where it leaves its tier to the account, that is what the
 * operator's account is set to; a workspace's own account is its own. F9.
 */
export function askedAt({ prices, ownWay }: Pick<Endpoint, 'prices' | 'ownWay'>, tiers: Tiers): Tiers {
  const { accountTier } = prices
  if (accountTier === undefined || tiers.service_tier !== undefined || ownWay !== undefined) return tiers
  return { ...tiers, service_tier: accountTier }
}

function possibleTiers(reported: Tiers, asked: Tiers): readonly Tiers[] {
  let possible: readonly Tiers[] = [reported]
  for (const member of TIER_MEMBERS) {
    const tier = asked[member]
    if (reported[member] !== undefined || tier === undefined || tier === USUAL_TIER) continue
    possible = possible.flatMap((one) => [one, { ...one, [member]: tier }])
  }
  return possible
}
