import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { EndpointStatus, WholeEndpoint } from '../../../../schemas/endpoints/private-endpoints.ts'
import { messageOf } from '../api.ts'
import { hashOf, type PageContext } from '../page.ts'
import { Confirm, Dialog, useAction } from '../parts/dialog.tsx'
import { EndpointBadge } from '../parts/endpoint-badge.tsx'
import { Facts } from '../parts/facts.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { perMillion } from '../parts/prices.ts'
import { Validation } from './endpoint-validation.tsx'

export interface EndpointDialogProps {
  readonly context: PageContext
  readonly id: string
  onChange(): void
  onClose(): void
  onDeleted(): void
}

/** A private endpoint, and what can be done to it in its state. */
export function EndpointDialog(props: EndpointDialogProps): ComponentChild {
  const {
    context: { api },
    id,
    onChange,
    onClose,
  } = props
  const loaded = useLoaded(
    async (signal) => (await api.get<{ data: WholeEndpoint }>(['private-endpoints', id], {}, signal)).data,
    [api, id],
  )
  const endpoint = loaded.value
  const changed = (): void => (loaded.reload(), onChange())
  return (
    <Dialog
      title={endpoint === undefined ? 'Private endpoint' : `Private endpoint of ${endpoint.model_permaslug}`}
      isWide
      onClose={onClose}
    >
      <div class="body">
        <Awaited {...loaded} />
        {endpoint !== undefined && loaded.problem === null && (
          <div class="stack">
            <EndpointFacts endpoint={endpoint} />
            <Deeds {...props} endpoint={endpoint} onChange={changed} />
            {endpoint.status !== 'active' && (
              <Validation context={props.context} endpoint={endpoint} onValidated={changed} />
            )}
          </div>
        )}
      </div>
    </Dialog>
  )
}

function cachePrices({ input_cache_read: read, input_cache_write: write }: WholeEndpoint['pricing']): string {
  const reads = read === undefined ? '' : `, ${perMillion(read)} read from a cache`
  return write === undefined ? reads : `${reads}, ${perMillion(write)} written to a cache`
}

function EndpointFacts({ endpoint }: { readonly endpoint: WholeEndpoint }): ComponentChild {
  const { pricing } = endpoint
  return (
    <Facts
      facts={[
        ['State', <EndpointBadge status={endpoint.status} />],
        ['Id', <code>{endpoint.id}</code>],
        ['Provider', endpoint.provider_name],
        ['Serves', endpoint.speaks.length === 0 ? 'not validated' : endpoint.speaks.join(', ')],
        ['Upstream model', <code>{endpoint.upstream_model_id}</code>],
        ['Address', endpoint.base_url === null ? NONE : <code>{endpoint.base_url}</code>],
        ['Secret', endpoint.secret_name === null ? 'none' : <code>{endpoint.secret_name}</code>],
        [
          'Per 1M tokens',
          `${perMillion(pricing.prompt)} in, ${perMillion(pricing.completion)} out${cachePrices(pricing)}`,
        ],
        ['Region', endpoint.declared_region ?? 'not declared'],
        [
          'Zero data retention',
          endpoint.declared_zdr === null ? 'not declared' : endpoint.declared_zdr ? 'declared' : 'no',
        ],
        ['Created', <Time at={endpoint.created_at} />],
        ['Audit', <a href={hashOf('audit', { object_id: endpoint.id })}>Change history</a>],
      ]}
    />
  )
}

type Turn = 'activate' | 'enable' | 'disable'
/** What is offered in each state, beside a validation of what is not in use. */
const TURNS: Readonly<Record<EndpointStatus, Turn>> = {
  draft: 'activate',
  disabled: 'enable',
  active: 'disable',
}
const WORDS: Readonly<Record<Turn, string>> = { activate: 'Activate', enable: 'Enable', disable: 'Disable' }

/** Turning it on and off, and an end to it. */
function Deeds({
  context: { api, say },
  endpoint,
  onChange,
  onDeleted,
}: EndpointDialogProps & { readonly endpoint: WholeEndpoint }): ComponentChild {
  const [asked, setAsked] = useState<'disable' | 'delete' | null>(null)
  const turn = TURNS[endpoint.status]
  const run = async (): Promise<void> => {
    await api.send('POST', ['private-endpoints', endpoint.id, turn])
    say(`Endpoint of ${endpoint.model_permaslug} ${turn}d.`)
    onChange()
  }
  const remove = async (): Promise<void> => {
    await api.send('DELETE', ['private-endpoints', endpoint.id])
    say(`Endpoint of ${endpoint.model_permaslug} deleted.`)
    onDeleted()
  }
  const { isBusy, problem, start } = useAction(run, () => undefined)
  const close = (): void => setAsked(null)
  return (
    <div class="stack">
      <div class="actions">
        <button
          type="button"
          class={turn === 'disable' ? undefined : 'primary'}
          disabled={isBusy}
          onClick={turn === 'disable' ? () => setAsked('disable') : start}
        >
          {isBusy ? 'Working…' : WORDS[turn]}
        </button>
        <button type="button" onClick={() => setAsked('delete')}>
          Delete
        </button>
      </div>
      {problem !== null && (
        <p class="notice bad" role="alert">
          {messageOf(problem)}
        </p>
      )}
      {asked === 'disable' && (
        <Confirm
          title="Disable endpoint?"
          text="The endpoint gets no calls until it is enabled again."
          action="Disable"
          isDestructive
          run={run}
          onClose={close}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          title="Delete endpoint?"
          text={`The endpoint stops serving ${endpoint.model_permaslug}. This cannot be undone.`}
          action="Delete endpoint"
          isDestructive
          run={remove}
          onClose={close}
        />
      )}
    </div>
  )
}
