/** A model whose price depends on length, hour and tier, and what a call of it may be charged. */
import type { Pricing } from '../../../../src/schemas/models/models.ts'
import type { PriceModifier, TierMember } from '../../../../src/schemas/models/price-conditions.ts'
import { oracleNano } from '../price-oracle.ts'

export const CAP_MODEL = 'acme/tiers'
/** The same, after an endpoint that fails once it is let go. */
export const HELD_MODEL = 'acme/held'
/** A longer prompt costs twenty times as much. */
export const LONG_TOKENS = 1_500

/** The window is open from noon for an hour. */
const OPENS = 1_200
const SHUTS = 1_300
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Of today: a clock that is years off would be another subject. */
export const NOON = Math.floor(Date.now() / DAY_MS) * DAY_MS + 12 * HOUR_MS

const LONG = { min_prompt_tokens: LONG_TOKENS }
const WINDOW = { utc_start: OPENS, utc_end: SHUTS }

const PRICING: Partial<Pricing> = {
  ...{ prompt: '0.000001', completion: '0.000002' },
  overrides: [
    { ...LONG, prompt: '0.00002', completion: '0.00004' },
    { ...WINDOW, prompt: '0.000005', completion: '0.00001' },
    { ...LONG, ...WINDOW, prompt: '0.00003', completion: '0.00006' },
  ],
}
const MODIFIERS: readonly PriceModifier[] = [
  { when: { service_tier: 'flex' }, multiplier: '0.5' },
  { when: { service_tier: 'priority' }, multiplier: '2.5' },
  {
    when: { speed: 'fast' },
    pricing: {
      ...{ prompt: '0.000006', completion: '0.00003' },
      overrides: [{ ...LONG, prompt: '0.00005', completion: '0.0001' }],
    },
  },
]

/** @param failing origin of the provider that fails once it is let go */
export function capCatalogue(origin: string, failing: string): object {
  const speaks = ['chat', 'messages']
  const provider = (slug: string, at: string) => ({
    ...{ slug, name: slug, protocol: 'openai', base_url: `${at}/v1`, speaks },
  })
  const endpoint = (slug: string, pricing: Partial<Pricing> = PRICING) => ({
    ...{ provider: slug, upstream_model: slug, pricing, modifiers: MODIFIERS },
  })
  // Conversations share endpoints of one price.
  const failed = endpoint('failing', { ...PRICING, input_cache_read: '0.0000009' })
  const model = (id: string, endpoints: readonly object[]) => ({
    ...{ id, name: id, context_length: 1_000_000, endpoints },
    architecture: { input_modalities: ['text'], output_modalities: ['text'] },
  })
  return {
    providers: [provider('capped', origin), provider('failing', failing)],
    models: [model(CAP_MODEL, [endpoint('capped')]), model(HELD_MODEL, [failed, endpoint('capped')])],
  }
}

export type CapTiers = Readonly<Partial<Record<TierMember, string>>>

/** What decides the price of a call. */
export interface CapFacts {
  readonly input: number
  readonly output: number
  readonly asked: CapTiers
  readonly reported: CapTiers
}

/** Nano-USD of a call outside of the window, and in it. */
export interface CapCosts {
  readonly shut: number
  readonly open: number
}

/** By what is reported; by the dearer of asked and usual where nothing is. F8. */
export function costsOf({ input, output, asked, reported }: CapFacts): CapCosts {
  const usage = { input, output, cacheRead: 0, cacheWrite: 0, reasoning: 0 }
  const at = (hours: number): number =>
    [reported, { ...asked, ...reported }]
      .map((tiers) => {
        const call = { usage, at: new Date(NOON + hours * HOUR_MS), reported: tiers, images: 0 }
        return Number(oracleNano(PRICING, MODIFIERS, call))
      })
      .reduce((one, other) => Math.max(one, other))
  return { shut: at(-1), open: at(0.5) }
}
