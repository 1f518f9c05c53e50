import { h, type ComponentChild } from 'preact'
import type { Model, ModelSort } from '../../../../schemas/models/models.ts'
import type { MODELS_WORDS_CHARS_MAX } from '../../../../schemas/models/model-limits.ts'
import type { VideoModel } from '../../../../schemas/videos/video-models.ts'
import type { PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { SelectField } from '../parts/fields.tsx'
import { count, NONE } from '../parts/figures.tsx'
import { SearchField } from '../parts/filters.tsx'
import { LIST_PAGE, ListPager, rowsOf, type Listed } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { offsetOf } from '../parts/pager.tsx'
import { FREE, otherPrices, perMillion, videoPrice } from '../parts/prices.ts'
import { SubjectLink } from '../parts/links.tsx'

const WORDS_CHARS_MAX: typeof MODELS_WORDS_CHARS_MAX = 256
const KINDS = [
  ['all', 'Everything'],
  ['text', 'Text'],
  ['embeddings', 'Embeddings'],
  ['image', 'Images'],
  ['audio', 'Sound'],
  ['video', 'Videos'],
] as const
const SORTS: readonly (readonly [ModelSort | '', string])[] = [
  ['', 'Catalogue order'],
  ['newest', 'Newest'],
  ['pricing-low-to-high', 'Cheapest'],
  ['context-high-to-low', 'Longest context'],
]

interface CatalogueProps {
  readonly context: PageContext
  /** Lists only models of this provider; absent: of the provider in the address. */
  readonly provider?: string
}

/** Models that can be called, with search and pages, since there may be very many. */
export function Catalogue({ context, provider: only }: CatalogueProps): ComponentChild {
  const { api, query, setQuery } = context
  const [words, kind, provider, sort] = [
    query.get('q') ?? '',
    query.get('kind') ?? 'all',
    only ?? query.get('provider') ?? '',
    query.get('sort') ?? '',
  ]
  const offset = offsetOf(query)
  const loaded = useLoaded(
    (signal) =>
      api.get<Listed<Model>>(
        ['models'],
        { q: words, output_modalities: kind, providers: provider, sort, limit: LIST_PAGE, offset },
        signal,
      ),
    [api, words, kind, provider, sort, offset],
  )
  const videos = useVideoPrices(context)
  const choose =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, offset: null })
  const all = loaded.value?.total_count
  return (
    <section class="panel">
      <h2>
        {only === undefined ? 'Catalogue' : 'Models'}
        {all !== undefined && <span class="hint">{` ${count(all)} ${all === 1 ? 'model' : 'models'}`}</span>}
      </h2>
      <div class="filters">
        <SearchField
          label="Search"
          value={words}
          placeholder="name, author, words"
          maxLength={WORDS_CHARS_MAX}
          onSearch={choose('q')}
        />
        <SelectField label="Makes" value={kind} options={KINDS} onInput={choose('kind')} />
        {only === undefined && (
          <SearchField
            label="Provider"
            value={provider}
            placeholder="slug, such as openai"
            onSearch={choose('provider')}
          />
        )}
        <SelectField label="Order" value={sort} options={SORTS} onInput={choose('sort')} />
      </div>
      <LoadedTable<Model>
        caption="Models"
        columns={columnsOf(videos)}
        loaded={rowsOf(loaded)}
        keyOf={({ id }) => id}
        empty="No models match."
      />
      <ListPager context={context} loaded={loaded} />
    </section>
  )
}

function columnsOf(videos: VideoPrices): readonly Column<Model>[] {
  return [
    {
      title: 'Model',
      isName: true,
      cell: ({ id, name }) => [
        <SubjectLink key="name" to="model" id={id} text={name} />,
        <small key="id" class="hint line">
          {id}
        </small>,
      ],
    },
    { title: 'Takes', isText: true, cell: ({ architecture }) => architecture.input_modalities.join(', ') },
    { title: 'Makes', cell: ({ architecture }) => architecture.output_modalities.join(', ') },
    {
      title: 'Context',
      isNumber: true,
      cell: ({ context_length: length }) => (length === null || length === 0 ? NONE : count(length)),
    },
    { title: 'Input per 1M tokens', isNumber: true, cell: ({ pricing }) => perMillion(pricing.prompt) },
    {
      title: 'Output per 1M tokens',
      isNumber: true,
      cell: ({ pricing }) => perMillion(pricing.completion),
    },
    { title: 'Other prices', isText: true, cell: (model) => priceOf(model, videos) },
  ]
}

/** A model that is no longer served has no price, which differs from being free. */
function priceOf(model: Model, videos: VideoPrices): string {
  const { id, architecture, expiration_date: ends } = model
  const price = architecture.output_modalities.includes('video') ? (videos.get(id) ?? '') : otherPrices(model)
  return price === FREE && ends !== null && Date.parse(ends) < Date.now() ? `ended ${ends}` : price
}

type VideoPrices = ReadonlyMap<string, string>

/** Prices of videos, which are loaded separately: the catalogue is shown even if they cannot be loaded. */
export function useVideoPrices({ api }: PageContext): VideoPrices {
  const { value } = useLoaded(
    async (signal) => {
      const { data } = await api.get<{ data: readonly VideoModel[] }>(['videos', 'models'], {}, signal)
      return new Map(data.map(({ id, pricing_skus: skus }) => [id, videoPrice(skus)] as const))
    },
    [api],
  )
  return value ?? NO_PRICES
}

const NO_PRICES: VideoPrices = new Map()
