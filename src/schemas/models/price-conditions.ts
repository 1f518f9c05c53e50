/** The wire form of prices that depend on a call: on its length, its hour, and the tier that its answer reports. */
import Type, { type Static } from 'typebox'

/** Entries of `overrides`, of a price and of a modifier alike. Decision: OpenRouter publishes no limit. */
export const PRICE_OVERRIDES_MAX = 32
/** Entries of an endpoint's `modifiers`. Decision: three members, with a few values each. */
export const PRICE_MODIFIERS_MAX = 16
/** The largest factor of a modifier. Decision: the most expensive tier on sale costs 6 times the default one. */
export const MULTIPLIER_MAX = 100
/** Decimal places of a multiplier. Decision: published factors have one or two. */
export const MULTIPLIER_PLACES = 6
/** Characters of a tier's name. Decision: the longest that a provider uses has 13. */
export const TIER_CHARS_MAX = 64

/** Days as `utc_days` names them, in the order of `Date.getUTCDay`. */
export const UTC_DAYS = [
  'sunday',
  'monday',
  'tuesday',
  'wednesday',
  'thursday',
  'friday',
  'saturday',
] as const

/** Prices per token that an override may have. */
export const OVERRIDE_KEYS = [
  'prompt',
  'completion',
  'audio',
  'input_audio_cache',
  'input_cache_read',
  'input_cache_write',
  'input_cache_write_1h',
] as const

/** All prices per token, in the order in which they are kept. */
export const TOKEN_PRICE_KEYS = [
  ...OVERRIDE_KEYS,
  'internal_reasoning',
  'image_token',
  'audio_output',
] as const
export type TokenPriceKey = (typeof TOKEN_PRICE_KEYS)[number]

/** Members that an answer reports and that may change its price. */
export const TIER_MEMBERS = ['service_tier', 'speed', 'inference_geo'] as const
export type TierMember = (typeof TIER_MEMBERS)[number]

/** Values that metrics count by name; all other values are counted together. */
export const KNOWN_TIERS: Readonly<Record<TierMember, readonly string[]>> = {
  service_tier: ['flex', 'priority', 'ultrafast', 'batch'],
  speed: ['fast'],
  inference_geo: ['us', 'eu'],
}
/** Represents a value that is not in KNOWN_TIERS. */
export const OTHER_TIER = 'other'

const closed = { additionalProperties: false } as const
const Decimal = Type.String({ pattern: '^\\d+(\\.\\d+)?$', description: 'USD per token as a decimal string' })
/** HHMM, with at most 59 minutes. */
const Clock = Type.Integer({
  minimum: 0,
  maximum: 2359,
  description: 'a UTC time as a number HHMM from 0 to 2359',
})

/** Prices that replace those of the same name if all conditions hold. */
export const PricingOverride = Type.Object(
  {
    min_prompt_tokens: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'a whole number: the prompt tokens above which these prices apply',
      }),
    ),
    utc_start: Type.Optional(Clock),
    utc_end: Type.Optional(Clock),
    utc_days: Type.Optional(
      Type.Array(Type.Enum(UTC_DAYS, { description: `one of ${UTC_DAYS.join(', ')}` }), {
        minItems: 1,
        uniqueItems: true,
        description: 'a list of distinct days of the week',
      }),
    ),
    prompt: Type.Optional(Decimal),
    completion: Type.Optional(Decimal),
    audio: Type.Optional(Decimal),
    input_audio_cache: Type.Optional(Decimal),
    input_cache_read: Type.Optional(Decimal),
    input_cache_write: Type.Optional(Decimal),
    input_cache_write_1h: Type.Optional(Decimal),
  },
  { ...closed, description: 'an object with conditions and prices' },
)
export type PricingOverride = Static<typeof PricingOverride>

export const PricingOverrides = Type.Array(PricingOverride, {
  maxItems: PRICE_OVERRIDES_MAX,
  description: `a list of at most ${PRICE_OVERRIDES_MAX} overrides`,
})

const Index = Type.Integer({ minimum: 0 })
/** The prices of one call. */
export const WrittenPrice = Type.Object(
  {
    prompt: Decimal,
    completion: Decimal,
    input_cache_read: Decimal,
    input_cache_write: Decimal,
    input_cache_write_1h: Decimal,
    internal_reasoning: Decimal,
    audio: Type.Optional(Decimal),
    image_token: Type.Optional(Decimal),
    input_audio_cache: Type.Optional(Decimal),
    audio_output: Type.Optional(Decimal),
    request: Decimal,
    image: Decimal,
    web_search: Decimal,
    overrides: Type.Array(Index, { description: 'Indexes of the `overrides` that applied.' }),
    modifiers: Type.Array(Index, { description: 'Indexes of the `modifiers` that applied.' }),
  },
  { description: 'Prices of the call in USD, after conditions and defaults are applied.' },
)
export type WrittenPrice = Static<typeof WrittenPrice>

