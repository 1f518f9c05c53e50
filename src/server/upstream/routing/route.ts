import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import type { ProviderPreferences } from '../../../schemas/models/preferences.ts'
import { isSamePrice, type ResolvedPrice } from '../../../schemas/money/price-at.ts'
import { HASH_BEGIN, hashed } from '../../../schemas/inference/conversation.ts'
import type { CallableModel, Endpoint } from '../../ports/models/models.ts'
import { isPrivate } from '../cost-bound.ts'

/** Measurements of an endpoint; null before the first measurement. */
interface Measured {
  latencyMs(percentile: number): number | null
  /** Tokens a second. */
  throughput(percentile: number): number | null
}

type MeasuredOf = (endpoint: Endpoint) => Measured

export interface RoutedCall {
  readonly preferences: ProviderPreferences | null
  /** Optional fields of the request that change the answer. */
  parameters(): readonly string[]
  /** Estimated cost in nano-USD at an endpoint that has a price. */
  costAt(endpoint: Endpoint): number
  priceAt(endpoint: Endpoint): ResolvedPrice
  /** Text that is the same for all turns of the call's conversation; left out for a call without a conversation. */
  conversationAt?(model: CallableModel): string
  /** The input has media of this kind. */
  hasMedia(kind: 'image' | 'audio'): boolean
  /** Filters the endpoints that would not refuse the call; a failure when all would. Left out when none would. */
  readonly taking?: ((endpoints: readonly Endpoint[]) => Outcome<readonly Endpoint[]>) | undefined
}

/**
 * The endpoints that a call may use, in the order to try them. Filters come first: a fact that the catalogue lacks
 * matches nothing. `order` takes precedence over `sort`; without either the catalogue's order applies, or that of the
 * variants `:floor` (price) and `:nitro` (throughput). Failures: endpoint_excluded, and those of `taking`.
 */
export function route(
  model: CallableModel,
  call: RoutedCall,
  measured: MeasuredOf,
): Outcome<readonly Endpoint[]> {
  const { preferences } = call
  if (preferences === null && model.endpoints.length < 2) return takingOf(call, model.endpoints)
  const inputs = foldedOf(preferences ?? {})
  const fitting: Fitting = { call, isFree: model.isUnpriced }
  const taking = takingOf(
    call,
    model.endpoints.filter((endpoint) => isFit(endpoint, inputs, fitting)),
  )
  if (!taking.ok) return taking
  const sort = sortOf(inputs, model)
  const sorted = preferFast(
    sortBy(sort, spread(taking.value, { model, call, sort }), { call, measured }),
    inputs,
    measured,
  )
  const chosen = inOrder(sorted, inputs)
  if (chosen.length > 0 || model.endpoints.length === 0) return ok(chosen)
  const excluded = `Preferences that exclude endpoints: ${blamed(model.endpoints, preferences ?? {}, fitting).join(', ')}.`
  return fail('endpoint_excluded', { detail: excluded + unknownNames(model.endpoints, preferences ?? {}) })
}

function takingOf({ taking }: RoutedCall, endpoints: readonly Endpoint[]): Outcome<readonly Endpoint[]> {
  return taking === undefined || endpoints.length === 0 ? ok(endpoints) : taking(endpoints)
}

/** Spreads conversations over the endpoints when no sort is requested; an `order` puts its own names first. */
function spread(
  endpoints: readonly Endpoint[],
  {
    model,
    call,
    sort,
  }: { readonly model: CallableModel; readonly call: RoutedCall; readonly sort: Sort | null },
): readonly Endpoint[] {
  if (sort !== null || call.conversationAt === undefined || endpoints.length < 2) return endpoints
  return inOrderOfConversation(endpoints, call.conversationAt(model), (endpoint) => call.priceAt(endpoint))
}

/** Names of providers that a message lists at most, each for the model's own providers and for the unknown names. */
const NAMED_MAX = 8

