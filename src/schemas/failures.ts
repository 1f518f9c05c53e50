import { API_PREFIX } from './api-prefix.ts'
import type { FailureMetadata, Issue } from './failure-metadata.ts'
import { readableBytes } from './values/readable.ts'

/**
 * The failure catalogue. A row contains all consequences of a failure; no other file spells an error's
 * status. `status`: the reply uses the first status that the operation lists; without a listed one, 400 or
 * 500 by `fault`. `text` may contain `{name}` places that `Failure.fields` fills.
 */
export interface FailureRow {
  readonly status: readonly [number, ...number[]]
  /** The side that caused the failure: decides only the fallback status. */
  readonly fault: 'caller' | 'ours'
  readonly retry: 'no' | 'after_change' | 'backoff'
  readonly log: 'debug' | 'info' | 'warn' | 'error'
  readonly text: string
}

// A table with one failure per row.
// prettier-ignore
export const FAILURES = {
  // Request line and headers
  route_unknown: row([404], 'caller', 'no', `No such path. The API is under ${API_PREFIX}; see /docs.`),
  not_served: row([404], 'caller', 'no', 'Sluice does not serve {what}; it serves {instead}.'),
  method_not_allowed: row([405], 'caller', 'no', 'This path only supports {allowed}.'),
  params_invalid: row([400, 404], 'caller', 'after_change', 'A path segment is not valid.'),
  query_invalid: row([400], 'caller', 'after_change', 'A query parameter is not valid.'),
  header_invalid: row([400], 'caller', 'after_change', 'A header is not valid.'),
  // Credentials
  credentials_missing: row([401], 'caller', 'after_change', 'Send an API key as `{header}`.'),
  key_unknown: row([401], 'caller', 'after_change', 'Invalid API key.'),
  key_expired: row([401], 'caller', 'after_change', 'This API key has expired.'),
  key_disabled: row([403, 401], 'caller', 'after_change', 'This API key is disabled.'),
  wrong_key_kind: row([403, 401], 'caller', 'after_change', 'This operation needs {kind}.'),
  scope_missing: row([403],
    'caller', 'after_change', 'This API key lacks the scope {scope}: use another key, or have a management key add the scope.'),
  operator_only: row([403], 'caller', 'no', 'Only keys of the organization that operates this installation may call this operation.'),
  /** For the admin port: a foreign page may make its own host name resolve to this node. */
  admin_host_refused: row([403],
    'caller', 'after_change', 'The admin port only accepts localhost, IP addresses and the host name in SLUICE_ADMIN_HOST.'),
  /** For the admin port: the session of the cookie has ended, never existed, or belongs to another page. */
  session_ended: row([401], 'caller', 'after_change', 'Your dashboard session has ended: sign in again.'),
  /** For the admin port: a page of another site may make a browser call this port. */
  page_foreign: row([403], 'caller', 'no', 'Only the dashboard at this address may make this call.'),
  // Organizations, workspaces, keys
  organization_unknown: row([404], 'caller', 'after_change', 'There is no such organization.'),
  workspace_unknown: row([404], 'caller', 'after_change', 'There is no such workspace.'),
  reference_ambiguous: row([400], 'caller', 'after_change', 'Several {what} match; {remedy}.'),
  name_taken: row([409, 400], 'caller', 'after_change', 'This name is already used in the workspace.'),
  slug_taken: row([400], 'caller', 'after_change', 'This slug is already used in the organization.'),
  // Limits
  rate_limited: row(
    [429], 'caller', 'backoff',
    'The {holder} is over its limit of {limit} {what}; try again in {retry} s.',
  ),
  tokens_over_limit: row([400],
    'caller', 'after_change', 'This call needs about {estimated} tokens, but the {holder} is limited to {limit} per minute: retrying will not help.'),
  // Money
  credit_exhausted: row([402],
    'caller', 'after_change', 'The organization\'s credit does not cover this call.'),
  key_limit_exceeded: row([403, 402],
    'caller', 'after_change', 'The key\'s spending limit does not cover this call.'),
  budget_exceeded: row([403, 402],
    'caller', 'after_change', 'The workspace\'s {interval} budget does not cover this call.'),
  cost_unbounded: row([403, 402],
    'caller', 'after_change', 'The maximum cost of this call is unknown, and the {scope} has a spending limit.'),
  budget_unknown: row([404], 'caller', 'after_change', 'The workspace has no budget for this interval.'),
  budgets_unordered: row([400],
    'caller', 'after_change', 'Budgets must strictly decrease: lifetime > monthly > weekly > daily.'),
  credit_out_of_range: row([400],
    'caller', 'after_change', 'The total credit of an organization must be between 0 and {limit} USD.'),
  // Keys and workspaces as objects of management
  model_not_allowed: row([403, 404], 'caller', 'after_change', 'This API key is not allowed to use this model.'),
  api_key_unknown: row([404], 'caller', 'after_change', 'There is no such API key.'),
  key_unscoped: row([400],
    'caller', 'after_change', 'Only inference and intern keys have scopes; the rights of a management key do not depend on scopes.'),
  user_unknown: row([404], 'caller', 'after_change', 'There is no such user.'),
  default_workspace_kept: row([400],
    'caller', 'after_change', 'The organization\'s default workspace was not deleted.'),
  callback_url_invalid: row([400], 'caller', 'after_change', 'Webhooks cannot be sent to this URL.'),
  // Bodies
  content_type_unsupported: row([415, 400],
    'caller', 'after_change', 'The content type of the body is not supported by this operation.'),
  body_malformed: row([400], 'caller', 'after_change', 'The body is not valid JSON.'),
  body_invalid: row([400], 'caller', 'after_change', 'The body is not valid.'),
  body_too_large: row([413], 'caller', 'after_change', 'The body is larger than {limit} bytes.'),
  body_slow: row([408], 'caller', 'backoff', 'The body did not arrive in time.'),
  // Models and routing
  model_unknown: row([404], 'caller', 'after_change', 'There is no such model.'),
  model_unfit: row([400], 'caller', 'after_change', 'This model does not support this operation.'),
  stateless: row([400], 'caller', 'after_change',
    'With the operator\'s key, providers store nothing: send all earlier items, and set `store: false` in the client.'),
  count_unavailable: row([404], 'caller', 'no', 'No provider of this model can count tokens; count the tokens in the client.'),
  input_unsupported: row([400], 'caller', 'after_change', 'No endpoint of this model supports this kind of input.'),
  field_unsupported: row([400], 'caller', 'after_change',
    'No endpoint of this model supports a field of the request, and dropping it would change the answer.'),
  media_unavailable: row([400], 'caller', 'after_change', 'A file in the request cannot be fetched from its URL.'),
  endpoint_excluded: row([404],
    'caller', 'after_change', 'The provider preferences exclude every endpoint of this model.'),
  endpoint_unconfigured: row([404],
    'caller', 'no', 'No provider of this model is set up on this installation.'),
  endpoint_unavailable: row([503],
    'ours', 'backoff', 'Every endpoint of this model is failing; try again later.', 'warn'),
  hops_exceeded: row([502], 'ours', 'no',
    'The request looped through {hops} gateways: a provider or a private endpoint points back to this installation.', 'warn'),
  // Failures of providers
  upstream_failed: row([502], 'ours', 'backoff', 'The {party} failed.', 'warn'),
  upstream_invalid: row([502],
    'ours', 'backoff', 'The {party} returned an invalid answer.', 'warn'),
  upstream_too_large: row([502], 'ours', 'no', 'The {party} returned more than {limit} bytes.', 'warn'),
  upstream_credential: row([502],
    'ours', 'no', 'The {party} refused this installation\'s credential.', 'error'),
  upstream_own_key: row(
    [502], 'caller', 'after_change',
    'The {party} refused the workspace\'s own key: replace or remove the secret `{secret}` in the workspace\'s vault. The operator\'s key was not tried.',
  ),
  upstream_overloaded: row([529, 503], 'ours', 'backoff', 'The {party} is overloaded.', 'warn'),
  upstream_slow: row([524, 504], 'ours', 'backoff', 'The {party} did not answer within its time-out.', 'warn'),
  upstream_refused: row([400], 'caller', 'after_change', 'The {party} refused the input.'),
  deadline_exceeded: row([504, 524],
    'ours', 'backoff', 'The call did not finish within its deadline.', 'warn'),
  // Files and containers
  workspace_forbidden: row([403], 'caller', 'after_change', 'The key does not belong to this workspace.'),
  form_malformed: row([400], 'caller', 'after_change', 'The multipart form is malformed.'),
  form_invalid: row([400], 'caller', 'after_change', 'The multipart form is not valid for this operation.'),
  filename_invalid: row([400], 'caller', 'after_change', 'The filename is not valid.'),
  file_empty: row([400], 'caller', 'after_change', 'The file is empty.'),
  file_too_large: row([413], 'caller', 'after_change', 'The file is larger than {limit} bytes.'),
  content_unsupported: row([400],
    'caller', 'after_change', 'This content is not accepted: it is {found}. Accepted: {accepted}.'),
  provider_key_missing: row(
    [400], 'caller', 'after_change',
    'The workspace has no key for {provider}. Store a key in the workspace\'s vault as `{secret}`, bound to the host {host} '
    + '(`PUT /api/v1/vault/secrets/{secret}`), or ask the operator to set the key with `sluice workspaces set <workspace> --provider-key {slug}=-`.',
  ),
  provider_key_unfit: row(
    [400], 'caller', 'after_change',
    'The secret `{secret}` cannot be used as a key: it was deleted, is bound to other hosts, or contains characters other than visible ASCII.',
  ),
  provider_key_unknown: row([404], 'caller', 'after_change', 'There is no such provider key in the workspace.'),
  provider_key_exists: row(
    [409, 400], 'caller', 'after_change',
    'The workspace\'s vault already has the secret `{secret}`: replace the `{provider}` key with `PATCH /api/v1/byok/{id}`.',
  ),
  file_unknown: row([404], 'caller', 'after_change', 'There is no such file.'),
  generation_unknown: row([404], 'caller', 'after_change',
    'There is no record of this call. A record is available from two seconds after the call until its retention ends.'),
  content_not_kept: row([404], 'caller', 'no', 'Sluice keeps neither prompts nor answers.'),
  // Video jobs
  video_unknown: row([404], 'caller', 'after_change', 'There is no such video job.'),
  video_unsupported: row([400], 'caller', 'after_change', 'The model cannot make this kind of video.'),
  video_previous_unfit: row([400], 'caller', 'after_change', 'This model cannot continue the earlier job.'),
  video_unfinished: row([400], 'caller', 'backoff', 'The video job has not completed.'),
  video_ended: row([400], 'caller', 'no', 'The video job has ended.'),
  video_output_unknown: row([404], 'caller', 'after_change', 'The video job has no clip with this index.'),
  video_expired: row([410], 'caller', 'no', 'The clip has been deleted because its retention period has ended.'),
  video_jobs_full: row([429],
    'caller', 'backoff', 'The workspace\'s open video jobs have reached a limit: {limit} jobs, or {chars} characters in their requests.'),
  video_clip_invalid: row([502], 'ours', 'no', 'The provider did not send an MP4 file.', 'warn'),
  video_clip_gone: row([502], 'ours', 'no', 'The provider no longer has the clip.', 'warn'),
  // Repairs by operators
  delivery_unknown: row([404], 'caller', 'after_change', 'There is no such delivery.'),
  delivery_waiting: row([409], 'caller', 'no', 'The delivery is already waiting for its next attempt.'),
  container_file_unknown: row([404], 'caller', 'after_change', 'There is no such container file.'),
  file_not_downloadable: row([400],
    'caller', 'no', 'An uploaded file cannot be downloaded; only files promoted from a container can.'),
  range_unsatisfiable: row([416],
    'caller', 'after_change', 'The range is outside the {size} bytes of the file.'),
  container_too_large: row([400],
    'caller', 'after_change', 'The container has too many entries to list.'),
  container_path_invalid: row([400], 'caller', 'after_change', 'A file cannot be written to this path.'),
  quota_exceeded: row([403],
    'caller', 'after_change', 'The {owner} may {have} at most {limit} {unit}; this request would exceed the limit.'),
  storage_full: row([503], 'ours', 'backoff', 'There is not enough storage space for this request.', 'error'),
  storage_unavailable: row([503],
    'ours', 'backoff', 'The file storage failed or cannot be reached.', 'error'),
  containers_unsupported: row([503],
    'ours', 'no', 'Containers in a folder on disk are only supported on Linux.', 'error'),
  /** For a row without its object, and for an object that differs from the stored one; only the operator can fix either. */
  content_missing: row([500], 'ours', 'no', 'The content of this file is missing.', 'error'),
  content_damaged: row([500], 'ours', 'no', 'The content of this file is damaged.', 'error'),
  /** The sweep removed the upload in the meantime. */
  upload_lost: row([500], 'ours', 'backoff', 'The upload took too long and was aborted.', 'warn'),
  // The vault
  programme_closed: row([404],
    'caller', 'no', 'Interns and vaults are not enabled for this workspace.'),
  regional_refused: row([403], 'caller', 'no', 'This operation is not available on a regional hostname.'),
  vault_writes_disabled: row([503],
    'ours', 'backoff', 'Writes to vaults are disabled for this workspace.', 'info'),
  secret_unknown: row([404], 'caller', 'after_change', 'There is no such secret.'),
  secret_exists: row([409, 400], 'caller', 'after_change', 'The vault already has a secret with this name.'),
  secret_uncopyable: row([409],
    'caller', 'after_change', 'A secret without hosts cannot be copied; store it again with hosts first.'),
  intern_in_transfer: row([409], 'caller', 'backoff', 'The intern is being transferred; try again later.'),
  intern_unknown: row([404], 'caller', 'after_change', 'There is no such intern.'),
  vault_unknown: row([404], 'caller', 'after_change', 'There is no such vault.'),
  vault_full: row([409], 'caller', 'after_change', 'A vault can have at most {limit} secrets.'),
  /**
   * The same answer for an unknown name, a different host and a secret that cannot be decrypted, so that
   * callers do not learn which secrets exist.
   */
  secret_not_released: row([403],
    'caller', 'after_change', 'No secret `{name}` is bound to exactly this host.'),
  not_supported: row([400], 'caller', 'no', 'Sluice does not support this feature.'),
  // The gate to the outside (design §9)
  destination_refused: row([400, 403], 'caller', 'after_change', 'This destination is not allowed.'),
  // Private endpoints
  endpoint_unknown: row([404], 'caller', 'after_change', 'There is no such private endpoint.'),
  endpoints_full: row([409],
    'caller', 'after_change', 'An organization can have at most {limit} private endpoints.'),
  workspace_endpoints_full: row([409],
    'caller', 'after_change', 'A workspace can have at most {limit} active private endpoints.'),
  endpoint_not_draft: row([409], 'caller', 'after_change', 'Only a draft can be changed.'),
  endpoint_active: row([409], 'caller', 'after_change', 'The private endpoint is already active.'),
  endpoint_not_active: row([409], 'caller', 'after_change', 'The private endpoint is not active.'),
  endpoint_not_disabled: row([409], 'caller', 'after_change', 'The private endpoint is not disabled.'),
  endpoint_was_active: row([409],
    'caller', 'after_change', 'The private endpoint has been active, so a delete with `draft_only` does not remove it.'),
  not_validated: row([409], 'caller', 'after_change', 'The private endpoint has no passing validation.'),
  validation_stale: row([409],
    'caller', 'after_change', 'The last validation is outdated: the endpoint has been changed since, or the validation is too old.'),
  probe_running: row([409],
    'caller', 'backoff', 'The private endpoint is being validated; only one validation runs at a time.'),
  endpoint_changed: row([409],
    'caller', 'after_change', 'The private endpoint was changed during the validation.'),
  base_url_invalid: row([422], 'caller', 'after_change', 'This `base_url` is not allowed.'),
  provider_unsupported: row(
    [400], 'caller', 'after_change',
    'Sluice needs a `base_url` for `{provider}`; for a server with OpenAI\'s API, use the provider `openai-compatible`.',
  ),
  validation_failed: row([422], 'caller', 'after_change', 'The validation failed: {reason}.'),
  probe_slow: row([408], 'ours', 'backoff', 'The private endpoint\'s server did not respond to the test request in time.', 'warn'),
  probe_failed: row([502], 'ours', 'backoff', 'The test request to the private endpoint\'s server failed: {reason}.', 'warn'),
  /** In calls that use it, an unusable credential makes the provider unusable. */
  credential_unavailable: row(
    [422, 502], 'caller', 'after_change', 'The stored credential cannot be used: it was deleted or is bound to other hosts.',
  ),
  /** Compares the fields of the first use, without `activate`. */
  idempotency_key_reused: row([422],
    'caller', 'after_change', 'This `Idempotency-Key` was already used with different fields.'),
  // Presets
  preset_unknown: row([404], 'caller', 'after_change', 'There is no such preset.'),
  preset_version_unknown: row([404], 'caller', 'after_change', 'The preset has no such version.'),
  preset_conflict: row([409],
    'caller', 'backoff', 'Another request changed the preset at the same time; try again.'),
  preset_archived: row([409],
    'caller', 'after_change', 'The preset is archived; save a request under its slug to use the preset again.'),
  previous_response_unsupported: row(
    [400], 'caller', 'after_change', 'A preset cannot continue a stored response: remove `previous_response_id` and send the full history in `input`.',
  ),
  preset_too_large: row([400],
    'caller', 'after_change', 'The preset would exceed {limit} bytes.'),
  presets_full: row([400], 'caller', 'after_change', 'A workspace can have at most {limit} presets.'),
  preset_reference_invalid: row(
    [400], 'caller', 'after_change', 'Write presets as `@preset/<slug>`, `@preset/<slug>@<version>` or `<model>@preset/<slug>`.',
  ),
  presets_differ: row([400], 'caller', 'after_change', 'The request names two different presets.'),
  preset_without_model: row([400],
    'caller', 'after_change', 'The preset has no model: add one, as in `<model>@preset/<slug>`.'),
  // SCIM group mappings
  mapping_unknown: row([404], 'caller', 'after_change', 'There is no such group mapping.'),
  mapping_role_differs: row(
    [409], 'caller', 'after_change', 'The group is mapped to this workspace with the role `{role}`; change that mapping.',
  ),
  scim_group_unknown: row([404], 'caller', 'after_change', 'There is no such group.'),
  sync_job_unknown: row([404], 'caller', 'after_change', 'There is no such sync job.'),
  // The SCIM service (RFC 7644 §3.12, table 9)
  scim_user_taken: row([409], 'caller', 'after_change', 'This userName is already used in the organization.'),
  scim_group_taken: row([409], 'caller', 'after_change', 'This displayName is already used in the organization.'),
  scim_member_unknown: row([400], 'caller', 'after_change', 'A member is not a user of this organization.'),
  scim_filter_invalid: row([400], 'caller', 'after_change', 'Sluice does not support this filter.'),
  scim_too_many: row([400],
    'caller', 'after_change', 'The first group of this page has more than {limit} members: add `excludedAttributes=members` to the request.'),
  /** For the discovery of the service: a client that filters must not mistake the whole list for the matches. */
  scim_filter_refused: row([403],
    'caller', 'after_change', 'This path does not support filters: read all resources, or one resource by its id.'),
  scim_path_invalid: row([400],
    'caller', 'after_change', 'Sluice does not support the path of a PATCH operation.'),
  scim_target_missing: row([400], 'caller', 'after_change', 'The path of a PATCH operation does not match a value.'),
  scim_value_invalid: row([400], 'caller', 'after_change', 'A value is missing or not valid.'),
  scim_immutable: row([400], 'caller', 'after_change', 'This attribute cannot be changed.'),
  scim_resource_unknown: row([404], 'caller', 'no', 'There is no such SCIM resource.'),
  scim_version_differs: row([412],
    'caller', 'after_change', 'The resource was changed: its version differs from the version in `If-Match`.'),
  scim_tokens_full: row([409],
    'caller', 'after_change', 'An organization can have at most {limit} active SCIM tokens.'),
  scim_token_unknown: row([404], 'caller', 'after_change', 'There is no such SCIM token.'),
  scim_unsupported: row([501], 'caller', 'no', 'Sluice does not support this part of SCIM: {what}.'),
  // Idempotency
  idempotency_mismatch: row([422, 409],
    'caller', 'after_change', 'This `Idempotency-Key` was already used for a different request.'),
  idempotency_running: row([503],
    'ours', 'backoff', 'The first request with this `Idempotency-Key` is still running.', 'info'),
  // Keys of the key ring
  data_key_unavailable: row([500],
    'ours', 'no', 'An encryption key needed for this request cannot be decrypted on this installation.', 'error'),
  // Sluice itself
  busy: row([503], 'ours', 'backoff', 'The gateway is at its limit; try again shortly.', 'warn'),
  store_unavailable: row([503],
    'ours', 'backoff', 'A database needed for this call cannot be reached.', 'error'),
  draining: row([503], 'ours', 'backoff', 'This node is shutting down.'),
  internal: row([500], 'ours', 'backoff', 'Internal error.', 'error'),
  /** Never sent, since the caller has disconnected; it ends pending waits and is counted. */
  client_gone: row([500], 'caller', 'no', 'The client closed the connection before the answer was sent.', 'debug'),
} as const satisfies Record<string, FailureRow>

