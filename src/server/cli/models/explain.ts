import { InvalidArgumentError, Option, type Command } from 'commander'
import { REPORTED_TOKENS_MAX } from '../../../schemas/inference/token-limits.ts'
import { type Dialect, DIALECTS } from '../../../schemas/inference/text-request.ts'
import { TIER_CHARS_MAX } from '../../../schemas/models/price-conditions.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import { fieldRows, type EndpointKind, type FieldRow } from '../../../dialects/table/field-rows.ts'
import type { Endpoint, ModelCatalogue, ResolvedModel, OwnEndpoint } from '../../ports/models/models.ts'
import { comparedNames } from '../../operations/name-hints.ts'
import { protocolFor } from '../../upstream/inference/spoken.ts'
import { listOwn } from '../../catalogue/own-models.ts'
import type { PrivateEndpoint } from '../../ports/endpoints/private-endpoints.ts'
import { endpointsOfModel } from '../../store/endpoints/private-endpoint-rows.ts'
import { endpointAt } from '../../upstream/endpoints/own-endpoint.ts'
import { OwnProviders } from '../../upstream/endpoints/own-providers.ts'
import { addVerb, CliFailure, loadGeneration, print, table } from '../parts/verb.ts'
import { loadChosenModels } from '../parts/load-models.ts'
import { withDatabase } from '../parts/database.ts'
import { pricedAt, pricesOf, priceText, type PriceCase, type PricedEndpoint } from './explain-prices.ts'

