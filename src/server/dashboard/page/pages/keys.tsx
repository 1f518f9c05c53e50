import { h, type ComponentChild } from 'preact'
import type { ApiKey } from '../../../../schemas/keys/keys.ts'
import type { Page, PageContext } from '../page.ts'
import { Badge, Meter } from '../parts/badge.tsx'
import { LoadedTable, type Column } from '../parts/data-table.tsx'
import { CheckField, SelectField } from '../parts/fields.tsx'
import { count, relative, Time, usd } from '../parts/figures.tsx'
import { useLoaded, type Loaded } from '../parts/loaded.tsx'
import { offsetOf, Pager } from '../parts/pager.tsx'
import { SubjectLink } from '../parts/subject-link.tsx'
import { useWorkspaces, type Workspaces } from '../parts/workspaces.ts'
import { callLimitLines } from './key-call-limits.tsx'
import { KeyDialog } from './key-dialogs.tsx'

export const keysPage: Page = {
  path: 'keys',
  title: 'Keys',
  letter: 'k',
  view: (context) => <Keys {...context} />,
}

/** What tells keys of one kind apart: the ends of their random part, as their labels have it. */
const ENDS_CHARS = 9
/** Keys of one answer of the list, which does not tell how many there are. */
const PAGE = 100

/** API keys: who may call, what for, and how much of it. */
function Keys(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const { workspace, offset, showsDisabled, loaded } = useKeys(context)
  const columns = keyColumns(workspaces, context.session.key.hash)
  return (
    <div>
      <div class="head">
        <div class="filters">
          <SelectField
            label="Workspace"
            value={workspace}
            options={workspaces.options('All')}
            onInput={(value) => setQuery({ workspace: value, offset: null })}
          />
          <CheckField
            label="Include disabled keys"
            isOn={showsDisabled}
            onChange={(isOn) => setQuery({ disabled: isOn ? 'shown' : null, offset: null })}
          />
        </div>
        <button type="button" class="primary" onClick={() => setQuery({ do: 'create' })}>
          Create a key
        </button>
      </div>
      <section class="panel">
        <LoadedTable<ApiKey>
          caption="API keys"
          columns={columns}
          loaded={loaded}
          found={context}
          keyOf={({ hash }) => hash}
          empty={`${workspace === '' ? 'There is no key yet' : 'This workspace has no key'}: programs need one for each call. Create it above.`}
        />
        <Pager
          offset={offset}
          limit={PAGE}
          shown={loaded.value?.length ?? 0}
          total={null}
          onMove={(to) => setQuery({ offset: to === 0 ? null : String(to) })}
        />
      </section>
      {query.get('do') === 'create' && (
        <KeyDialog
          context={context}
          workspaces={workspaces}
          key="new"
          changed={null}
          onDone={loaded.reload}
          onClose={() => setQuery({ do: null })}
        />
      )}
    </div>
  )
}

/** What the address asks for, and the keys that are like that. */
function useKeys({ api, query }: PageContext): AskedKeys {
  const [workspace, offset, showsDisabled] = [
    query.get('workspace') ?? '',
    offsetOf(query),
    query.get('disabled') === 'shown',
  ]
  const loaded = useLoaded(
    async (signal) =>
      (
        await api.get<{ data: readonly ApiKey[] }>(
          ['keys'],
          { workspace_id: workspace, offset, include_disabled: showsDisabled },
          signal,
        )
      ).data,
    [api, workspace, offset, showsDisabled],
  )
  return { workspace, offset, showsDisabled, loaded }
}

interface AskedKeys {
  readonly workspace: string
  readonly offset: number
  readonly showsDisabled: boolean
  readonly loaded: Loaded<readonly ApiKey[]>
}

/** What each row of a table of keys tells. @param ownHash of the key of the session */
export function keyColumns(workspaces: Workspaces, ownHash: string): readonly Column<ApiKey>[] {
  return [
    {
      title: 'Name',
      isName: true,
      sortBy: ({ name }) => name,
      cell: (key) => [
        <SubjectLink key="name" to="key" id={key.hash} text={key.name} />,
        ' ',
        key.hash === ownHash && <Badge key="own" text="this session" />,
        <span key="label" class="hint line">
          {`${key.kind} `}
          <span class="mono" title={key.label}>
            {key.label.slice(-ENDS_CHARS)}
          </span>
        </span>,
      ],
    },
    {
      title: 'Workspace',
      cell: ({ kind, workspace_id: id }) =>
        kind === 'management' ? 'all' : <SubjectLink to="workspace" id={id} text={workspaces.nameOf(id)} />,
    },
    {
      title: 'State',
      sortBy: (key) => key.created_at,
      cell: (key) => [
        <KeyState key="state" apiKey={key} />,
        <span key="made" class="hint">
          {'made '}
          <Time at={key.created_at} />
        </span>,
      ],
    },
    { title: 'Limits', cell: (key) => <KeyLimits apiKey={key} /> },
    {
      title: 'This month',
      isNumber: true,
      cell: (key) => usd(key.usage_monthly),
      sortBy: (key) => key.usage_monthly,
    },
  ]
}

export function KeyState({
  apiKey: { disabled, expires_at: at },
}: {
  readonly apiKey: ApiKey
}): ComponentChild {
  if (disabled) return <Badge text="disabled" tone="warn" />
  if (at === undefined) return <Badge text="active" tone="good" />
  const isOver = Date.parse(at) <= Date.now()
  return (
    <Badge
      text={`${isOver ? 'expired' : 'expires'} ${relative(at)}`}
      tone={isOver ? 'bad' : 'warn'}
      title={at}
    />
  )
}

function rateText(rate: number, burst: number | null): string {
  return `${count(rate)} requests a minute${burst === null ? '' : `, ${count(burst)} at once`}`
}

export function KeyLimits({ apiKey }: { readonly apiKey: ApiKey }): ComponentChild {
  const { name, limit, limit_remaining: left, limit_reset: reset, scopes } = apiKey
  const { rate_limit_rpm: rate, rate_limit_burst: burst } = apiKey
  const calls = callLimitLines(apiKey)
  if (limit === null && rate === null && scopes === null && calls.length === 0)
    return <span class="hint">none</span>
  const spent = (limit ?? 0) - (left ?? 0)
  return (
    <div>
      {limit !== null && (
        <Meter
          label={`Spent of the limit of ${name}`}
          value={spent}
          max={limit}
          text={`${usd(spent)} of ${usd(limit)} ${reset ?? 'for life'}`}
        />
      )}
      {rate !== null && <span class="hint line">{rateText(rate, burst)}</span>}
      {calls.map((text) => (
        <span class="hint line" key={text}>
          {text}
        </span>
      ))}
      {scopes !== null && (
        <span class="hint line">{scopes.length === 0 ? 'no scope' : scopes.join(', ')}</span>
      )}
    </div>
  )
}