export type FailureName = keyof typeof FAILURES

export interface Failure {
  readonly name: FailureName
  /** Fills the `{places}` of the row's text. */
  readonly fields?: Readonly<Record<string, string | number>>
  /** Appended to the text; may be shown to the caller, so it contains no SQL, host, secret or stack. */
  readonly detail?: string
  readonly metadata?: FailureMetadata
  /** The member of the caller's own request that the provider refuses; absent: the member of the first issue. */
  readonly param?: string
  /** Seconds, whole and at least 1; becomes `Retry-After`. */
  readonly retryAfterS?: number
  /** Written next to `error` in the body: the result that exists although the call failed. */
  readonly data?: unknown
  /** For the log only; never reaches the caller. */
  readonly cause?: unknown
  /** The model that the call named but did not get; set if the request log may store its name. */
  readonly askedModel?: string
}

export type Outcome<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: Failure }

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value }
}

export function fail(
  name: FailureName,
  more: Omit<Failure, 'name'> = {},
): { readonly ok: false; readonly failure: Failure } {
  return { ok: false, failure: { name, ...more } }
}

export function statusOf(name: FailureName, listed: readonly number[]): number {
  const row: FailureRow = FAILURES[name]
  for (const status of row.status) if (listed.includes(status) || ANYWHERE.includes(status)) return status
  return row.fault === 'caller' ? 400 : 500
}

