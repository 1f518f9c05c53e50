import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { ProviderView } from '../../../../schemas/operator/live-view.ts'
import type { ModelEndpoint, ModelEndpointsAnswer } from '../../../../schemas/models/models.ts'
import { useLive } from '../live.ts'
import type { PageContext } from '../page.ts'
import { DataTable, type Column } from '../parts/data-table.ts'
import { Dialog } from '../parts/dialog.ts'
import { Facts } from '../parts/facts.ts'
import { count, NONE } from '../parts/figures.ts'
import { Awaited, useLoaded } from '../parts/loaded.ts'
import { otherPrices, perMillion } from '../parts/prices.ts'
import { ProviderBadge } from '../parts/provider-badge.ts'

type Endpoints = Static<typeof ModelEndpointsAnswer>['data']

interface ModelDialogProps {
  readonly context: PageContext
  readonly id: string
  /** Of a model that makes videos: these are priced by the model. */
  readonly videoPrice: string | undefined
  onClose(): void
}

/** A model and who serves it. */
export function ModelDialog({ context, id, videoPrice, onClose }: ModelDialogProps): ComponentChild {
  const { api } = context
  const [author = '', slug = ''] = id.split('/', 2)
  const loaded = useLoaded(
    async (signal) =>
      (await api.get<{ data: Endpoints }>(['models', author, slug, 'endpoints'], {}, signal)).data,
    [api, id],
  )
  const model = loaded.value
  return h(
    Dialog,
    { title: model?.name ?? id, isWide: true, onClose },
    h(
      'div',
      { class: 'body' },
      h(Awaited, loaded),
      model !== undefined && loaded.problem === null && h(Served, { context, model, videoPrice }),
    ),
  )
}

function Served({
  context,
  model,
  videoPrice,
}: Pick<ModelDialogProps, 'context' | 'videoPrice'> & { readonly model: Endpoints }): ComponentChild {
  const { latest } = useLive(context.live)
  const providers = new Map(latest?.providers.map((row) => [row.provider, row]))
  const { architecture, created, description, endpoints } = model
  return h(
    'div',
    { class: 'stack' },
    description !== '' && h('p', null, description),
    h(Facts, {
      facts: [
        ['Id', h('code', null, model.id)],
        ['Takes', architecture.input_modalities.join(', ')],
        ['Makes', architecture.output_modalities.join(', ')],
        [
          'Released',
          created === 0
            ? null
            : new Date(created * 1_000).toLocaleDateString(undefined, { dateStyle: 'medium' }),
        ],
      ],
    }),
    h('h3', null, 'Endpoints'),
    h(DataTable<ModelEndpoint>, {
      caption: `Endpoints of ${model.name}`,
      columns: columnsOf(providers, videoPrice),
      rows: endpoints,
      keyOf: ({ name, tag }) => `${name} ${tag}`,
      empty: 'Nobody serves it.',
    }),
  )
}

function columnsOf(
  providers: ReadonlyMap<string, ProviderView>,
  videoPrice: string | undefined,
): readonly Column<ModelEndpoint>[] {
  return [
    {
      title: 'Provider',
      isName: true,
      cell: ({ provider_name: name, tag }) => [name, h('small', { key: 'tag', class: 'hint line' }, tag)],
    },
    {
      title: 'Health',
      cell: ({ tag }) => h(ProviderBadge, providers.get(slugOf(tag)) ?? { state: undefined }),
    },
    {
      title: 'Context',
      isNumber: true,
      cell: ({ context_length: length }) => (length === 0 ? NONE : count(length)),
    },
    { title: 'Most output', isNumber: true, cell: ({ max_completion_tokens: most }) => count(most) },
    { title: 'Input, a million tokens', isNumber: true, cell: ({ pricing }) => perMillion(pricing.prompt) },
    {
      title: 'Output, a million tokens',
      isNumber: true,
      cell: ({ pricing }) => perMillion(pricing.completion),
    },
    { title: 'Other prices', isText: true, cell: ({ pricing }) => videoPrice ?? otherPrices(pricing) },
  ]
}

/** A tag is the slug of a provider, a slash and the provider's own name of the model. */
function slugOf(tag: string): string {
  return tag.split('/', 1)[0] ?? tag
}
