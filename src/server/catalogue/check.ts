import type { Issue } from '../../schemas/failure-metadata.ts'
import { isOfConnection } from '../../schemas/values/hop-by-hop.ts'
import { pointer } from '../../schemas/issues.ts'
import { hasEmbeddings, KEY_HEADERS, type Protocol } from '../../schemas/models/protocols.ts'
import type { EndpointEntry, ModelEntry, ProviderEntry } from './format.ts'
import { checkEndpointVideo, checkModelVideo, checkProviderVideo, checkTokenPrice } from './check-video.ts'
import { checkAccountTier, checkPrices, checkProducts, doubtfulPrices } from './check-prices.ts'
import type { CatalogueProblem, Placed } from './sources.ts'
import { tagOf } from './wire.ts'
import { writesText } from './build-text.ts'

/** Reports entries that occur twice in one file; across files, the later entry replaces the earlier one. */
export function checkRepeats<T>(
  entries: readonly Placed<T>[],
  member: 'id' | 'slug',
  idOf: (entry: T) => string,
): readonly CatalogueProblem[] {
  const seen = new Map<string, string>()
  return entries.flatMap(({ entry, file, path }): CatalogueProblem[] => {
    const id = idOf(entry).toLowerCase()
    const first = seen.get(id)
    if (first === undefined) {
      seen.set(id, path)
      return []
    }
    const message = `is also the ${member} of ${first}`
    return [
      {
        file,
        path: pointer(path, member),
        message,
        expected: `a unique ${member}`,
      },
    ]
  })
}

export interface KnownProviders {
  readonly providers: ReadonlyMap<string, Placed<ProviderEntry>>
  /** Slugs of entries whose own errors are reported elsewhere. */
  readonly faulty: readonly string[]
}

/** Checks that a shape cannot express: references, names used twice, prices finer than money is counted, impossible dates. */
export function checkEntries(
  known: KnownProviders,
  models: readonly Placed<ModelEntry>[],
): readonly CatalogueProblem[] {
  return [
    ...[...known.providers.values()].flatMap((placed) => at(placed, checkProvider(placed.entry, models))),
    ...models.flatMap((placed) => at(placed, checkModel(placed.entry, known))),
    ...checkNames(models),
  ]
}

function checkProvider(provider: ProviderEntry, models: readonly Placed<ModelEntry>[]): readonly Issue[] {
  const issues = [...checkHeaders(provider), ...checkProviderVideo(provider), ...checkProviderText(provider)]
  if (provider.account_tier !== undefined)
    issues.push(
      ...checkAccountTier(
        provider,
        models.map(({ entry }) => entry),
      ),
    )
  // Only `local` needs no address.
  if (provider.protocol === 'local' || provider.base_url !== undefined) return issues
  const expected = `a URL, since the protocol is ${provider.protocol}`
  return [{ path: '/base_url', message: 'is missing', expected }, ...issues]
}

/** Header names that Sluice or HTTP itself sets for each call. */
const RESERVED_HEADERS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-type',
  'content-encoding',
  'expect',
  'accept',
  'accept-encoding',
  'user-agent',
])

