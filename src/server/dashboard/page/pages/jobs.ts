import { h, type ComponentChild } from 'preact'
import type { AdminJobShape } from '../../../../schemas/operator/admin.ts'
import type { Page, PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.ts'
import { DeliveryBadge } from '../parts/deliveries.ts'
import { SelectField } from '../parts/fields.ts'
import { count, NONE, Time, usd } from '../parts/figures.ts'
import { SearchField, WorkspaceFilter } from '../parts/filters.ts'
import { isOpen, JobBadge, JOB_STATES } from '../parts/job-state.ts'
import { linkWith, ListPager, LIST_PAGE, Reload, rowsOf, total, type Listed } from '../parts/lists.ts'
import { useLoaded } from '../parts/loaded.ts'
import { offsetOf } from '../parts/pager.ts'
import { useRefresh } from '../parts/refresh.ts'
import { useWorkspaces } from '../parts/workspaces.ts'
import { JobDialog } from './job-dialog.ts'

export const jobsPage: Page = {
  path: 'jobs',
  title: 'Jobs',
  letter: 'j',
  view: (context) => h(Jobs, context),
}

/** Video jobs, newest first, and one of them that is looked into. */
function Jobs(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const [status, provider, workspace, offset] = [
    query.get('status') ?? '',
    query.get('provider') ?? '',
    query.get('workspace') ?? '',
    offsetOf(query),
  ]
  const loaded = useLoaded(
    (signal) =>
      api.get<Listed<AdminJobShape>>(
        ['admin', 'jobs'],
        { status, provider, workspace_id: workspace, limit: LIST_PAGE, offset },
        signal,
      ),
    [api, status, provider, workspace, offset],
  )
  useRefresh(loaded.value?.data.some(isOpen) === true, loaded)
  const choose =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, offset: null })
  const looked = query.get('job')
  const listed = loaded.value?.total_count
  const isFiltered = status !== '' || provider !== '' || workspace !== ''
  return h(
    'div',
    null,
    h(
      'div',
      { class: 'head' },
      h(
        'div',
        { class: 'filters' },
        h(SelectField, {
          label: 'State',
          value: status,
          options: [['', 'All'], ...JOB_STATES],
          onInput: choose('status'),
        }),
        h(SearchField, {
          label: 'Provider',
          value: provider,
          placeholder: 'slug, such as local',
          onSearch: choose('provider'),
        }),
        h(WorkspaceFilter, { workspaces, value: workspace, onChoose: choose('workspace') }),
      ),
      h(Reload, { loaded }),
    ),
    h(
      'section',
      { class: 'panel', 'aria-label': 'Video jobs' },
      listed !== undefined &&
        h('p', { class: 'hint', role: 'status' }, `${total(listed)} ${listed === 1 ? 'job' : 'jobs'}`),
      h(LoadedTable<AdminJobShape>, {
        caption: 'Video jobs, newest first',
        columns: columnsOf(query),
        loaded: rowsOf(loaded),
        keyOf: ({ id }) => id,
        isMarked: ({ id }) => id === looked,
        empty: isFiltered
          ? 'No job is like that.'
          : ['There is no video job yet: ', h('code', { key: 'call' }, 'POST /api/v1/videos'), ' makes one.'],
      }),
      h(ListPager, { context, loaded }),
    ),
    looked !== null &&
      h(JobDialog, {
        key: looked,
        context,
        id: looked,
        onChange: loaded.reload,
        onClose: () => setQuery({ job: null }),
      }),
  )
}

function columnsOf(query: URLSearchParams): readonly Column<AdminJobShape>[] {
  return [
    {
      title: 'Job',
      isName: true,
      cell: ({ id }) =>
        h('a', { class: 'mono', href: linkWith('jobs', query, { job: id }), title: id }, shortId(id)),
    },
    { title: 'State', cell: ({ status }) => h(JobBadge, { status }) },
    { title: 'Asked for', cell: ({ created_at: at }) => h(Time, { at }) },
    { title: 'Model', cell: ({ model }) => model },
    {
      title: 'Provider',
      cell: ({ provider }) =>
        h(
          'a',
          { href: linkWith('jobs', query, { provider, offset: null }), title: 'Only those of this provider' },
          provider,
        ),
    },
    { title: 'Workspace', cell: ({ workspace_slug: slug }) => slug },
    { title: 'Submissions', isNumber: true, cell: ({ submissions }) => count(submissions) },
    { title: 'Polls', isNumber: true, cell: ({ polls }) => count(polls) },
    { title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => usd(cost) },
    {
      title: 'Webhook',
      cell: ({ delivery }) => (delivery === null ? NONE : h(DeliveryBadge, { state: delivery.state })),
    },
    {
      title: 'Error',
      isText: true,
      cell: ({ error }) =>
        error === null ? '' : [h('code', { key: 'code' }, error.code), ` ${error.message}`],
    },
  ]
}

/** Characters that tell two ids apart for the eye. */
const SHOWN_CHARS = 18

function shortId(id: string): string {
  return id.length <= SHOWN_CHARS ? id : `${id.slice(0, SHOWN_CHARS)}…`
}
