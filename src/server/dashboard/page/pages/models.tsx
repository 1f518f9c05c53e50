import { type ComponentChild, h } from 'preact'
import type { LiveView, ProviderView } from '../../../../schemas/operator/live-view.ts'
import type { EndpointSummary } from '../../../../schemas/endpoints/private-endpoints.ts'
import { useLive } from '../live.ts'
import type { Page, PageContext } from '../page.ts'
import { type Column, DataTable, LoadedTable } from '../parts/data-table.tsx'
import { duration, figure, NONE, share, Time } from '../parts/figures.tsx'
import { SubjectLink, GuideLink, StartLink } from '../parts/links.tsx'
import { useFocusedHeading } from '../parts/focus.ts'
import { linkWith, Reload } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { Catalogue } from './catalogue.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'
import { EndpointBadge, ProviderBadge } from '../parts/badge.tsx'

export const modelsPage: Page = {
  path: 'models',
  title: 'Models',
  letter: 'm',
  view: (context) => <Models {...context} />,
}

/** The models that can be called, their providers, and the state of the providers. */
function Models(context: PageContext): ComponentChild {
  return (
    <div>
      <Providers {...context} />
      <PrivateEndpoints context={context} />
      <Catalogue context={context} />
    </div>
  )
}

/** Providers from the live view, as this node sees them. */
function Providers({ live }: PageContext): ComponentChild {
  const { latest, isStale } = useLive(live)
  return (
    <section class="panel">
      <div class="head">
        <h2>Provider health</h2>
        {latest !== null && <Since latest={latest} isStale={isStale} />}
      </div>
      {latest === null ? (
        <p class="waiting" role="status">
          Loading live figures…
        </p>
      ) : (
        <DataTable<ProviderView>
          caption="Providers with calls"
          columns={PROVIDER_COLUMNS}
          rows={latest.providers}
          keyOf={({ provider }) => provider}
          empty={['No calls to providers since the node started. ', <StartLink key="start" />]}
        />
      )}
    </section>
  )
}

function Since({
  latest,
  isStale,
}: {
  readonly latest: LiveView
  readonly isStale: boolean
}): ComponentChild {
  const over = `measured by this node in the last ${duration(latest.quantile_seconds * 1_000)}`
  return <p class="hint">{isStale ? [`${over}, `, <Time key="at" at={latest.at} />] : over}</p>
}

const PROVIDER_COLUMNS: readonly Column<ProviderView>[] = [
  {
    title: 'Provider',
    isName: true,
    sortBy: ({ provider }) => provider,
    cell: ({ provider }) => <SubjectLink to="provider" id={provider} />,
  },
  { title: 'State', cell: (row) => <ProviderBadge {...row} />, sortBy: ({ state }) => state },
  {
    title: 'Attempts',
    isNumber: true,
    cell: (row) => `${figure(row.per_second)}/s`,
    sortBy: (row) => row.per_second,
  },
  {
    title: 'Failed',
    isNumber: true,
    cell: (row) => `${figure(row.failed_per_second)}/s`,
    sortBy: (row) => row.failed_per_second,
  },
  {
    title: 'Share',
    isNumber: true,
    cell: (row) => (row.per_second > 0 ? share(row.failed_per_second / row.per_second) : ''),
  },
]

/** The organization's private endpoints, with details of one of them. */
function PrivateEndpoints({ context }: { readonly context: PageContext }): ComponentChild {
  const { api, query, setQuery } = context
  const heading = useFocusedHeading()
  const loaded = useLoaded(
    async (signal) =>
      (await api.get<{ data: readonly EndpointSummary[] }>(['private-endpoints'], {}, signal)).data,
    [api],
  )
  const looked = query.get('endpoint')
  const close = (): void => setQuery({ endpoint: null })
  return (
    <section class="panel">
      <div class="head">
        <h2 ref={heading.ref} tabIndex={-1}>
          Private endpoints
        </h2>
        <Reload loaded={loaded} />
      </div>
      <LoadedTable<EndpointSummary>
        caption="Private endpoints, oldest first"
        columns={endpointColumns(query)}
        loaded={loaded}
        keyOf={({ id }) => id}
        isMarked={({ id }) => id === looked}
        empty={[
          'No private endpoints. Create an endpoint for your own server with ',
          <code key="call">POST /api/v1/private-endpoints</code>,
          '. ',
          <GuideLink key="guide" page="endpoints" />,
        ]}
      />
      {looked !== null && (
        <EndpointDialog
          key={looked}
          context={context}
          id={looked}
          onChange={loaded.reload}
          onClose={close}
          onDeleted={() => (close(), loaded.reload(), heading.focus())}
        />
      )}
    </section>
  )
}

function endpointColumns(query: URLSearchParams): readonly Column<EndpointSummary>[] {
  return [
    {
      title: 'Model',
      isName: true,
      sortBy: (row) => row.model_permaslug,
      cell: ({ id, model_permaslug: slug }) => (
        <a href={linkWith('models', query, { endpoint: id })}>{slug}</a>
      ),
    },
    {
      title: 'State',
      cell: ({ status }) => <EndpointBadge status={status} />,
      sortBy: ({ status }) => status,
    },
    { title: 'Provider', cell: (row) => row.provider_name, sortBy: (row) => row.provider_name },
    { title: 'Region', cell: (row) => row.declared_region ?? NONE },
    {
      title: 'Zero data retention',
      cell: (row) => (row.declared_zdr === null ? NONE : row.declared_zdr ? 'declared' : 'no'),
    },
    { title: 'Created', cell: (row) => <Time at={row.created_at} />, sortBy: (row) => row.created_at },
  ]
}
