import { h, type ComponentChild } from 'preact'
import type { AdminJobShape } from '../../../../schemas/operator/admin.ts'
import type { Page, PageContext } from '../page.ts'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { DeliveryBadge } from '../parts/deliveries.tsx'
import { SelectField } from '../parts/fields.tsx'
import { NONE, Time, usd } from '../parts/figures.tsx'
import { SearchField, WorkspaceFilter } from '../parts/filters.tsx'
import { linkWith, ListPager, LIST_PAGE, Reload, rowsOf, total, type Listed } from '../parts/lists.tsx'
import { useLoaded, type Loaded } from '../parts/loaded.tsx'
import { offsetOf } from '../parts/pager.tsx'
import { SubjectLink, GuideLink } from '../parts/links.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { useWorkspaces } from '../parts/workspaces.ts'
import { JobDialog } from './job-dialog.tsx'
import { isOpenJob, JobBadge, JOB_STATES } from '../parts/badge.tsx'

export const jobsPage: Page = {
  path: 'jobs',
  title: 'Jobs',
  letter: 'j',
  view: (context) => <Jobs {...context} />,
}

/** Video jobs, newest first, with details of one of them. */
function Jobs(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const { status, provider, workspace, loaded } = useJobs(context)
  const choose =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, offset: null })
  const looked = query.get('job')
  const listed = loaded.value?.total_count
  const isFiltered = status !== '' || provider !== '' || workspace !== ''
  return (
    <div>
      <div class="head">
        <div class="filters">
          <SelectField
            label="State"
            value={status}
            options={[['', 'All'], ...JOB_STATES]}
            onInput={choose('status')}
          />
          <SearchField
            label="Provider"
            value={provider}
            placeholder="slug, such as local"
            onSearch={choose('provider')}
          />
          <WorkspaceFilter workspaces={workspaces} value={workspace} onChoose={choose('workspace')} />
        </div>
        <Reload loaded={loaded} />
      </div>
      <section class="panel" aria-label="Video jobs">
        {listed !== undefined && (
          <p class="hint" role="status">
            {`${total(listed)} ${listed === 1 ? 'job' : 'jobs'}`}
          </p>
        )}
        <LoadedTable<AdminJobShape>
          caption="Video jobs, newest first"
          columns={columnsOf(query)}
          loaded={rowsOf(loaded)}
          keyOf={({ id }) => id}
          isMarked={({ id }) => id === looked}
          empty={
            isFiltered
              ? 'No jobs match.'
              : [
                  'No video jobs yet. Create a job with ',
                  <code key="call">POST /api/v1/videos</code>,
                  '. ',
                  <GuideLink key="guide" page="videos" />,
                ]
          }
        />
        <ListPager context={context} loaded={loaded} />
      </section>
      {looked !== null && (
        <JobDialog
          key={looked}
          context={context}
          id={looked}
          onChange={loaded.reload}
          onClose={() => setQuery({ job: null })}
        />
      )}
    </div>
  )
}

function useJobs({ api, query }: PageContext): AskedJobs {
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
  useRefresh(loaded.value?.data.some(isOpenJob) === true, loaded)
  return { status, provider, workspace, loaded }
}

interface AskedJobs {
  readonly status: string
  readonly provider: string
  readonly workspace: string
  readonly loaded: Loaded<Listed<AdminJobShape>>
}

function columnsOf(query: URLSearchParams): readonly Column<AdminJobShape>[] {
  return [
    {
      title: 'Job',
      isName: true,
      cell: ({ id }) => (
        <a class="mono" href={linkWith('jobs', query, { job: id })} title={id}>
          {shortId(id)}
        </a>
      ),
    },
    { title: 'State', cell: ({ status }) => <JobBadge status={status} /> },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
    { title: 'Model', cell: ({ model }) => <SubjectLink to="model" id={model} /> },
    {
      title: 'Provider',
      cell: ({ provider }) => (
        <a href={linkWith('jobs', query, { provider, offset: null })} title="Filter by this provider">
          {provider}
        </a>
      ),
    },
    { title: 'Workspace', cell: ({ workspace_slug: slug }) => <SubjectLink to="workspace" id={slug} /> },
    { title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => usd(cost) },
    {
      title: 'Webhook',
      cell: ({ delivery }) => (delivery === null ? NONE : <DeliveryBadge state={delivery.state} />),
    },
    {
      title: 'Error',
      isText: true,
      cell: ({ error }) =>
        error === null ? '' : [<code key="code">{error.code}</code>, ` ${error.message}`],
    },
  ]
}

/** Characters that distinguish two ids at a glance. */
const SHOWN_CHARS = 14

function shortId(id: string): string {
  return id.length <= SHOWN_CHARS ? id : `${id.slice(0, SHOWN_CHARS)}…`
}
