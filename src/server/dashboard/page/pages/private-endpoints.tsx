import { h, type ComponentChild } from 'preact'
import type { EndpointSummary } from '../../../../schemas/endpoints/private-endpoints.ts'
import type { PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { GuideLink } from '../parts/empty-links.tsx'
import { EndpointBadge } from '../parts/endpoint-badge.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { useFocusedHeading } from '../parts/focus.ts'
import { linkWith, Reload } from '../parts/lists.tsx'
import { useLoaded } from '../parts/loaded.tsx'
import { EndpointDialog } from './endpoint-dialog.tsx'

/** The organization's own upstreams, and one of them that is looked into. */
export function PrivateEndpoints({ context }: { readonly context: PageContext }): ComponentChild {
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
        columns={columnsOf(query)}
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

function columnsOf(query: URLSearchParams): readonly Column<EndpointSummary>[] {
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
