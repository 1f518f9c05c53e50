import { type ComponentChild, h } from 'preact'
import type { RequestShape } from '../../../../../schemas/requests/requests.ts'
import { hashOf } from '../../page.ts'
import { CopyBox } from '../../parts/copy-box.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Facts } from '../../parts/facts.tsx'
import { bytes, count, duration, usd, withCode } from '../../parts/figures.tsx'
import { SubjectLink } from '../../parts/links.tsx'
import type { Words } from './request-feed.ts'
import { commandFor, stepsOf, type Step } from './request-steps.ts'

/** The error for an unknown model, which has no page. */
const MISSPELT = 'model_unknown'

interface RequestDialogProps {
  readonly request: RequestShape
  readonly words: Words
  nameOf(hash: string, known?: string | null): string
  onClose(): void
}

/** One call: its steps in time, its cost and the limits that it counted against, and links to related pages. */
export function RequestDialog({ request, words, nameOf, onClose }: RequestDialogProps): ComponentChild {
  const { operation, is_recovered: isRecovered } = request
  const command = commandFor(request)
  return (
    <Dialog title={`${operation} ${request.status ?? ''}`} isWide onClose={onClose}>
      <div class="body">
        <Cause request={request} words={words} />
        {isRecovered && (
          <p class="notice warn">
            The request log lost this call because a process was killed or the disk was full. These details
            come from the ledger.
          </p>
        )}
        <Steps request={request} />
        <Facts facts={factsOf(request, nameOf)} />
        {command !== null && <CopyBox label="Command to repeat this call" text={command} isCode />}
      </div>
    </Dialog>
  )
}

