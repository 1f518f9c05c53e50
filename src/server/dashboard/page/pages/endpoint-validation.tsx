import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type {
  CheckName,
  CheckReason,
  EndpointCheck,
  WholeEndpoint,
} from '../../../../schemas/endpoints/private-endpoints.ts'
import { messageOf } from '../api.ts'
import type { PageContext } from '../page.ts'
import { Badge } from '../parts/badge.tsx'
import { useAction } from '../parts/dialog.tsx'
import { errorAbout, SelectField } from '../parts/fields.tsx'
import { useWorkspaces } from '../parts/workspaces.ts'

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

/** Sends a real request to the upstream, as a workspace would, and tells what was found. */
export function Validation({ context: { api }, endpoint, onValidated }: ValidationProps): ComponentChild {
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
