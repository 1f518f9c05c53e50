import { Fragment, h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { ProviderView } from '../../../../../schemas/operator/live-view.ts'
import type { ModelEndpoint, ModelEndpointsAnswer } from '../../../../../schemas/models/models.ts'
import { useLive } from '../../live.ts'
import { useSubject, type Page, type PageContext } from '../../page.ts'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { Facts } from '../../parts/facts.tsx'
import { count, NONE } from '../../parts/figures.tsx'
import { Awaited, useLoaded } from '../../parts/loaded.tsx'
import { priceChanges, type PriceChange } from '../../parts/price-changes.ts'
import { changedPrices, otherPrices, perMillion } from '../../parts/prices.ts'
import { SubjectLink } from '../../parts/links.tsx'
import { useWorkspaces } from '../../parts/workspaces.ts'
import { useVideoPrices } from '../catalogue.tsx'
import { History } from '../now-history.tsx'
import { Calls } from './calls.tsx'
import { SubjectSpent } from './spent.tsx'
import { ProviderBadge } from '../../parts/badge.tsx'

type Endpoints = Static<typeof ModelEndpointsAnswer>['data']

export const modelPage: Page = {
  path: 'model',
  title: 'Model',
  letter: '',
  under: 'models',
  view: (context) => <ModelView {...context} />,
}

/** One model: its providers and prices, its calls, failures and costs. */
function ModelView(context: PageContext): ComponentChild {
  const { api, query } = context
  const id = query.get('id') ?? ''
  const [author = '', slug = ''] = id.split('/', 2)
  const workspaces = useWorkspaces(api)
  const videos = useVideoPrices(context)
  const loaded = useLoaded(
    async (signal) =>
      (await api.get<{ data: Endpoints }>(['models', author, slug, 'endpoints'], {}, signal)).data,
    [api, id],
  )
  const model = loaded.value
  useSubject(context, id)
  return (
    <div>
      <section class="panel" aria-label="Model">
        <Awaited {...loaded} />
        {model !== undefined && loaded.problem === null && (
          <Served context={context} model={model} videoPrice={videos.get(id)} />
        )}
      </section>
      <History context={context} of={{ by: 'model', name: id }} />
      <Calls context={context} search={{ model: id }} />
      <SubjectSpent
        context={context}
        workspaces={workspaces}
        search={{ model: id }}
        choices={['key', 'workspace']}
      />
    </div>
  )
}

interface ServedProps {
  readonly context: PageContext
  readonly model: Endpoints
  /** Price of a video model, the same at each of its endpoints. */
  readonly videoPrice: string | undefined
}

function Served({ context, model, videoPrice }: ServedProps): ComponentChild {
  const { latest } = useLive(context.live)
  const providers = new Map(latest?.providers.map((row) => [row.provider, row]))
  const { architecture, created, description, endpoints } = model
  return (
    <div class="stack">
      {description !== '' && <p>{description}</p>}
      <Facts
        facts={[
          ['Name', model.name],
          ['Takes', architecture.input_modalities.join(', ')],
          ['Makes', architecture.output_modalities.join(', ')],
          [
            'Released',
            created === 0
              ? null
              : new Date(created * 1_000).toLocaleDateString(undefined, { dateStyle: 'medium' }),
          ],
        ]}
      />
      <h2>Endpoints</h2>
      <DataTable<ModelEndpoint>
        caption={`Endpoints of ${model.name}`}
        columns={columnsOf(providers, videoPrice)}
        rows={endpoints}
        keyOf={({ name, tag }) => `${name} ${tag}`}
        empty="No endpoints."
      />
      <Conditions model={model} />
    </div>
  )
}

interface Change extends PriceChange {
  readonly tag: string
  /** Position among the changes of an endpoint: later changes win. */
  readonly place: number
}

/** Prices for long prompts, hours and tiers; empty when no endpoint has any. */
function Conditions({ model }: { readonly model: Endpoints }): ComponentChild {
  const changes = model.endpoints.flatMap(({ tag, pricing, x }): readonly Change[] =>
    priceChanges({ overrides: pricing.overrides, modifiers: x?.modifiers }).map((change, place) => ({
      ...{ ...change, tag, place },
    })),
  )
  if (changes.length === 0) return null
  return (
    <Fragment>
      <h2>Conditional prices</h2>
      <DataTable<Change>
        caption={`Conditional prices of ${model.name}`}
        columns={CHANGES}
        rows={changes}
        keyOf={({ tag, place }) => `${tag} ${place}`}
        empty="No conditions."
      />
    </Fragment>
  )
}

const CHANGES: readonly Column<Change>[] = [
  { title: 'Endpoint', isName: true, cell: ({ tag }) => tag },
  { title: 'Condition', isText: true, cell: ({ when }) => when },
  { title: 'Per 1M tokens', isText: true, cell: changedPrices },
]

function columnsOf(
  providers: ReadonlyMap<string, ProviderView>,
  videoPrice: string | undefined,
): readonly Column<ModelEndpoint>[] {
  return [
    {
      title: 'Provider',
      isName: true,
      cell: ({ provider_name: name, tag }) => [
        <SubjectLink key="name" to="provider" id={slugOf(tag)} text={name} />,
        <small key="tag" class="hint line">
          {tag}
        </small>,
      ],
    },
    {
      title: 'Health',
      cell: ({ tag }) => <ProviderBadge {...(providers.get(slugOf(tag)) ?? { state: undefined })} />,
    },
    {
      title: 'Context',
      isNumber: true,
      cell: ({ context_length: length }) => (length === 0 ? NONE : count(length)),
    },
    { title: 'Max. output', isNumber: true, cell: ({ max_completion_tokens: most }) => count(most) },
    { title: 'Input per 1M tokens', isNumber: true, cell: ({ pricing }) => perMillion(pricing.prompt) },
    {
      title: 'Output per 1M tokens',
      isNumber: true,
      cell: ({ pricing }) => perMillion(pricing.completion),
    },
    { title: 'Other prices', isText: true, cell: (endpoint) => videoPrice ?? otherPrices(endpoint) },
  ]
}

/** A tag is the slug of a provider, a slash and the provider's own name of the model. */
function slugOf(tag: string): string {
  return tag.split('/', 1)[0] ?? tag
}