function factsOf(
  request: RequestShape,
  nameOf: RequestDialogProps['nameOf'],
): readonly (readonly [string, ComponentChild])[] {
  const { key, model, provider, workspace_id: workspace, tokens, cost_usd: cost, weight } = request
  const more = (name: string, value: string): ComponentChild => (
    <a href={hashOf('requests', { [name]: value })}>View calls</a>
  )
  return [
    ['Ended', new Date(request.ended_at).toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' })],
    ['Request', <code>{request.request_id}</code>],
    ['Sample', weight === 1 ? null : `represents ${count(weight)} similar calls`],
    [
      'Key',
      key === null ? null : (
        <span>
          <SubjectLink to="key" id={key} text={nameOf(key, request.key_name)} /> {more('key', key)}{' '}
          <a href={hashOf('audit', { actor_id: key })}>Changes made by this key</a>{' '}
          <a href={hashOf('audit', { object_id: key })}>Change history</a>
        </span>
      ),
    ],
    [
      'Workspace',
      workspace === null ? null : (
        <span>
          <SubjectLink to="workspace" id={workspace} /> {more('workspace_id', workspace)}
        </span>
      ),
    ],
    [
      'Model',
      model === null ? null : (
        <span>
          {request.error_type === MISSPELT ? model : <SubjectLink to="model" id={model} />}{' '}
          {more('model', model)}
        </span>
      ),
    ],
    [
      'Provider',
      provider === null ? null : (
        <span>
          <SubjectLink to="provider" id={provider} /> {more('provider', provider)}
        </span>
      ),
    ],
    ['Tokens', tokens.input === null ? null : tokensText(tokens)],
    ['Charged', cost === null ? null : chargedText(request)],
    ['Bytes', `${bytes(request.request_bytes)} in, ${bytes(request.reply_bytes)} out`],
    ['First token', request.parts.first_byte_ms === null ? null : duration(request.parts.first_byte_ms)],
    ['Client', request.is_client_gone ? 'disconnected before the end of the response' : null],
  ]
}

function tokensText({ input, output, cached }: RequestShape['tokens']): string {
  const parts = [`${count(input)} in`]
  if (output !== null) parts.push(`${count(output)} out`)
  if (cached !== null && cached > 0) parts.push(`${count(cached)} cached`)
  return parts.join(', ')
}

function chargedText({
  cost_usd: cost,
  charged_to: owners,
  is_byok: isByok,
  is_estimated,
  is_unpriced,
}: RequestShape): string {
  const remarks = [
    owners.length === 0 ? 'no spending limit' : `counts against the limits of: ${owners.join(', ')}`,
    isByok && "workspace's own provider key",
    is_estimated && 'tokens estimated',
    is_unpriced && 'no price',
  ].filter((remark) => remark !== false)
  return `${usd(cost)} (${remarks.join('; ')})`
}

/** Bars on one axis of time. */
function Steps({ request }: { readonly request: RequestShape }): ComponentChild {
  const steps = stepsOf(request)
  const endMs = Math.max(request.duration_ms ?? 0, ...steps.map(({ fromMs, ms }) => fromMs + ms))
  if (steps.length === 0 || endMs <= 0) return null
  return (
    <ol class="waterfall" aria-label={`Breakdown of ${duration(endMs)}`}>
      {steps.map((step, nth) => (
        <li key={nth} class={step.tone}>
          <span>{step.note === undefined ? step.name : `${step.name}: ${step.note}`}</span>
          <span class="track">
            <i style={barOf(step, endMs)} />
          </span>
          <span class="n">{duration(step.ms)}</span>
        </li>
      ))}
    </ol>
  )
}

const PERCENT = 100
/** Smallest width of a bar in percent, so that the shortest can be seen. */
const BAR_MIN = 0.4

function barOf({ fromMs, ms }: Step, endMs: number): { readonly marginLeft: string; readonly width: string } {
  const from = Math.min(PERCENT - BAR_MIN, (fromMs / endMs) * PERCENT)
  const width = Math.max(BAR_MIN, Math.min(PERCENT - from, (ms / endMs) * PERCENT))
  return { marginLeft: `${from}%`, width: `${width}%` }
}

interface CauseProps {
  readonly request: RequestShape
  readonly words: Words
}

/** The cause of a failed call and its fix: the general text for the failure, with the details of this call. */
export function Cause({ request, words }: CauseProps): ComponentChild {
  const { error_type: error, docs_url: docs, limit, model, reason, failed_attempts: failed } = request
  if (error === null || docs === null) return null
  const { cause = '', remedy = '', page = null } = words.errors[error] ?? {}
  const [asked, near] = error === MISSPELT && model !== null ? [model, words.nearest_models[model] ?? []] : []
  const place = page === null ? null : placeOf(page, request, near?.[0] ?? null)
  const [owner = '', interval = ''] = limit?.split(' ') ?? []
  const last = failed.at(-1)
  const variables = reason?.facts['variables']
  return (
    <div class="notice bad">
      <p>
        <b>{error}</b> {withCode(reason?.message ?? cause)}
        {limit !== null && ` Limit: ${owner}${interval === '' ? '' : `, ${interval}`}.`}
        {asked !== undefined && ` Requested model: ${asked}.`}
        {near !== undefined && near.length > 0 && ` Nearest: ${near.join(', ')}.`}
        {last !== undefined &&
          ` ${last.provider}: ${last.status ?? 'no answer'} (${last.code}) after ${duration(last.duration_ms)}.`}
      </p>
      {reason !== null && reason.issues.length > 0 && (
        <div>
          Invalid inputs
          <ul aria-label="Invalid inputs">
            {reason.issues.map(({ path, expected }) => (
              <li>
                <code>{path === '' ? 'the whole body' : path}</code>
                {expected !== null && `: expected ${expected}`}
              </li>
            ))}
          </ul>
        </div>
      )}
      <p>{withCode(variables === undefined ? remedy : `Set ${variables}.`)}</p>
      {place !== null && <a href={place[1]}>{`View ${place[0]}`}</a>}
      {/* Error pages are not part of the dashboard, and need no key. */}
      <a href={docs} target="_blank" rel="noreferrer">
        Cause and fix
      </a>
    </div>
  )
}

/** The page where a failure can be fixed: that of the key, provider or model, if there is one. */
function placeOf(page: string, request: RequestShape, near: string | null): readonly [string, string] {
  const { key, provider, model, workspace_id: workspace, error_type: error } = request
  const known = error === MISSPELT ? near : model
  if (page === 'keys' && key !== null) return ['the key', hashOf('key', { id: key })]
  if (page === 'models' && provider !== null) return [provider, hashOf('provider', { id: provider })]
  if (page === 'models' && known !== null) return [known, hashOf('model', { id: known })]
  return [page, hashOf(page, { workspace })]
}
