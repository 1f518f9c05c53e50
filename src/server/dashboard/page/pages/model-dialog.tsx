import { h, type ComponentChild } from 'preact'
import type { Static } from 'typebox'
import type { ProviderView } from '../../../../schemas/operator/live-view.ts'
import type { ModelEndpoint, ModelEndpointsAnswer } from '../../../../schemas/models/models.ts'
import { useLive } from '../live.ts'
import type { PageContext } from '../page.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { count, NONE } from '../parts/figures.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { otherPrices, perMillion } from '../parts/prices.ts'
import { ProviderBadge } from '../parts/provider-badge.tsx'

type Endpoints = Static<typeof ModelEndpointsAnswer>['data']

interface ModelDialogProps {
  readonly context: PageContext
  readonly id: string
  /** Price of a model that makes videos: the model sets the price. */
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
  return (
    <Dialog title={model?.name ?? id} isWide onClose={onClose}>
      <div class="body">
        <Awaited {...loaded} />
        {model !== undefined && loaded.problem === null && (
          <Served context={context} model={model} videoPrice={videoPrice} />
        )}
      </div>
    </Dialog>
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
  return (
    <div class="stack">
      {description !== '' && <p>{description}</p>}
      <Facts
        facts={[
          ['Id', <code>{model.id}</code>],
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
      <h3>Endpoints</h3>
      <DataTable<ModelEndpoint>
        caption={`Endpoints of ${model.name}`}
        columns={columnsOf(providers, videoPrice)}
        rows={endpoints}
        keyOf={({ name, tag }) => `${name} ${tag}`}
        empty="Nobody serves it."
      />
    </div>
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
      cell: ({ provider_name: name, tag }) => [
        name,
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
