import { type ComponentChild, h } from 'preact'
import { useState } from 'preact/hooks'
import type {
  CheckName,
  CheckReason,
  EndpointCheck,
  EndpointStatus,
  WholeEndpoint,
} from '../../../../schemas/endpoints/private-endpoints.ts'
import { messageOf } from '../api.ts'
import { hashOf, type PageContext } from '../page.ts'
import { Confirm, Dialog, useAction } from '../parts/dialog.tsx'
import { Facts } from '../parts/facts.tsx'
import { NONE, Time } from '../parts/figures.tsx'
import { Awaited, useLoaded } from '../parts/loaded.tsx'
import { perMillion } from '../parts/prices.ts'
import { Badge, EndpointBadge } from '../parts/badge.tsx'
import { errorAbout, SelectField } from '../parts/fields.tsx'
import { useWorkspaces } from '../parts/workspaces.ts'

export interface EndpointDialogProps {
  readonly context: PageContext
  readonly id: string
  onChange(): void
  onClose(): void
  onDeleted(): void
}

/** A private endpoint and the actions available in its state. */
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
/** The action offered in each state. An endpoint that is not in use can also be validated. */
const TURNS: Readonly<Record<EndpointStatus, Turn>> = {
  draft: 'activate',
  disabled: 'enable',
  active: 'disable',
}
const WORDS: Readonly<Record<Turn, string>> = { activate: 'Activate', enable: 'Enable', disable: 'Disable' }

/** Buttons to turn the endpoint on or off and to delete it. */
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

const CHECKS: Readonly<Record<CheckName, string>> = {
  workspace_ok: 'Workspace',
  provider_ok: 'Provider',
  base_url_ok: 'Address',
  limit_ok: 'Endpoint limit',
  credential_ok: 'Secret',
  auth_ok: 'Authentication',
  response_ok: 'Answer',
  stream_ok: 'Stream',
  model_ok: 'Model',
  usage_ok: 'Usage',
}
const REASONS: Readonly<Record<CheckReason, string>> = {
  workspace_not_found: 'workspace not found',
  provider_not_found: 'provider not found',
  invalid_base_url: 'address not allowed',
  no_byok_key: 'no such secret for this host in the workspace',
  key_decryption_failed: 'secret cannot be decrypted',
  endpoint_limit_reached: 'workspace endpoint limit reached',
  upstream_error: 'refused by the upstream',
  model_not_found: 'model not found at the upstream',
  invalid_response: 'response does not match the protocol',
  invalid_stream: 'stream ended early',
  missing_usage: 'response has no usage',
  model_mismatch: 'another model answered',
}

interface Validated {
  readonly passed: boolean
  readonly checks: readonly EndpointCheck[]
}

interface ValidationProps {
  readonly context: PageContext
  readonly endpoint: WholeEndpoint
  onValidated(): void
}

/** Sends a real request to the upstream, as a workspace would, and shows the result. */
function Validation({ context: { api }, endpoint, onValidated }: ValidationProps): ComponentChild {
  const workspaces = useWorkspaces(api)
  const [chosen, setChosen] = useState(endpoint.workspace_id ?? '')
  const [found, setFound] = useState<Validated | null>(null)
  const choices = workspaces.options()
  const workspace =
    chosen === ''
      ? (workspaces.loaded.value?.find((one) => one.is_default)?.id ?? choices[0]?.[0] ?? '')
      : chosen
  const { isBusy, problem, start } = useAction(async () => {
    const { data } = await api.send<{ data: Validated }>(
      'POST',
      ['private-endpoints', endpoint.id, 'validate'],
      { workspace_id: workspace },
    )
    setFound(data)
  }, onValidated)
  return (
    <section class="stack">
      <h3>Validation</h3>
      <p class="hint">
        Sluice sends a small real request to the upstream. A successful validation assigns the endpoint to the
        workspace and is valid for a day.
      </p>
      <div class="filters">
        <SelectField
          label="As workspace"
          value={workspace}
          options={choices}
          onInput={setChosen}
          error={errorAbout(problem, 'workspace_id')}
        />
        <button type="button" disabled={isBusy || workspace === ''} onClick={start}>
          {isBusy ? 'Validating…' : 'Validate'}
        </button>
      </div>
      {problem !== null && (
        <p class="notice bad" role="alert">
          {messageOf(problem)}
        </p>
      )}
      {found !== null && <Checks found={found} />}
    </section>
  )
}

function Checks({ found: { passed, checks } }: { readonly found: Validated }): ComponentChild {
  return (
    <div class="stack" role="status">
      <p class={`notice ${passed ? 'good' : 'bad'}`}>
        {passed ? 'Validation passed.' : 'Validation failed.'}
      </p>
      <ul class="checks">
        {checks.map((check) => (
          <li key={check.name}>
            <Badge text={check.passed ? 'passed' : 'failed'} tone={check.passed ? 'good' : 'bad'} />
            {` ${CHECKS[check.name]}`}
            {!check.passed && <span class="hint">{` ${whyNot(check)}`}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}

function whyNot({
  reason,
  actual_model: model,
  upstream_status: status,
  upstream_message: message,
}: EndpointCheck): string {
  const words = [
    reason && REASONS[reason],
    model && `answered by ${model}`,
    status && `status ${status}`,
    message,
  ]
  return words.filter((word) => word !== undefined && word !== '').join('; ')
}
