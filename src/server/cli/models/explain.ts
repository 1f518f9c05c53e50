import { InvalidArgumentError, Option, type Command } from 'commander'
import { TOKENS_TOLD_MAX } from '../../../schemas/inference/token-limits.ts'
import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import { TIER_CHARS_MAX } from '../../../schemas/models/price-conditions.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import type { Endpoint, ModelCatalogue, ResolvedModel } from '../../ports/models/models.ts'
import { comparedNames } from '../../operations/name-hints.ts'
import { addVerb, CliFailure, loadGeneration, print } from '../parts/verb.ts'
import { fieldsOf, fieldText, reachedAt, type Reached } from './explain-fields.ts'
import { pricedAt, pricesOf, priceText, type PriceCase, type PricedEndpoint } from './explain-prices.ts'
import { loadChosenModels } from '../parts/load-models.ts'
import { privateFacts, privateModel, privateText, type PrivateModel } from './private-model.ts'

interface ExplainOptions {
  readonly json?: boolean
  readonly from?: Dialect
  readonly tokens?: number
  readonly at?: Date
  readonly tier?: string
  readonly speed?: string
  readonly geo?: string
}

/**
 * `models explain`: what becomes of each field of a request at each endpoint of a model, and what a call
 * costs there. D6, F13.
 */
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

/** The model of the catalogue, else that of private endpoints, with these. */
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
  /** Of each endpoint; null: fields were not asked for. */
  readonly reached: readonly Reached[] | null
  /** Of each endpoint; null: prices were not asked for. */
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
  if (!/^\d+$/.test(text) || count > TOKENS_TOLD_MAX)
    throw new InvalidArgumentError(`Expected a whole number from 0 to ${TOKENS_TOLD_MAX}.`)
  return count
}

/** Without a zone a time would be that of this machine. */
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
