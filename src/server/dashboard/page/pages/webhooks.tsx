import { h, type ComponentChild } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { AdminDeliveryShape } from '../../../../schemas/operator/admin.ts'
import type { DeliveryState } from '../../../../schemas/webhooks/webhook-deliveries.ts'
import type { Api } from '../api.ts'
import { hashOf, type Page, type PageContext } from '../page.ts'
import { LoadedTable } from '../parts/data-table.tsx'
import { deliveryColumns, useReplay } from '../parts/deliveries.tsx'
import { Confirm } from '../parts/dialog.tsx'
import { SelectField } from '../parts/fields.tsx'
import { count } from '../parts/figures.tsx'
import { WorkspaceFilter } from '../parts/filters.tsx'
import { useFocusedHeading } from '../parts/focus.ts'
import { LIST_PAGE, ListPager, Reload, rowsOf, total, type Listed } from '../parts/lists.tsx'
import { useLoaded, type Loaded } from '../parts/loaded.tsx'
import { offsetOf } from '../parts/pager.tsx'
import { useRefresh } from '../parts/refresh.ts'
import { useWorkspaces, type Workspaces } from '../parts/workspaces.ts'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { SendTest } from './webhook-test.tsx'

export const webhooksPage: Page = {
  path: 'webhooks',
  title: 'Webhooks',
  letter: 'w',
  view: (context) => <Webhooks {...context} />,
}

type Shown = DeliveryState | 'all'

/** In the order of the filter: deliveries that need attention come first and are shown by default. */
const TITLES: Readonly<Record<Shown, string>> = {
  dead: 'Dead letters',
  waiting: 'Waiting',
  delivered: 'Delivered',
  all: 'All',
}
const EMPTY: Readonly<Record<Shown, string>> = {
  dead: 'No dead letters: every webhook was delivered or is still waiting.',
  waiting: 'No webhooks waiting.',
  delivered: 'No webhooks delivered yet.',
  all: 'No webhooks yet. A video job with a callback URL sends a webhook when it ends.',
}
const isShown = (text: string | null): text is Shown => text !== null && Object.hasOwn(TITLES, text)

/** Webhooks for ended jobs: the state of each delivery, with a button to send it again. */
function Webhooks(context: PageContext): ComponentChild {
  const { api, query, setQuery } = context
  const workspaces = useWorkspaces(api)
  const heading = useFocusedHeading()
  const { shown, workspace, loaded } = useDeliveries(context)
  const close = (): void => setQuery({ delivery: null })
  const looked = useLooked(loaded.value?.data ?? [], query.get('delivery'))
  const done = (): void => {
    // The row that had the focus may be missing from the reloaded list.
    heading.focus()
    loaded.reload()
  }
  const replay = useReplay(context, done)
  const listed = loaded.value?.total_count ?? 0
  return (
    <div>
      <div class="head">
        <DeliveryFilters setQuery={setQuery} workspaces={workspaces} shown={shown} workspace={workspace} />
        <div class="actions">
          {shown === 'dead' && listed > 0 && (
            <ReplayAll
              context={context}
              listed={listed}
              workspace={workspace}
              workspaceName={workspaces.nameOf(workspace)}
              onDone={done}
            />
          )}
          <SendTest context={context} workspace={workspace} workspaces={workspaces} />
          <Reload loaded={loaded} />
        </div>
      </div>
      <section class="panel">
        <h2 ref={heading.ref} tabIndex={-1}>
          {TITLES[shown]}
          {loaded.value !== undefined && <span class="hint">{` ${total(listed)}`}</span>}
        </h2>
        <LoadedTable<AdminDeliveryShape>
          caption={`${TITLES[shown]}, newest first`}
          columns={deliveryColumns(({ id }) => setQuery({ delivery: id }))}
          loaded={rowsOf(loaded)}
          found={context}
          keyOf={({ id }) => id}
          empty={[
            EMPTY[shown],
            ' ',
            shown === 'dead' && (
              <a key="all" href={hashOf('webhooks', { state: 'all', workspace })}>
                Show all webhooks
              </a>
            ),
          ]}
        />
        <ListPager context={context} loaded={loaded} />
      </section>
      {looked !== undefined && (
        <DeliveryDialog key={looked.id} delivery={looked} replay={replay.start} onClose={close} />
      )}
      {replay.dialog}
    </div>
  )
}

