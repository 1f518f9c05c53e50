import type { Command } from 'commander'
import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import { operatorKeys, type MisplacedKey } from '../../catalogue/operator-keys.ts'
import { lineOf } from '../../catalogue/sources.ts'
import type { Generation } from '../../config.ts'
import { unpricedEndpoints } from '../../main/safekeeping.ts'
import { variablesOf } from '../../../schemas/workspaces/provider-keys.ts'
import type { ModelCatalogue, Provider, ResolvedModel } from '../../ports/models/models.ts'
import { addVerb, loadGeneration, print, table } from '../parts/verb.ts'
import { addExplain } from './explain.ts'
import { linesOf, loadChosenModels } from '../parts/load-models.ts'
import { usdText } from '../../../schemas/money/costs.ts'

/** `models list`, `models explain`, `catalog check`. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  const models = program.command('models').description('list and explain models')
  addVerb(models, 'list', 'list all models of the catalogue').action((options: { json?: boolean }) => {
    const { config, providerKeys } = loadGeneration()
    const catalogue = loadChosenModels(config, options)
    const { unset } = unsetKeys(catalogue, providerKeys)
    const providers = catalogue.providers.map((provider) => ({
      slug: provider.slug,
      api_key_env: provider.apiKeyEnv,
      is_configured: missing(provider, unset).length === 0,
    }))
    const videos = catalogue.models.flatMap(({ bodies: { video } }): unknown[] =>
      video === null ? [] : [JSON.parse(Buffer.from(video).toString())],
    )
    print(
      options,
      { data: catalogue.models.map((model) => model.wire), videos, providers },
      listOf(catalogue, unset),
    )
  })

  addExplain(models)

  const catalog = program.command('catalog').description('check catalogue files')
  addVerb(catalog, 'check <file>', 'check a file for SLUICE_CATALOG and list every error').action(
    (file: string, options: { json?: boolean }) => {
      const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: file })
      if (!loaded.ok) {
        print(options, { ok: false, problems: loaded.problems }, linesOf(loaded.problems))
        outcome.code = 1
        return
      }
      const { models, providers } = loaded.catalogue
      const counts = { models: models.length, providers: providers.length }
      const { warnings, unpriced } = loaded
      const text = `no errors; with this file, the catalogue has ${counts.models} models from ${counts.providers} providers`
      const bare = unpricedEndpoints(unpriced)
      const unbounded = models.filter(hasUnboundedAnswer).map(({ id }) => id)
      const warned = [
        ...warnings.map(lineOf),
        ...(bare === null ? [] : [`${bare.detail}: ${bare.fix}`]),
        ...(unbounded.length === 0 ? [] : [unboundedText(unbounded)]),
      ].map((line) => `warning: ${line}`)
      print(options, { ok: true, ...counts, warnings, unpriced, unbounded }, [...warned, text].join('\n'))
    },
  )
}

/** True if a priced endpoint has no maximum of output tokens: spending limits refuse its calls when they set no maximum either. */
function hasUnboundedAnswer({ endpoints }: ResolvedModel): boolean {
  return endpoints.some(
    ({ text, contextLength, prices, isUnpriced }) =>
      text?.maxCompletionTokens === null &&
      (contextLength ?? 0) === 0 &&
      !isUnpriced &&
      prices.completionNanoPerMillion > 0,
  )
}

/** Models that a warning names. Decision. */
const UNBOUNDED_NAMED_MAX = 3

function unboundedText(ids: readonly string[]): string {
  const rest = ids.length - UNBOUNDED_NAMED_MAX
  const named = ids.slice(0, UNBOUNDED_NAMED_MAX).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
  return (
    `no maximum output for ${named}: if a spending limit applies, calls without \`max_tokens\` are refused: ` +
    'add `max_completion_tokens` to the endpoint or `context_length` to the model, or set `--default-max-output` on the key'
  )
}

export function unsetKeys(
  { providers }: ModelCatalogue,
  providerKeys: Generation['providerKeys'],
): { readonly unset: readonly string[]; readonly misplaced: readonly MisplacedKey[] } {
  const names = [...new Set(providers.flatMap(variablesOf))]
  const { usable, misplaced } = operatorKeys(providers, providerKeys(names))
  return { unset: names.filter((name) => !usable.has(name)), misplaced }
}

function missing(provider: Provider, unset: readonly string[]): readonly string[] {
  return variablesOf(provider).filter((name) => unset.includes(name))
}

function listOf(catalogue: ModelCatalogue, unset: readonly string[]): string {
  const named = (provider: Provider): string => {
    const names = missing(provider, unset)
    return names.length === 0
      ? provider.slug
      : `${provider.slug} (${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} not set)`
  }
  const rows = catalogue.models.map((model) => [
    model.id,
    model.wire.architecture.modality ?? '-',
    model.contextLength === null ? '-' : String(model.contextLength),
    model.video === null ? priceOf(model) : videoPriceOf(model),
    model.endpoints.map((endpoint) => named(endpoint.provider)).join(', ') || '-',
  ])
  const all = table([['id', 'modality', 'context', 'price per prompt token or second', 'providers'], ...rows])
  const isMarked = rows.some(([, , , price]) => price?.endsWith(CONDITIONAL) === true)
  return isMarked ? `${all}\n${CONDITIONS}` : all
}

function priceOf({ endpoints, isUnpriced, wire }: ResolvedModel): string {
  if (endpoints.length === 0) return wire.pricing.prompt === '0' ? '-' : `$${wire.pricing.prompt}`
  if (isUnpriced) return NO_PRICE
  const isFree = endpoints.every(
    ({ prices: { promptNanoPerMillion, requestNano, imageNano, completionNanoPerMillion, conditions } }) =>
      promptNanoPerMillion + requestNano + imageNano + completionNanoPerMillion === 0 && conditions === null,
  )
  if (isFree) return 'free'
  const hasConditions = endpoints.some(({ prices }) => prices.conditions !== null)
  return `$${wire.pricing.prompt}${hasConditions ? CONDITIONAL : ''}`
}

/** Marks a price that depends on the length of the prompt, the hour or the tier. */
const CONDITIONAL = '*'
const CONDITIONS = '* price depends on prompt length, hour or tier: `sluice models explain MODEL`'

const NO_PRICE = 'no price'

/** The range of prices per second or video; `-` when the model has no endpoint. */
function videoPriceOf({ endpoints, isUnpriced }: ResolvedModel): string {
  if (endpoints.length === 0) return '-'
  if (isUnpriced) return NO_PRICE
  const pricings = endpoints.flatMap(({ video }) => video?.pricing ?? [])
  const rates = pricings.flatMap(({ perSecond }) => perSecond.map(({ nano }) => nano))
  const videos = pricings.map(({ perVideoNano }) => perVideoNano).filter((price) => price > 0)
  return [rangeOf(rates, 's'), rangeOf(videos, 'video')].filter((text) => text !== '').join(' + ') || 'free'
}

function rangeOf(prices: readonly number[], unit: string): string {
  if (prices.length === 0) return ''
  const [least, most] = [Math.min(...prices), Math.max(...prices)]
  return least === most ? `$${usdText(least)}/${unit}` : `$${usdText(least)}-${usdText(most)}/${unit}`
}