/** The names in `only` and `order` that no endpoint has, and the names that the caller may have meant. */
function unknownNames(endpoints: readonly Endpoint[], { only, order }: ProviderPreferences): string {
  const wanted = [...(only ?? []), ...(order ?? [])]
  if (wanted.length === 0) return ''
  const known = new Set(endpoints.flatMap(namesOf))
  const unknown = wanted.filter((name) => !known.has(name.toLowerCase()))
  const [first] = unknown
  if (first === undefined) return ''
  const slugs = [...new Set(endpoints.map(({ provider }) => provider.slug))]
  const near = nearest(first, slugs)
  const has =
    near.length > 0
      ? hintOf(near)
      : ` The model has: ${slugs
          .slice(0, NAMED_MAX)
          .map((slug) => `\`${slug}\``)
          .join(', ')}.`
  return ` The model has no provider ${shown(first)}.${has}`
}

/** Preferences with their lists of names in lower case, folded once for all endpoints. */
interface Inputs extends Omit<ProviderPreferences, 'only' | 'ignore' | 'order'> {
  readonly only: ReadonlySet<string> | null
  readonly ignore: ReadonlySet<string> | null
  readonly order: readonly string[]
}

function foldedOf(preferences: ProviderPreferences): Inputs {
  const { only, ignore, order } = preferences
  const fold = (names: readonly string[]): ReadonlySet<string> =>
    new Set(names.map((name) => name.toLowerCase()))
  return {
    ...preferences,
    only: only ? fold(only) : null,
    ignore: ignore ? fold(ignore) : null,
    order: [...fold(order ?? [])],
  }
}

interface Fitting {
  readonly call: RoutedCall
  /** True for a model that has no price at any endpoint and is free. */
  readonly isFree: boolean
}

function isFit(endpoint: Endpoint, inputs: Inputs, fitting: Fitting): boolean {
  if (!isWanted(endpoint, inputs) || !hasFacts(endpoint, inputs)) return false
  return isInPrice(endpoint, inputs, fitting) && hasParameters(endpoint, inputs, fitting.call)
}

/** Names of the preferences that exclude at least one endpoint by themselves. */
function blamed(
  endpoints: readonly Endpoint[],
  preferences: ProviderPreferences,
  fitting: Fitting,
): readonly string[] {
  const names = Object.entries(preferences).flatMap(([name, given]) => {
    const alone = foldedOf({ [name]: given })
    if (endpoints.every((endpoint) => isFit(endpoint, alone, fitting))) return []
    return [name === 'require_parameters' ? name + lackingNames(endpoints, fitting.call) : name]
  })
  // When every endpoint passes every filter, an order without fallbacks excluded them.
  return names.length > 0 ? names : ['order', 'allow_fallbacks']
}

function isWanted(endpoint: Endpoint, { only, ignore }: Inputs): boolean {
  if (only === null && ignore === null) return true
  const names = namesOf(endpoint)
  return (only === null || names.some((name) => only.has(name))) && !names.some((name) => ignore?.has(name))
}

function namesOf({ provider, tag }: Endpoint): readonly string[] {
  return [provider.slug.toLowerCase(), provider.name.toLowerCase(), tag.toLowerCase()]
}

function hasFacts(endpoint: Endpoint, inputs: Inputs): boolean {
  if (inputs.zdr === true && endpoint.isZdr !== true) return false
  if (inputs.data_collection === 'deny' && endpoint.mayTrain !== false) return false
  if (inputs.enforce_distillable_text === true && endpoint.isDistillable !== true) return false
  const { quantizations } = inputs
  return !quantizations || quantizations.some((wanted) => wanted === (endpoint.quantization ?? 'unknown'))
}

const NANO = 1e9

/**
 * True within the caller's price limits: prompt prices are USD per million tokens. Limits on media apply only
 * to calls with such media.
 */
function isInPrice(endpoint: Endpoint, { max_price: max }: Inputs, { call, isFree }: Fitting): boolean {
  if (max === undefined) return true
  const ofText = endpoint.text === null ? undefined : max.completion
  const hasPriceLimit = [max.prompt, ofText, max.request].some((price) => price !== undefined)
  // An endpoint without a price may be more expensive than the priced ones.
  if (hasPriceLimit && endpoint.isUnpriced && !isFree) return false
  const price = call.priceAt(endpoint)
  if (max.prompt !== undefined && price.promptNanoPerMillion > nanoOf(max.prompt)) return false
  if (ofText !== undefined && price.completionNanoPerMillion > nanoOf(ofText)) return false
  if (max.request !== undefined && price.requestNano > nanoOf(max.request)) return false
  // The catalogue has no prices of media, and an unknown price does not count as below a limit.
  return !(
    (max.image !== undefined && call.hasMedia('image')) ||
    (max.audio !== undefined && call.hasMedia('audio'))
  )
}

/** Callers give USD as a float: 2.01 times a billion, for example, is slightly too low, and rounding to the stored unit corrects it. */
function nanoOf(usd: string | number): number {
  return Math.round(Number(usd) * NANO)
}

/** True when the endpoint supports the fields of the request that change the answer. */
function hasParameters(
  endpoint: Endpoint,
  { require_parameters: isStrict }: Inputs,
  call: RoutedCall,
): boolean {
  return isStrict !== true || call.parameters().every((name) => isSupported(endpoint, name))
}

/** A private endpoint declares no fields: it counts as supporting all of them. */
function isSupported(endpoint: Endpoint, parameter: string): boolean {
  return isPrivate(endpoint) || endpoint.supportedParameters.includes(parameter)
}

/** The fields that not every endpoint supports, in parentheses, to follow the name of the preference. */
function lackingNames(endpoints: readonly Endpoint[], call: RoutedCall): string {
  const lacking = call
    .parameters()
    .filter((name) => !endpoints.every((endpoint) => isSupported(endpoint, name)))
  return ` (${lacking.map((name) => `\`${name}\``).join(', ')})`
}

type Sort = 'price' | 'throughput' | 'latency' | 'exacto'

function sortOf({ sort }: Inputs, model: CallableModel): Sort | null {
  const given = typeof sort === 'object' ? (sort?.by ?? null) : (sort ?? null)
  if (given !== null) return given
  if (model.id.endsWith(':floor')) return 'price'
  return model.id.endsWith(':nitro') ? 'throughput' : null
}

function sortBy(
  sort: Sort | null,
  endpoints: readonly Endpoint[],
  { call, measured }: { readonly call: RoutedCall; readonly measured: MeasuredOf },
): readonly Endpoint[] {
  switch (sort) {
    case 'price':
      return byPrice(endpoints, call)
    case 'latency':
      return ascending(endpoints, (endpoint) => measured(endpoint).latencyMs(50) ?? Infinity)
    case 'throughput':
      return ascending(endpoints, (endpoint) => -(measured(endpoint).throughput(50) ?? 0))
    // Sluice does not measure quality: the catalogue's order stays.
    case 'exacto':
    case null:
      return endpoints
    default:
      return sort satisfies never
  }
}

/** Sorts by the cost of this call; an endpoint without a price comes last where others have one. */
function byPrice(endpoints: readonly Endpoint[], call: RoutedCall): readonly Endpoint[] {
  return ascending(endpoints, (endpoint) => (endpoint.isUnpriced ? Infinity : call.costAt(endpoint)))
}

function ascending(
  endpoints: readonly Endpoint[],
  weigh: (endpoint: Endpoint) => number,
): readonly Endpoint[] {
  const weighed = endpoints.map((endpoint) => ({ endpoint, weight: weigh(endpoint) }))
  return weighed
    .sort((a, b) => (a.weight === b.weight ? 0 : a.weight - b.weight))
    .map(({ endpoint }) => endpoint)
}

type Bounds = ProviderPreferences['preferred_max_latency']

/** Moves endpoints to the front that are known to meet the preferred speed; no endpoint is excluded. Latency is in seconds. */
function preferFast(
  endpoints: readonly Endpoint[],
  inputs: Inputs,
  measured: MeasuredOf,
): readonly Endpoint[] {
  const { preferred_max_latency: latency, preferred_min_throughput: throughput } = inputs
  if (latency === undefined && throughput === undefined) return endpoints
  const keeps = (endpoint: Endpoint): boolean => {
    const seen = measured(endpoint)
    return (
      boundsOf(latency).every(
        ([percentile, seconds]) => (seen.latencyMs(percentile) ?? Infinity) <= seconds * 1_000,
      ) && boundsOf(throughput).every(([percentile, least]) => (seen.throughput(percentile) ?? 0) >= least)
    )
  }
  return ascending(endpoints, (endpoint) => (keeps(endpoint) ? 0 : 1))
}

function boundsOf(bounds: Bounds): readonly (readonly [number, number])[] {
  if (bounds === undefined || bounds === null) return []
  if (typeof bounds === 'number') return [[50, bounds]]
  const { p50, p75, p90, p99 } = bounds
  const all = [
    [50, p50],
    [75, p75],
    [90, p90],
    [99, p99],
  ] as const
  return all.flatMap(([percentile, bound]) =>
    typeof bound === 'number' ? [[percentile, bound] as const] : [],
  )
}

/** The endpoints that `order` names, then the others; without fallbacks only the named ones, or only the first. */
function inOrder(
  endpoints: readonly Endpoint[],
  { order, allow_fallbacks: mayFallBack }: Inputs,
): readonly Endpoint[] {
  if (order.length === 0) return mayFallBack === false ? endpoints.slice(0, 1) : endpoints
  const places = new Map(
    endpoints.map((endpoint) => {
      const names = namesOf(endpoint)
      const at = order.findIndex((name) => names.includes(name))
      return [endpoint, at === -1 ? Infinity : at]
    }),
  )
  const place = (endpoint: Endpoint): number => places.get(endpoint) ?? Infinity
  const ordered = ascending(endpoints, place)
  return mayFallBack === false ? ordered.filter((endpoint) => place(endpoint) !== Infinity) : ordered
}

/**
 * Puts adjacent endpoints of the same prices in the order of the conversation, so that all turns of a conversation go
 * to the same endpoint, whose prompt cache has them, and conversations are spread evenly over the endpoints. The order
 * is a rendezvous hash: every front computes the same order, and when an endpoint fails or is removed, only its own
 * conversations move.
 * @param conversation text that is the same for all turns
 */
export function inOrderOfConversation(
  endpoints: readonly Endpoint[],
  conversation: string,
  priceOf: (endpoint: Endpoint) => ResolvedPrice,
): readonly Endpoint[] {
  if (endpoints.length < 2) return endpoints
  const hash = hashed(HASH_BEGIN, conversation)
  const ordered: Endpoint[] = []
  for (let begin = 0; begin < endpoints.length;) {
    const end = endOfEqual(endpoints, begin, priceOf)
    ordered.push(
      ...(end - begin === 1 ? endpoints.slice(begin, end) : byWeight(endpoints.slice(begin, end), hash)),
    )
    begin = end
  }
  return ordered
}

function byWeight(endpoints: readonly Endpoint[], hash: number): readonly Endpoint[] {
  return endpoints
    .map((endpoint) => ({ endpoint, weight: mixed(hashed(hash, endpoint.tag)) }))
    .sort((one, other) => other.weight - one.weight)
    .map(({ endpoint }) => endpoint)
}

/** The end of the run of endpoints that cost the same as the first one. */
function endOfEqual(
  endpoints: readonly Endpoint[],
  begin: number,
  priceOf: (endpoint: Endpoint) => ResolvedPrice,
): number {
  const first = endpoints[begin]
  if (first === undefined) return begin
  const price = priceOf(first)
  let end = begin + 1
  for (; end < endpoints.length; end++) {
    const next = endpoints[end]
    if (next === undefined || !isPaidAlike(first, next) || !isSamePrice(price, priceOf(next))) break
  }
  return end
}

function isPaidAlike(one: Endpoint, other: Endpoint): boolean {
  return one.isUnpriced === other.isUnpriced && (one.ownWay === undefined) === (other.ownWay === undefined)
}

/** Spreads a hash over 32 bits, including the influence of the text's last bits (the end of MurmurHash3). */
function mixed(hash: number): number {
  let bits = hash ^ (hash >>> 16)
  bits = Math.imul(bits, 0x85ebca6b)
  bits ^= bits >>> 13
  bits = Math.imul(bits, 0xc2b2ae35)
  return (bits ^ (bits >>> 16)) >>> 0
}