/** Checks names of headers. Messages never contain a value: an operator may have put a key there. */
function checkHeaders({ headers = {}, api_key_env: key, protocol }: ProviderEntry): readonly Issue[] {
  const names = Object.keys(headers)
  const ofKey = key === undefined ? null : KEY_HEADERS[protocol]
  return names.flatMap((given, index): readonly Issue[] => {
    const name = given.toLowerCase()
    const path = pointer('/headers', given)
    if (!/^[!#$%&'*+.^_`|~\w-]{1,64}$/.test(given))
      return [{ path, message: 'is not a valid header name', expected: 'a token of at most 64 characters' }]
    if (RESERVED_HEADERS.has(name) || isOfConnection(name) || name.startsWith('x-sluice-')) {
      return [
        {
          path,
          message: 'cannot be set, because Sluice sets it for each call or connection',
          expected: 'another header',
        },
      ]
    }
    if (name === ofKey)
      return [
        {
          path,
          message: 'also contains the key of api_key_env',
          expected: 'either `api_key_env` or the header',
        },
      ]
    const isRepeated = names.findIndex((other) => other.toLowerCase() === name) !== index
    return isRepeated
      ? [{ path, message: 'is given twice, in different case', expected: 'each header once' }]
      : []
  })
}

function checkModel(model: ModelEntry, known: KnownProviders): readonly Issue[] {
  const { variants: given = [] } = model
  const variants = given.map((variant) => (typeof variant === 'string' ? { suffix: variant } : variant))
  const isEmbedding = model.architecture?.output_modalities?.includes('embeddings') ?? false
  const all = { ...known, model, isEmbedding }
  return [
    ...checkPrices(model, model, ''),
    ...checkProducts(model),
    ...checkDate(model.created),
    ...checkModelVideo(model),
    ...checkEndpoints(model.endpoints ?? [], '/endpoints', all),
    ...variants.flatMap((variant, index) => [
      ...checkSuffix(variant.suffix, index, variants),
      ...checkPrices(model, variant, `/variants/${index}`),
      ...checkTokenPrice(model, variant.pricing, `/variants/${index}/pricing`),
      ...checkEndpoints(variant.endpoints ?? [], `/variants/${index}/endpoints`, all),
    ]),
  ]
}

function checkSuffix(suffix: string, index: number, all: readonly { suffix: string }[]): readonly Issue[] {
  if (all.findIndex((other) => other.suffix === suffix) === index) return []
  return [
    { path: `/variants/${index}`, message: `repeats the suffix ${suffix}`, expected: 'each suffix once' },
  ]
}

interface Known extends KnownProviders {
  readonly model: ModelEntry
  readonly isEmbedding: boolean
}

function checkEndpoints(endpoints: readonly EndpointEntry[], path: string, known: Known): readonly Issue[] {
  const seen = new Set<string>()
  return endpoints.flatMap((endpoint, index) => {
    const here = pointer(path, index)
    const issues = [...checkPrices(known.model, endpoint, here)]
    const provider = known.providers.get(endpoint.provider)?.entry
    const place = { path: here, protocol: provider?.protocol ?? null }
    issues.push(
      ...checkEndpointVideo(known.model, endpoint, place),
      ...checkEndpointText(known.model, endpoint, place),
    )
    if (provider === undefined && known.faulty.includes(endpoint.provider)) return issues
    if (provider === undefined) {
      const slugs = new Set([...known.providers.values()].map(({ entry }) => entry.slug))
      const expected = `one of ${[...slugs].join(', ')}`
      issues.push({ path: `${here}/provider`, message: 'is not a provider in the catalogue', expected })
    } else if (known.isEmbedding && !hasEmbeddings(provider.protocol)) {
      issues.push({
        path: `${here}/provider`,
        message: `cannot embed: its protocol is ${provider.protocol}`,
        expected: 'a provider whose protocol supports embeddings',
      })
    }
    const tag = tagOf(endpoint)
    if (seen.has(tag)) {
      issues.push({ path: here, message: `repeats ${tag}`, expected: 'each endpoint once' })
    }
    seen.add(tag)
    return issues
  })
}

/** Known modalities. The enums are open: a new modality is valid, but a misspelled one has no effect. */
const MODALITIES = {
  input_modalities: ['text', 'image', 'file', 'audio', 'video'],
  output_modalities: [
    'text',
    'image',
    'embeddings',
    'audio',
    'video',
    'rerank',
    'decisions',
    'speech',
    'transcription',
  ],
} as const

/** Warnings, not errors: unknown modalities, and prices that are probably not intended. */
export function doubtsOf(models: readonly Placed<ModelEntry>[]): readonly CatalogueProblem[] {
  return [...checkModalities(models), ...models.flatMap((placed) => at(placed, doubtfulPrices(placed.entry)))]
}

function checkModalities(models: readonly Placed<ModelEntry>[]): readonly CatalogueProblem[] {
  return models.flatMap((placed) =>
    (['input_modalities', 'output_modalities'] as const).flatMap((member) => {
      const known: readonly string[] = MODALITIES[member]
      return at(
        placed,
        (placed.entry.architecture?.[member] ?? []).flatMap((name, index) =>
          known.includes(name)
            ? []
            : [
                {
                  path: `/architecture/${member}/${index}`,
                  message: `is not a known modality: ${name}`,
                  expected: `one of ${known.join(', ')}`,
                },
              ],
        ),
      )
    }),
  )
}

/** Refuses a day that the calendar does not have: the shape accepts 31 February. */
function checkDate(created: ModelEntry['created']): readonly Issue[] {
  if (typeof created !== 'string') return []
  const day = new Date(`${created}T00:00:00Z`)
  if (!Number.isNaN(day.getTime()) && day.toISOString().startsWith(created)) return []
  return [{ path: '/created', message: 'is not a calendar date', expected: 'a date like `2024-01-25`' }]
}

function at(placed: Placed<unknown>, issues: readonly Issue[]): readonly CatalogueProblem[] {
  return issues.map((issue) => ({ file: placed.file, ...issue, path: placed.path + issue.path }))
}

const CALL_MEMBERS = ['speaks', 'strict', 'on_leave', 'first_output_ms', 'stall_ms'] as const
const NO_CALLS = 'has no effect: the protocol `local` makes no calls'

/** Refuses such members for the built-in models, which have no connection. */
function checkProviderText(provider: ProviderEntry): readonly Issue[] {
  if (provider.protocol !== 'local') return []
  return CALL_MEMBERS.filter((name) => provider[name] !== undefined).map((name) => ({
    path: pointer('', name),
    message: NO_CALLS,
    expected: 'the member to be absent',
  }))
}

/** @param place path of the endpoint, and its protocol: null when its provider is not known */
function checkEndpointText(
  model: ModelEntry,
  entry: EndpointEntry,
  { path, protocol }: { path: string; protocol: Protocol | null },
): readonly Issue[] {
  const { speaks, reasoning_field: field } = entry
  if (field !== undefined && (protocol === 'local' || !writesText(model))) {
    const expected = 'the member to be absent'
    return [{ path: `${path}/reasoning_field`, message: 'belongs to an endpoint without chat', expected }]
  }
  if (speaks === undefined) return []
  if (!writesText(model)) {
    const expected = '`text` in the output modalities'
    return [{ path: `${path}/speaks`, message: 'belongs to a model without text output', expected }]
  }
  if (protocol !== 'local') return []
  return [{ path: `${path}/speaks`, message: NO_CALLS, expected: 'the member to be absent' }]
}

interface NameUse {
  readonly name: string
  readonly member: string
  readonly of: Placed<ModelEntry>
}

/**
 * Reports names that belong to two models. Ids, canonical slugs and aliases are one name space, so that an
 * alias can neither hide a model nor refer to another alias.
 */
function checkNames(models: readonly Placed<ModelEntry>[]): readonly CatalogueProblem[] {
  const uses = models.flatMap(usesOf)
  const owners = new Map<string, NameUse>()
  // Ids claim their names first: when an alias and an id collide, the operator has to change the alias, whatever their order.
  for (const use of uses) if (use.member === '/id') owners.set(use.name.toLowerCase(), use)
  return uses.flatMap((use): CatalogueProblem[] => {
    const owner = owners.get(use.name.toLowerCase())
    if (owner === undefined) owners.set(use.name.toLowerCase(), use)
    if (owner === undefined || owner === use || use.member === '/id') return []
    const message = `is ${roleOf(owner)} of ${owner.of === use.of ? 'this model' : owner.of.entry.id} already`
    const path = use.of.path + use.member
    return [{ file: use.of.file, path, message, expected: 'a unique name' }]
  })
}

function usesOf(of: Placed<ModelEntry>): readonly NameUse[] {
  const { id, canonical_slug: canonical = id, aliases = [] } = of.entry
  return [
    { name: id, member: '/id', of },
    ...(canonical === id ? [] : [{ name: canonical, member: '/canonical_slug', of }]),
    ...aliases.map((name, index) => ({ name, member: `/aliases/${index}`, of })),
  ]
}

function roleOf({ member }: NameUse): string {
  if (member === '/id') return 'the id'
  return member === '/canonical_slug' ? 'the canonical slug' : 'an alias'
}
