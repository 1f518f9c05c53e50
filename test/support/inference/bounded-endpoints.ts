/** Endpoints with prices, and calls whose cost is bounded. D25. */
import {
  NOTHING_APPLIED,
  type DearestPrices,
  type EndpointPrices,
} from '../../../src/schemas/money/price-at.ts'
import type { Endpoint, EndpointText } from '../../../src/server/ports/models/models.ts'
import type { TextBoundInput } from '../../../src/server/inference/bounds.ts'
import type { TextPrice } from '../../../src/schemas/money/costs.ts'
import { NO_TIERS } from '../../../src/schemas/models/price-conditions.ts'

const TEXT: EndpointText = {
  speaks: ['chat'],
  isStrict: false,
  onLeave: 'cancel',
  firstOutputMs: 1,
  stallMs: 1,
  maxCompletionTokens: null,
}

/** Prices in nano-USD; what is left out costs 1,000 for a token of the input, 2,000 for one of the output. */
export interface FlatPrices extends Partial<TextPrice>, Partial<DearestPrices> {
  /** Of a search; left out: the catalogue has no price of one. */
  readonly webSearchNano?: number
  readonly imageNano?: number
}

export function flatPrices({ webSearchNano, ...given }: FlatPrices = {}): EndpointPrices {
  return {
    promptNanoPerMillion: 1_000_000_000,
    completionNanoPerMillion: 2_000_000_000,
    cacheReadNanoPerMillion: 1_000_000_000,
    cacheWriteNanoPerMillion: 1_000_000_000,
    cacheWriteHourNanoPerMillion: 1_000_000_000,
    reasoningNanoPerMillion: 2_000_000_000,
    inputNanoPerMillionMax: 1_000_000_000,
    outputNanoPerMillionMax: 2_000_000_000,
    requestNano: 0,
    imageNano: 0,
    searchNano: webSearchNano ?? 0,
    isSearchPriced: webSearchNano !== undefined,
    applied: NOTHING_APPLIED,
    conditions: null,
    ...given,
  }
}

/** @param given members of the endpoint's text, and its prices */
export function at(
  given: Partial<EndpointText> & FlatPrices = {},
  facts: Partial<Endpoint> & Pick<FlatPrices, 'promptNanoPerMillion' | 'requestNano'> = {},
): { endpoint: Endpoint } {
  const { promptNanoPerMillion, requestNano, ...others } = facts
  const prices = {
    ...given,
    ...(promptNanoPerMillion !== undefined && { promptNanoPerMillion }),
    ...(requestNano !== undefined && { requestNano }),
  }
  return {
    endpoint: {
      tag: 'acme/m',
      isUnpriced: false,
      contextLength: null,
      prices: flatPrices(prices),
      text: { ...TEXT, ...given },
      ...others,
    } as Endpoint,
  }
}

export const ASKED: TextBoundInput = {
  dialect: 'chat',
  promptBytes: 100,
  messages: 0,
  tools: 0,
  hasFormat: false,
  serverTools: null,
  media: 0,
  hasLongMedia: false,
  hasStored: false,
  tokensMax: 10,
  choices: 1,
  dearMember: null,
  tiers: NO_TIERS,
  from: 0,
  until: 0,
}