interface DeliveryFiltersProps extends Pick<PageContext, 'setQuery'> {
  readonly workspaces: Workspaces
  readonly shown: Shown
  readonly workspace: string
}

function DeliveryFilters({ setQuery, workspaces, shown, workspace }: DeliveryFiltersProps): ComponentChild {
  const choose =
    (name: string) =>
    (value: string): void =>
      setQuery({ [name]: value, offset: null, delivery: null })
  return (
    <div class="filters">
      <SelectField label="State" value={shown} options={Object.entries(TITLES)} onInput={choose('state')} />
      <WorkspaceFilter workspaces={workspaces} value={workspace} onChoose={choose('workspace')} />
    </div>
  )
}

/** The open delivery; it stays open when it leaves the list meanwhile. */
function useLooked(
  rows: readonly AdminDeliveryShape[],
  wanted: string | null,
): AdminDeliveryShape | undefined {
  const last = useRef<AdminDeliveryShape | undefined>(undefined)
  const kept = last.current?.id === wanted ? last.current : undefined
  last.current = rows.find(({ id }) => id === wanted) ?? kept
  return last.current
}

function useDeliveries({ api, query }: PageContext): AskedDeliveries {
  const asked = query.get('state')
  const [shown, workspace, offset] = [
    isShown(asked) ? asked : 'dead',
    query.get('workspace') ?? '',
    offsetOf(query),
  ]
  const loaded = useLoaded(
    (signal) =>
      api.get<Listed<AdminDeliveryShape>>(
        ['admin', 'webhooks'],
        {
          state: shown === 'all' ? null : shown,
          workspace_id: workspace,
          limit: LIST_PAGE,
          offset,
        },
        signal,
      ),
    [api, shown, workspace, offset],
  )
  useRefresh(loaded.value?.data.some(({ state }) => state === 'waiting') === true, loaded)
  return { shown, workspace, loaded }
}

interface AskedDeliveries {
  readonly shown: Shown
  readonly workspace: string
  readonly loaded: Loaded<Listed<AdminDeliveryShape>>
}

interface ReplayAllProps {
  readonly context: PageContext
  readonly listed: number
  /** Empty: of all. */
  readonly workspace: string
  readonly workspaceName: string
  onDone(): void
}

function ReplayAll({
  context: { api, say },
  listed,
  workspace,
  workspaceName,
  onDone,
}: ReplayAllProps): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const where = workspace === '' ? 'of all workspaces' : `of ${workspaceName}`
  const run = async (): Promise<void> => {
    const replayed = await replayDead(api, workspace)
    say(`${count(replayed)} ${replayed === 1 ? 'webhook' : 'webhooks'} queued for another delivery.`)
    onDone()
  }
  return (
    <span>
      <button type="button" class="primary" onClick={() => setAsking(true)}>
        {`Replay all ${total(listed)}`}
      </button>
      {isAsking && (
        <Confirm
          title={`Replay ${total(listed)} dead ${listed === 1 ? 'letter' : 'letters'}?`}
          action={`Replay ${total(listed)}`}
          run={run}
          onClose={() => setAsking(false)}
          text={`All dead letters ${where} are sent again with a full set of attempts, including letters to addresses that returned 410.`}
        />
      )}
    </span>
  )
}

/** Replays all dead letters: one call replays a limited number and reports whether there are more. */
async function replayDead(api: Api, workspace: string): Promise<number> {
  for (let replayed = 0; ;) {
    const body = workspace === '' ? {} : { workspace_id: workspace }
    const { data } = await api.send<{ data: { replayed: number; has_more: boolean } }>(
      'POST',
      ['admin', 'webhooks', 'replay'],
      body,
    )
    replayed += data.replayed
    if (!data.has_more || data.replayed === 0) return replayed
  }
}
