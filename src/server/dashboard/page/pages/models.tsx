import { h, type ComponentChild } from 'preact'
import type { LiveView, ProviderView } from '../../../../schemas/operator/live-view.ts'
import { useLive } from '../live.ts'
import type { Page, PageContext } from '../page.ts'
import { DataTable, type Column } from '../parts/data-table.tsx'
import { StartLink } from '../parts/empty-links.tsx'
import { duration, figure, share, Time } from '../parts/figures.tsx'
import { ProviderBadge } from '../parts/provider-badge.tsx'
import { SubjectLink } from '../parts/subject-link.tsx'
import { Catalogue } from './catalogue.tsx'
import { PrivateEndpoints } from './private-endpoints.tsx'

export const modelsPage: Page = {
  path: 'models',
  title: 'Models',
  letter: 'm',
  view: (context) => <Models {...context} />,
}

/** What can be called, who serves it, and how those are. */
function Models(context: PageContext): ComponentChild {
  return (
    <div>
      <Providers {...context} />
      <PrivateEndpoints context={context} />
      <Catalogue context={context} />
    </div>
  )
}

/** Of the live view: what this node sees of them. */
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
          columns={COLUMNS}
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

const COLUMNS: readonly Column<ProviderView>[] = [
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