/** The caller's text of a failure: with its first issue, because clients show only the message. */
export function textOf(failure: Failure): string {
  const fields = { ...USUAL, ...failure.fields }
  const text = FAILURES[failure.name].text
    .replace(/\{(\w+)\}/g, (place, name: string) => String(fields[name] ?? place))
    .replace(/\b(\d+) bytes\b/g, (_, bytes: string) => readableBytes(Number(bytes)))
  const whole = withIssue(text, failure.metadata?.issues)
  return failure.detail === undefined ? whole : `${whole} ${failure.detail}`
}

/** Default values of placeholders that a failure does not fill. */
const USUAL: Failure['fields'] = { party: 'provider', owner: 'workspace', have: 'store', unit: 'bytes' }

function withIssue(text: string, issues: readonly Issue[] | undefined): string {
  const first = issues?.[0]
  if (issues === undefined || first === undefined) return text
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : ''
  const what = first.path === '' ? 'it' : first.path
  return `${text.replace(/\.$/, '')}: ${what} ${first.message}, expected ${first.expected}${more}.`
}

/** Reason phrases of the statuses that HTTP itself does not define. */
export const REASONS: Readonly<Record<number, string>> = { 524: 'A Timeout Occurred', 529: 'Overloaded' }

/** Every operation lists 401 (contract C2, §5 rule 5); 404 and 405 of an unknown route have no operation. */
const ANYWHERE: readonly number[] = [401, 405]

function row(
  status: readonly [number, ...number[]],
  fault: FailureRow['fault'],
  retry: FailureRow['retry'],
  text: string,
  log: FailureRow['log'] = 'info',
): FailureRow {
  return { status, fault, retry, log, text }
}
