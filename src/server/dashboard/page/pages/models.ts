import { h, type ComponentChild } from 'preact'
import type { LiveView, ProviderView } from '../../../../schemas/operator/live-view.ts'
import { useLive } from '../live.ts'
import type { Page, PageContext } from '../page.ts'
import { DataTable, type Column } from '../parts/data-table.ts'
import { duration, figure, share, Time } from '../parts/figures.ts'
import { linkWith } from '../parts/lists.ts'
import { ProviderBadge } from '../parts/provider-badge.ts'
import { Catalogue } from './catalogue.ts'
import { PrivateEndpoints } from './private-endpoints.ts'

export const modelsPage: Page = {
  path: 'models',
  title: 'Models',
  letter: 'm',
  view: (context) => h(Models, context),
}

/** What can be called, who serves it, and how those are. */
function Models(context: PageContext): ComponentChild {
  return h('div', null, h(Providers, context), h(PrivateEndpoints, { context }), h(Catalogue, { context }))
}

/** Of the live view: what this node sees of them. */
function Providers({ live, query }: PageContext): ComponentChild {
  const { latest, isStale } = useLive(live)
  return h(
    'section',
    { class: 'panel' },
    h(
      'div',
      { class: 'head' },
      h('h2', null, 'Health of providers'),
      latest !== null && h(Since, { latest, isStale }),
    ),
    latest === null
      ? h('p', { class: 'waiting', role: 'status' }, 'Waiting for the first look…')
      : h(DataTable<ProviderView>, {
          caption: 'Providers that were asked',
          columns: columnsOf(query),
          rows: latest.providers,
          keyOf: ({ provider }) => provider,
          empty: 'No provider was asked since the node started.',
        }),
  )
}

function Since({
  latest,
  isStale,
}: {
  readonly latest: LiveView
  readonly isStale: boolean
}): ComponentChild {
  const over = `as this node saw them in the last ${duration(latest.quantile_seconds * 1_000)}`
  return h('p', { class: 'hint' }, isStale ? [`${over}, `, h(Time, { key: 'at', at: latest.at })] : over)
}

function columnsOf(query: URLSearchParams): readonly Column<ProviderView>[] {
  return [
    {
      title: 'Provider',
      isName: true,
      sortBy: ({ provider }) => provider,
      cell: ({ provider }) =>
        h(
          'a',
          { href: linkWith('models', query, { provider, offset: null }), title: 'Models that it serves' },
          provider,
        ),
    },
    { title: 'State', cell: (row) => h(ProviderBadge, row), sortBy: ({ state }) => state },
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
}