interface ExplainOptions {
  readonly json?: boolean
  readonly from?: Dialect
  readonly tokens?: number
  readonly at?: Date
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

/** `models explain`: how each endpoint of a model treats each field of a request, and what a call costs there. */
export function addExplain(models: Command): void {
  addVerb(
    models,
    'explain <model>',
    'show the prices of a model per endpoint or, with --from, how each request field is translated',
  )
    .addOption(
      new Option('--from <form>', 'show how request fields of this API are translated').choices(DIALECTS),
    )
    .option(
      '--tokens <count>',
      'prices for a prompt of this many tokens, including cached tokens and media',
      tokensOf,
    )
    .option('--at <time>', 'prices at a UTC time such as 2026-11-26T03:00Z; default: now', instantOf)
    .option('--tier <name>', 'prices for answers with this service_tier', tierName)
    .option('--speed <name>', 'prices for answers with this speed', tierName)
    .option('--geo <name>', 'prices for answers with this inference_geo', tierName)
    .action(async (name: string, options: ExplainOptions) => {
      const { config } = loadGeneration()
      const { model, endpoints: own = [] } = await modelNamed(name, loadChosenModels(config, options))
      const { from } = options
      const asked = caseOf(options)
      const reached = from === undefined ? null : reachedBy(model, from, own)
      const endpoints = reached?.map(({ endpoint }) => endpoint) ?? model.endpoints
      // Without any option prices are shown.
      const isPriced = from === undefined || asksPrices(options)
      const priced = isPriced ? pricedAt(model, endpoints, asked) : null
      const explained = { from, endpoints, reached, priced, asked }
      const known = own.length === 0 ? {} : { private_endpoints: own.map(privateFacts) }
      const introduction = own.length === 0 ? '' : `${privateText({ model, endpoints: own })}\n\n`
      print(
        options,
        { data: { ...wireOf(model, explained), ...known } },
        `${introduction}${textOf(explained)}`,
      )
    })
}

function asksPrices({ tokens, at, tier, speed, geo }: ExplainOptions): boolean {
  return [tokens, at, tier, speed, geo].some((value) => value !== undefined)
}

function caseOf({ tokens = 0, at = new Date(), tier, speed, geo }: ExplainOptions): PriceCase {
  return { promptTokens: tokens, at, tiers: { service_tier: tier, speed, inference_geo: geo } }
}

/** The model of the catalogue, else a model of private endpoints, together with these endpoints. */
async function modelNamed(
  name: string,
  catalogue: ModelCatalogue,
): Promise<Pick<PrivateModel, 'model'> & Partial<PrivateModel>> {
  const model = catalogue.resolve(name)
  if (model === null) return privateOrNone(name, catalogue)
  if (model.video !== null)
    throw new CliFailure(`\`${model.id}\` is a video model: \`sluice models list\` shows its prices`)
  return { model }
}

async function privateOrNone(name: string, catalogue: ModelCatalogue): Promise<PrivateModel> {
  const unknown = `the catalogue has no model ${shown(name)}.${hintOf(nearest(name, comparedNames(catalogue)))}`
  try {
    const found = await privateModel(name, catalogue)
    if (found !== null) return found
  } catch (problem) {
    if (!(problem instanceof CliFailure)) throw problem
    throw new CliFailure(`${unknown} Private endpoints could not be read: ${problem.message}`)
  }
  throw new CliFailure(`${unknown} No private endpoint serves the model: see \`sluice endpoints list\`.`)
}

function reachedBy(model: ResolvedModel, from: Dialect, own: PrivateModel['endpoints']): readonly Reached[] {
  if (own.length > 0 && own.every(({ speaks }) => speaks.length === 0))
    throw new CliFailure(
      `no private endpoint of \`${model.id}\` has passed a validation: run \`sluice endpoints validate ${own[0]?.id}\``,
    )
  if (!model.isWriter) throw new CliFailure(`\`${model.id}\` is not a text model`)
  const reached = model.endpoints.flatMap((endpoint) => reachedAt(endpoint, from) ?? [])
  if (reached.length === 0) throw new CliFailure(unreached(model, from))
  return reached
}

function unreached({ id, endpoints }: ResolvedModel, from: Dialect): string {
  return endpoints.some(({ provider }) => provider.protocol === 'local')
    ? `\`${id}\` is built in: it serves chat, responses and messages itself, without a provider`
    : `no endpoint of \`${id}\` accepts ${from} requests`
}

interface Explained {
  readonly from: Dialect | undefined
  readonly endpoints: readonly Endpoint[]
  /** One for each endpoint; null: fields were not requested. */
  readonly reached: readonly Reached[] | null
  /** One for each endpoint; null: prices were not requested. */
  readonly priced: readonly PricedEndpoint[] | null
  readonly asked: PriceCase
}

function wireOf(model: ResolvedModel, { from, endpoints, reached, priced, asked }: Explained): object {
  const { promptTokens, at, tiers } = asked
  return {
    model: model.id,
    ...(from !== undefined && { from }),
    ...(priced !== null && { prompt_tokens: promptTokens, at: at.toISOString(), tiers }),
    endpoints: endpoints.map(({ tag, provider }, nth) => {
      const [fields, prices] = [reached?.[nth], priced?.[nth]]
      return {
        ...{ tag, provider: provider.slug },
        ...(prices !== undefined && pricesOf(prices)),
        ...(fields !== undefined && fieldsOf(fields)),
      }
    }),
  }
}

function textOf({ reached, priced, asked }: Explained): string {
  const parts = [priced !== null && priceText(priced, asked), reached !== null && fieldText(reached)]
  return parts.filter((part) => part !== false).join('\n\n')
}

function tokensOf(text: string): number {
  const count = Number(text)
  if (!/^\d+$/.test(text) || count > REPORTED_TOKENS_MAX)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${REPORTED_TOKENS_MAX}.`)
  return count
}

/** UTC only: a time without a zone would depend on the zone of this machine. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?Z$/

function instantOf(text: string): Date {
  const at = new Date(text)
  if (!INSTANT.test(text) || Number.isNaN(at.getTime()))
    throw new InvalidArgumentError('Expected a UTC time such as 2026-11-26T03:00Z.')
  return at
}

function tierName(text: string): string {
  if (text === '' || text.length > TIER_CHARS_MAX)
    throw new InvalidArgumentError(`Expected a name of 1 to ${TIER_CHARS_MAX} characters.`)
  return text
}

/** An endpoint that accepts calls of a dialect, and its treatment of each field. */
interface Reached {
  readonly endpoint: Endpoint
  readonly kind: EndpointKind
  readonly isNative: boolean
  readonly rows: readonly FieldRow[]
}

/** Null: the endpoint does not accept this dialect. */
function reachedAt(endpoint: Endpoint, from: Dialect): Reached | null {
  const { text } = endpoint
  const protocol = text === null ? null : protocolFor(text, from)
  if (text === null || protocol === null) return null
  const kind = { protocol, isStrict: text.isStrict }
  return { endpoint, kind, isNative: protocol === from, rows: fieldRows(from, kind) }
}

/** Members of an endpoint in JSON, besides its name. */
function fieldsOf({ kind, isNative, rows }: Reached): object {
  return {
    protocol: kind.protocol,
    is_native: isNative,
    is_strict: kind.isStrict,
    fields: rows,
  }
}

/** A line for each endpoint, then the table with a column for each kind of endpoints. */
function fieldText(reached: readonly Reached[]): string {
  const kinds = new Map(reached.map((one) => [kindName(one), one]))
  const endpoints = reached.map((one) => [one.endpoint.tag, kindName(one), howCalled(one)])
  const tables = Array.from(kinds.values(), ({ rows }) => rows.filter(isShown))
  const fields = tables[0]?.map(({ field }) => field) ?? []
  const cells = fields.map((field, nth) => [field, ...tables.map((rows) => cellOf(rows[nth]))])
  return [
    table([['endpoint', 'speaks', 'gets'], ...endpoints]),
    table([['field', ...kinds.keys()], ...cells]),
    'If the request is translated, all other fields are dropped, and other parts, items and tools are refused.\n' +
      'For mapped parts, items and tools, the list shows only fields that at least one provider does not receive.',
  ].join('\n\n')
}

function kindName({ kind: { protocol, isStrict } }: Pick<Reached, 'kind'>): string {
  return isStrict ? `${protocol}, strict` : protocol
}

function howCalled({ isNative }: Reached): string {
  return isNative ? 'unchanged' : 'translated'
}

/** Fields that Sluice never sends are not shown: they are the same for all endpoints. */
function isShown({ class: of }: FieldRow): boolean {
  return of !== 'ours'
}

function cellOf(row: FieldRow | undefined): string {
  if (row === undefined) return '-'
  const { class: of, to = [], limit, defaults = [] } = row
  if (of === 'passed') return 'unchanged'
  const usual = of === 'refused' ? defaults.map((one) => JSON.stringify(one)).join(', ') : ''
  const label = to.length > 0 ? to.join(', ') : of
  const but = usual === '' ? label : `${label}, except ${usual}`
  return limit === undefined ? but : `${but} (${limit})`
}

/** A model that only private endpoints serve, with the endpoints of all organizations. */
interface PrivateModel {
  readonly model: ResolvedModel
  readonly endpoints: readonly PrivateEndpoint[]
}

/** Null: no private endpoint serves a model of this name. Throws `CliFailure` without a database. */
function privateModel(name: string, catalogue: ModelCatalogue): Promise<PrivateModel | null> {
  return withDatabase(async ({ store }) => {
    return modelOf(await endpointsOfModel(store.sql, name), catalogue)
  })
}

function modelOf(rows: readonly PrivateEndpoint[], { providers }: ModelCatalogue): PrivateModel | null {
  const known = new OwnProviders(providers)
  const served = rows.flatMap((row): { row: PrivateEndpoint; own: OwnEndpoint }[] => {
    const provider = known.at(row)
    if (provider === null) return []
    const { pricing, declaredRegion: region } = row
    return [{ row, own: { endpoint: endpointAt(row, provider), pricing, region } }]
  })
  const [first] = served
  if (first === undefined) return null
  const { modelPermaslug: slug, createdAt } = first.row
  const endpoints = served.map(({ own }) => own)
  const callable = {
    ...{ id: slug, isUnpriced: false, inputModalities: [], video: null },
    isEmbedding: endpoints.some(({ endpoint }) => endpoint.embeds === true),
    isWriter: endpoints.some(({ endpoint }) => endpoint.text !== null),
    endpoints: endpoints.map(({ endpoint }) => endpoint),
  }
  const model = listOwn([{ slug, createdAt, callable, endpoints, known: null }], Date.now).resolve(slug)
  return model === null ? null : { model, endpoints: served.map(({ row }) => row) }
}

/** Members of a private endpoint in JSON, besides its prices and fields. */
function privateFacts(endpoint: PrivateEndpoint): object {
  return {
    id: endpoint.id,
    status: endpoint.status,
    workspace_id: endpoint.workspaceId,
    provider_slug: endpoint.providerSlug,
    upstream_model_id: endpoint.upstreamModelId,
    base_url: endpoint.baseUrl,
    speaks: endpoint.speaks,
    declared_region: endpoint.declaredRegion,
    declared_zdr: endpoint.declaredZdr,
  }
}

/** Details of private endpoints, one line each. */
function privateText({ model, endpoints }: PrivateModel): string {
  const rows = endpoints.map(({ id, status, workspaceId, speaks, baseUrl, upstreamModelId }) => [
    `private/${id}`,
    status,
    workspaceId ?? '-',
    speaks.join(' ') || 'not validated',
    `${upstreamModelId} at ${baseUrl}`,
  ])
  return (
    `\`${model.id}\` is not in the catalogue. Private endpoints serve the model, each for its own workspace:\n\n` +
    table([['endpoint', 'status', 'workspace', 'speaks', 'server'], ...rows])
  )
}