const Tier = Type.String({
  minLength: 1,
  maxLength: TIER_CHARS_MAX,
  pattern: '^[a-z0-9][a-z0-9._-]*$',
  description: 'a name in lower case',
})
const When = Type.Union(
  [
    Type.Object({ service_tier: Tier }, closed),
    Type.Object({ speed: Tier }, closed),
    Type.Object({ inference_geo: Tier }, closed),
  ],
  { description: `an object with exactly one of ${TIER_MEMBERS.join(', ')}` },
)

const ModifierPricing = Type.Object(
  {
    ...Object.fromEntries(TOKEN_PRICE_KEYS.map((key) => [key, Type.Optional(Decimal)])),
    overrides: Type.Optional(PricingOverrides),
  } as Record<TokenPriceKey, Type.TOptional<typeof Decimal>> & {
    overrides: Type.TOptional<typeof PricingOverrides>
  },
  { ...closed, description: 'an object of prices per token' },
)

/** Prices of a call whose answer reports a tier. */
export const PriceModifier = Type.Union(
  [
    Type.Object({ when: When, pricing: ModifierPricing }, closed),
    Type.Object(
      {
        when: When,
        multiplier: Type.String({
          pattern: `^(?:\\d{1,2}(?:\\.\\d{1,${MULTIPLIER_PLACES}})?|${MULTIPLIER_MAX}(?:\\.0{1,${MULTIPLIER_PLACES}})?)$`,
          description: `a decimal string, 0 to ${MULTIPLIER_MAX}, with at most ${MULTIPLIER_PLACES} places`,
        }),
      },
      closed,
    ),
  ],
  { description: 'an object with `when` and either `pricing` or `multiplier`' },
)
export type PriceModifier = Static<typeof PriceModifier>

export const PriceModifiers = Type.Array(PriceModifier, {
  maxItems: PRICE_MODIFIERS_MAX,
  description: `a list of at most ${PRICE_MODIFIERS_MAX} modifiers`,
})

/** The name of the default tier, speed and region, whatever a provider calls it. */
export const USUAL_TIER = 'default'

/** Tiers by member, as `tierOf` names them; absent: nothing was reported or requested. */
export type Tiers = Readonly<Partial<Record<TierMember, string>>>

export const NO_TIERS: Tiers = {}

const USUAL: Readonly<Record<TierMember, ReadonlySet<string>>> = {
  service_tier: new Set([USUAL_TIER, 'standard', 'standard_only', 'on_demand']),
  speed: new Set([USUAL_TIER, 'standard']),
  inference_geo: new Set([USUAL_TIER, 'global', 'not_available']),
}

/** Tiers that providers can set for a whole account. */
const SOLD_TIERS: readonly string[] = ['flex', 'priority', 'ultrafast', 'performance', 'scale', 'reserved']

/** Names of these tiers and of the default one. `auto` leaves the choice to the account, so it is not a tier. */
export const ACCOUNT_TIERS: readonly string[] = [...USUAL.service_tier, ...SOLD_TIERS, 'fast']

/** The name of a tier in modifiers. @returns undefined: not a name, or the account decides the tier */
export function tierOf(member: TierMember, value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined
  const name = value.toLowerCase()
  if (member === 'service_tier') {
    if (name === 'auto') return undefined
    // OpenAI answers both words with `priority`.
    if (name === 'fast') return 'priority'
  }
  return USUAL[member].has(name) ? USUAL_TIER : name
}

/** The member that shows a tier to a caller; empty if none was reported. */
export function shownTier(reported: Readonly<Partial<Record<TierMember, unknown>>> = {}): {
  readonly tier?: string
} {
  const tier = tierOf('service_tier', reported.service_tier)
  return tier === undefined ? {} : { tier }
}

/** @returns NO_TIERS if no value is a name */
export function tiersOf(values: Readonly<Partial<Record<TierMember, unknown>>>): Tiers {
  let tiers: Partial<Record<TierMember, string>> | null = null
  for (const member of TIER_MEMBERS) {
    const tier = tierOf(member, values[member])
    if (tier !== undefined) (tiers ??= {})[member] = tier
  }
  return tiers ?? NO_TIERS
}

/** The part of an endpoint that contains the modifiers of its prices. */
interface WithModifiers {
  readonly prices: {
    readonly conditions: {
      readonly modifiers: readonly { readonly member: TierMember; readonly tier: string }[]
    } | null
  }
}

/** Whether the endpoint has a modifier for a tier or needs none. */
export function isTierPriced({ prices }: WithModifiers, member: TierMember, tier: string): boolean {
  return (
    tier === USUAL_TIER ||
    prices.conditions?.modifiers.some((one) => one.member === member && one.tier === tier) === true
  )
}

/** The first member whose tier has no modifier; null: each tier is the default or has one. */
export function unpricedTierOf(endpoint: WithModifiers, tiers: Tiers): TierMember | null {
  for (const member of TIER_MEMBERS) {
    const tier = tiers[member]
    if (tier === undefined || isTierPriced(endpoint, member, tier)) continue
    // The capacity is already paid for, so such a call costs no more, unless it has a modifier.
    if (member === 'service_tier' && BOUGHT.has(tier)) continue
    return member
  }
  return null
}

const BOUGHT: ReadonlySet<string> = new Set(['scale', 'reserved'])
