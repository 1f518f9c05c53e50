import { Option, type Command } from 'commander'
import {
  fieldRows,
  type EndpointKind,
  type FieldRow,
} from '../../../schemas/inference/forms/table/field-rows.ts'
import { DIALECTS, type Dialect } from '../../../schemas/inference/text-request.ts'
import { hintOf, nearest, shown } from '../../../schemas/nearest.ts'
import type { Endpoint, ModelCatalogue, ResolvedModel } from '../../ports/models/models.ts'
import { protocolFor } from '../../upstream/inference/spoken.ts'
import { addVerb, CliFailure, loadGeneration, print, table } from '../parts/verb.ts'
import { loadModels } from './load-models.ts'

interface ExplainOptions {
  readonly json?: boolean
  readonly from: Dialect
}

/** `models explain`: what becomes of each field of a request at each endpoint of a model. D6. */
export function addExplain(models: Command): void {
  addVerb(
    models,
    'explain <model>',
    'list what becomes of each field of a request at the endpoints of a model',
  )
    .addOption(
      new Option('--from <form>', 'the form that you call the model in')
        .choices(DIALECTS)
        .makeOptionMandatory(),
    )
    .action((name: string, options: ExplainOptions) => {
      const { config } = loadGeneration()
      const { from } = options
      const model = writerNamed(name, loadModels(config.catalogFile))
      const reached = model.endpoints.flatMap((endpoint) => reachedAt(endpoint, from) ?? [])
      if (reached.length === 0) throw new CliFailure(unreached(model, from))
      print(options, { data: { model: model.id, from, endpoints: reached.map(wireOf) } }, textOf(reached))
    })
}

function writerNamed(name: string, catalogue: ModelCatalogue): ResolvedModel {
  const model = catalogue.resolve(name)
  const ids = catalogue.models.filter(({ isWriter }) => isWriter).map(({ id }) => id)
  if (model === null) throw new CliFailure(`there is no model ${shown(name)}.${hintOf(nearest(name, ids))}`)
  if (!model.isWriter) throw new CliFailure(`\`${model.id}\` writes no text`)
  return model
}

function unreached({ id, endpoints }: ResolvedModel, from: Dialect): string {
  return endpoints.some(({ provider }) => provider.protocol === 'local')
    ? `\`${id}\` is built in: it takes chat, responses and messages itself, and no provider gets the request`
    : `no endpoint of \`${id}\` can be called with ${from}`
}

interface Reached {
  readonly endpoint: Endpoint
  readonly kind: EndpointKind
  readonly isNative: boolean
  readonly rows: readonly FieldRow[]
}

/** Null: the form does not reach it. */
function reachedAt(endpoint: Endpoint, from: Dialect): Reached | null {
  const { text } = endpoint
  const protocol = text === null ? null : protocolFor(text, from)
  if (text === null || protocol === null) return null
  const kind = { protocol, isStrict: text.isStrict }
  return { endpoint, kind, isNative: protocol === from, rows: fieldRows(from, kind) }
}

function wireOf({ endpoint, kind, isNative, rows }: Reached): object {
  return {
    tag: endpoint.tag,
    provider: endpoint.provider.slug,
    protocol: kind.protocol,
    is_native: isNative,
    is_strict: kind.isStrict,
    fields: rows,
  }
}

/** A line for each endpoint, then the table with a column for each kind of endpoints. */
function textOf(reached: readonly Reached[]): string {
  const kinds = new Map(reached.map((one) => [kindName(one), one]))
  const endpoints = reached.map((one) => [one.endpoint.tag, kindName(one), howCalled(one)])
  const tables = Array.from(kinds.values(), ({ rows }) => rows.filter(isShown))
  const fields = tables[0]?.map(({ field }) => field) ?? []
  const cells = fields.map((field, nth) => [field, ...tables.map((rows) => cellOf(rows[nth]))])
  return [
    table([['endpoint', 'speaks', 'gets'], ...endpoints]),
    table([['field', ...kinds.keys()], ...cells]),
    'Where the request is translated, any other field is dropped, and any other part, item or tool refused.\n' +
      'Of mapped parts, items and tools, those members are listed that some provider does not get.',
  ].join('\n\n')
}

function kindName({ kind: { protocol, isStrict } }: Pick<Reached, 'kind'>): string {
  return isStrict ? `${protocol}, strict` : protocol
}

function howCalled({ isNative }: Reached): string {
  return isNative ? 'your own bytes' : 'a translation'
}

/** What no endpoint gets is the same for all. */
function isShown({ class: of }: FieldRow): boolean {
  return of !== 'ours'
}

function cellOf(row: FieldRow | undefined): string {
  if (row === undefined) return '-'
  const { class: of, to = [], limit, defaults = [] } = row
  if (of === 'passed') return 'as it came'
  const usual = of === 'refused' ? defaults.map((one) => JSON.stringify(one)).join(', ') : ''
  const said = to.length > 0 ? to.join(', ') : of
  const but = usual === '' ? said : `${said}, but ${usual}`
  return limit === undefined ? but : `${but} (${limit})`
}
