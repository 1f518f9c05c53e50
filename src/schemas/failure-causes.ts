import type { FailureName } from './failures.ts'

/** The cause of each failure, for its page; messages are too short for it. */
export const FAILURE_CAUSES: Readonly<Record<FailureName, string>> = {
  route_unknown:
    "No operation or page has this path. Usually, the client's base URL lacks `/api` or has `/v1` twice; " +
    'health checks and metrics have other paths.',
  not_served:
    'Clients of other gateways and providers call this path, but Sluice deliberately does not serve it.',
  method_not_allowed:
    'The path exists, but not with this HTTP method, for example `GET` for an operation that needs `POST`.',
  params_invalid: 'A part of the path, such as a file id or a workspace slug, has an invalid form.',
  query_invalid: 'A query parameter has an invalid value, is repeated, or is required but missing.',
  header_invalid: 'A request header has an invalid value, or the operation does not support the header.',
  credentials_missing:
    'No key could be read: the `Authorization` header is missing or lacks the word `Bearer`, or the key is in another header.',
  key_unknown:
    "This installation has no key with the value that was sent. The key may have been revoked or cut off when copied, or it may be a provider's key.",
  key_expired: "The key's `expires_at` has passed, or the key was rotated and its overlap has ended.",
  key_disabled:
    'A management key set `disabled: true` for this key; calls are refused until the key is enabled again.',
  wrong_key_kind:
    'Inference keys are for models, management keys for administration; the call used a valid key of the wrong kind.',
  scope_missing: 'The key has a list of scopes, and none of them covers the operation.',
  operator_only:
    "The operation concerns the node itself, and the management key does not belong to the operator's organization.",
  admin_host_refused:
    'A browser or client used a host name that the admin port does not accept. If any name were accepted, a malicious ' +
    'page whose host name resolves to this node could read the admin port.',
  session_ended: 'The dashboard session expired, was signed out, or ended when the node restarted.',
  page_foreign: 'The request has the dashboard cookie, but its `Origin` is a different site.',
  organization_unknown: 'No organization has this id or name, or the key is not allowed to see it.',
  workspace_unknown:
    "The key's organization has no workspace with this id or slug; the workspace may have been deleted.",
  reference_ambiguous: 'The request names a single object, but several objects have that name.',
  name_taken: 'Another vault of the workspace has this name, and names must be unique.',
  slug_taken: 'Another workspace of the organization has this slug, and slugs must be unique.',
  rate_limited:
    'The key, its workspace or the organization sent more requests or tokens than its limit currently allows. The ' +
    'allowance of a limit refills evenly instead of resetting every minute.',
  tokens_over_limit:
    'The prompt (estimated from its bytes) plus the longest possible answer (counted as at most 4,096 tokens) ' +
    'exceeds the token limit for a whole minute.',
  credit_exhausted:
    "The organization's prepaid credit, minus the amount reserved for calls in progress, is less than the maximum cost of this call.",
  key_limit_exceeded:
    "The key's spend, its calls in progress and the maximum cost of this call together exceed the key's spending limit.",
  budget_exceeded:
    "The workspace's spend, its calls in progress and the maximum cost of this call together exceed its budget " +
    'for the interval.',
  cost_unbounded:
    'A spending limit applies, but the maximum cost of the call cannot be computed: the endpoint has no price, the length ' +
    'of the answer is unbounded, or a member of the request adds a cost that is not known in advance.',
  budget_unknown: 'The workspace has no budget for this interval, but may have budgets for other intervals.',
  budgets_unordered:
    'A longer interval must have a larger budget than a shorter one; the new amount would break this rule.',
  credit_out_of_range: "The amount would take the organization's credit below 0 or above its maximum.",
  model_not_allowed: 'The key has `allowed_models`, and neither the model nor its author is in that list.',
  api_key_unknown: 'The organization has no key with this hash; the key may have been revoked.',
  key_unscoped: 'The request gives `scopes` to a management key, whose rights do not depend on scopes.',
  user_unknown: 'The organization has no user with this id; SCIM may have removed the user.',
  default_workspace_kept:
    "The request deletes the organization's default workspace, which is used for keys and files that do not name a workspace.",
  callback_url_invalid:
    'The webhook URL is not `https`, contains a password or a fragment, or has an address that Sluice is not allowed to call.',
  content_type_unsupported:
    'The `Content-Type` header names a type that is not JSON, such as a form or plain text.',
  body_malformed:
    'The body cannot be parsed as JSON: a comma is missing or extra, a string is not closed, or the text is not UTF-8.',
  body_invalid: 'The body is JSON, but a member is missing, unknown, of the wrong type or out of range.',
  body_too_large: 'The request body is larger than the operation accepts.',
  body_slow: 'The client started sending the body, then sent little or nothing for too long.',
  model_unknown:
    'The catalogue of this installation has no model with this id or alias. Ids begin with the author: `openai/gpt-4o`, not `gpt-4o`.',
  model_unfit:
    'The model exists, but for another purpose: an embedding model cannot chat, and a chat model cannot make videos.',
  stateless:
    'The request needs the provider to store data (`store: true`, `previous_response_id`), but uses the ' +
    "operator's key, which all workspaces share.",
  count_unavailable: 'The call asks for a token count, but no provider of the model can count tokens.',
  input_unsupported:
    'No endpoint of the model accepts this kind of input, such as tokens, an image or several texts at once.',
  field_unsupported:
    "The call is translated to another provider's API, and a field has no equivalent there that gives the same answer.",
  media_unavailable:
    'An image, document or audio file was given by URL, but Sluice could not load it: the server is unreachable or ' +
    'slow, refuses the request, or returns content of another type.',
  endpoint_excluded: 'The model has endpoints, but `provider` in the request excludes all of them.',
  endpoint_unconfigured:
    'The model is in the catalogue, but this node has no API key for any of its providers.',
  endpoint_unavailable:
    'Every endpoint of the model failed several times in a row, so Sluice skips them until a test call succeeds.',
  hops_exceeded:
    'The base URL of a provider or a private endpoint points to Sluice itself, so the call loops.',
  upstream_failed:
    'The provider could not be reached, broke the connection, redirected the call, did not know the path or model ' +
    '(404), or answered with a server error (5xx).',
  upstream_invalid:
    'The provider answered 200, but violated its protocol: the answer is not JSON, lacks a member, or ends ' +
    'too early. Often, the base URL of the provider points to a server with a different API.',
  upstream_too_large: "The provider's answer was larger than Sluice buffers for one call.",
  upstream_credential:
    "The provider refused the operator's API key, or its account is unpaid (401, 402, 403 and similar).",
  upstream_own_key:
    "The provider refused the API key in the workspace's vault, or the account of that key is unpaid " +
    '(401, 402, 403 and similar).',
  upstream_overloaded:
    'The provider answered 429 or 529: its rate limits or load leave no room for the call.',
  upstream_slow: 'The provider took longer than its time-out to begin its answer, or to continue it.',
  upstream_refused:
    'The provider read the request and answered 400, 413, 415 or 422, or its filter blocked the prompt.',
  deadline_exceeded: 'The call took longer than its operation allows in total for all attempts and waits.',
  workspace_forbidden: 'The request names a workspace, but the key belongs to a different workspace.',
  form_malformed: 'The upload is not valid multipart: its boundary is missing, wrong or not closed.',
  form_invalid: 'The upload is multipart, but has no `file` part, more than one, or too many other fields.',
  filename_invalid:
    'The name of the uploaded file is too long, or has a forbidden character or an empty, `.` or `..` segment.',
  file_empty: 'The `file` part of the upload is empty.',
  file_too_large: 'The uploaded file exceeds the maximum file size.',
  content_unsupported:
    'The first bytes of the content show a type that this operation does not accept, regardless of the filename.',
  provider_key_missing:
    'Each workspace needs its own key for this provider, and the vault of this workspace has none.',
  provider_key_unfit:
    'The vault has a key for the provider, but the key is bound to other hosts or has characters that cannot be sent.',
  provider_key_unknown: 'The workspace has no provider key with this id.',
  provider_key_exists: 'The workspace already has a key for this provider, and can have only one.',
  file_unknown:
    'The workspace has no file with this id: the file was deleted, has expired, or belongs to another workspace.',
  generation_unknown:
    'The workspace has no call with this id. The record of a call appears two seconds after the call and is removed when its retention ends.',
  content_not_kept:
    'The operation asks for the prompt or the answer of an earlier call, which Sluice never stores.',
  video_unknown: 'The workspace has no video job with this id, or its record has been removed.',
  video_unsupported:
    'The video model exists, but not with this duration, resolution, ratio, frame image or option.',
  video_previous_unfit:
    'The request continues an earlier job that ran at another provider, or the model cannot continue that job.',
  video_unfinished: 'The clip was requested while the job was still pending or in progress.',
  video_ended: 'The job to cancel has already completed, failed, expired or been cancelled.',
  video_output_unknown: 'The job has completed, but `index` is beyond its last clip.',
  video_expired: 'The clip was removed because this installation keeps clips only for a set number of days.',
  video_jobs_full: 'The workspace has too many unfinished jobs to start another.',
  video_clip_invalid: 'The provider reported a finished job, but its file is not an MP4.',
  video_clip_gone:
    'The provider reported a finished job, but answered 404 or 410 when the clip was downloaded.',
  delivery_unknown: 'No webhook delivery has this id, or its record has been removed.',
  delivery_waiting: 'The delivery is still being attempted: its next attempt is scheduled.',
  container_file_unknown: 'The container has no file at this path.',
  file_not_downloadable:
    'Uploaded files are for use in calls and cannot be downloaded; files created in a container can be downloaded.',
  range_unsatisfiable: 'The `Range` header asks for bytes beyond the end of the file.',
  container_too_large: 'The container folder has more files than one listing can read.',
  container_path_invalid:
    'The path leaves the container, passes through a link or a file, or has a part that is not allowed.',
  quota_exceeded: 'The organization or workspace has reached its quota of objects or bytes.',
  storage_full: 'The disk of the data directory, or the bucket, has no room for the upload.',
  storage_unavailable:
    "The folder or bucket in `SLUICE_OBJECTS` does not answer, or refuses the node's access key.",
  containers_unsupported: 'The node does not run on Linux, but keeps containers in a folder.',
  content_missing: 'The database lists the file, but the folder or bucket no longer has its bytes.',
  content_damaged: 'The stored bytes differ from the uploaded bytes in length or checksum.',
  upload_lost:
    'The upload took longer than the node keeps unfinished uploads, so its first bytes were removed.',
  programme_closed:
    'Interns (agents) and their vaults are enabled for each workspace separately, and are off in this workspace.',
  regional_refused:
    'The call used a regional hostname (`SLUICE_REGIONAL_HOSTS`); vaults and files are not served there.',
  vault_writes_disabled:
    "The operator disabled writes to this workspace's vaults, for example during a rotation.",
  secret_unknown: 'The vault has no secret with this name.',
  secret_exists: 'The request creates a secret, but the vault already has a secret with that name.',
  secret_uncopyable: 'The secret was stored without hosts, so a copy could not be bound to any host.',
  intern_in_transfer:
    'The intern is being moved to another workspace; its secrets cannot be copied until the move ends.',
  intern_unknown: 'The workspace has no intern with this id.',
  vault_unknown: 'No vault has this id, or the vault belongs to another workspace.',
  vault_full: 'The vault has the maximum number of secrets.',
  secret_not_released: 'The call needs a secret that does not exist or is bound to another host.',
  not_supported:
    "The request uses a feature that Sluice does not offer, such as a plugin, a web search or another gateway's server tool.",
  destination_refused:
    'The URL is not `https`, has a port that is not allowed, or resolves to an address that is not public.',
  endpoint_unknown:
    'The organization has no private endpoint with this id; the endpoint may have been deleted.',
  endpoints_full: 'The organization has the maximum number of private endpoints.',
  workspace_endpoints_full:
    'The endpoint cannot be activated or enabled: the workspace has the maximum number of active endpoints.',
  endpoint_not_draft:
    'The request changes a private endpoint that is active or disabled; only a draft can be changed.',
  endpoint_active: 'The request validates or activates a private endpoint that already serves calls.',
  endpoint_not_active:
    'The request disables a private endpoint or sets its prices, but the endpoint is a draft or disabled.',
  endpoint_not_disabled: 'The request enables a private endpoint that is not disabled.',
  endpoint_was_active: 'The delete request has `draft_only=true`, but the endpoint has been active.',
  not_validated: 'The private endpoint was never probed, or the last probe failed.',
  validation_stale:
    'The private endpoint passed a probe, but was changed afterwards, or the probe is too old.',
  probe_running: 'Another request is currently probing the same private endpoint.',
  endpoint_changed: 'The private endpoint was changed while its probe ran, so the result does not apply.',
  base_url_invalid:
    'The `base_url` is not `https`, contains a query or a password, or resolves to an address that is not public.',
  provider_unsupported: 'The `provider_slug` names a provider whose URL Sluice cannot derive.',
  validation_failed: 'The probe of the private endpoint ran, but one of its checks failed.',
  probe_slow: "The private endpoint's server did not respond to the probe in time.",
  probe_failed: "The private endpoint's server could not be reached, or answered the probe with an error.",
  credential_unavailable:
    'The endpoint or job uses a secret that has been deleted or is now bound to other hosts.',
  idempotency_key_reused:
    'A private endpoint was already created with the same `Idempotency-Key` but different values.',
  preset_unknown: 'The workspace has no active preset with this slug.',
  preset_version_unknown: 'The preset exists, but the version after `@` does not.',
  preset_conflict: 'Another request saved the same preset at the same time, so this request was not saved.',
  preset_archived: 'The request reads or changes a preset that is archived.',
  previous_response_unsupported:
    'The request to be saved has `previous_response_id`, but a preset must work in any conversation.',
  preset_too_large: 'The messages and settings of the request are too large for one preset.',
  presets_full: 'The workspace has the maximum number of presets.',
  preset_reference_invalid: 'The text after `@preset/` in `model` is not a slug with an optional version.',
  presets_differ: 'The call names one preset in `model` and a different preset in `preset`.',
  preset_without_model: 'The call does not name a model, and its preset was saved without a model.',
  mapping_unknown: 'The organization has no group mapping with this id.',
  mapping_role_differs: 'The group is already mapped to the workspace with a different role.',
  scim_group_unknown:
    'The mapping names a group that the identity provider has not sent to Sluice, or has deleted.',
  sync_job_unknown: 'No sync job of group mappings has this id.',
  scim_user_taken:
    'The identity provider tried to create or rename a user, but another user of the organization has that `userName`.',
  scim_group_taken:
    'The identity provider tried to create or rename a group, but another group has that `displayName`.',
  scim_member_unknown: 'The identity provider tried to add a member, but no user with that id exists.',
  scim_filter_invalid: 'The `filter` uses an operator, attribute or bracket that Sluice does not support.',
  scim_too_many: 'The list includes all members of each group, and the first group alone exceeds the limit.',
  scim_filter_refused: 'The request for schemas or resource types has a `filter`, which RFC 7644 §4 forbids.',
  scim_path_invalid:
    'The `path` of a PATCH operation does not name an attribute, or has brackets that cannot be parsed.',
  scim_target_missing: 'The `path` of a PATCH operation is valid, but no value of the resource matches it.',
  scim_value_invalid: 'An attribute is missing although the schema requires it, or has the wrong type.',
  scim_immutable:
    'The identity provider tried to change an attribute that the schema marks as read-only, such as `id`.',
  scim_resource_unknown: 'The SCIM service has no schema, resource type or list of resources at this path.',
  scim_version_differs:
    'The resource was changed after the identity provider read the version that it sends in `If-Match`.',
  scim_tokens_full: 'The organization has the maximum number of SCIM tokens.',
  scim_token_unknown: 'No SCIM token has this id, or the token was revoked.',
  scim_unsupported:
    'The identity provider uses an optional part of SCIM (RFC 7644) that Sluice does not support.',
  idempotency_mismatch:
    'An earlier request had the same `Idempotency-Key`, but a different method, path or body.',
  idempotency_running: 'A request with the same `Idempotency-Key` has been received, but not yet answered.',
  data_key_unavailable:
    "The root key that encrypts this content's data key is missing on the node, or cannot decrypt it.",
  busy: "The node, or the organization's share of it, has no capacity for the call: streams, body memory or queues are full.",
  store_unavailable: 'Postgres or Redis, which the call needs, does not answer.',
  draining: 'The node is shutting down or being replaced, and accepts no new calls.',
  internal: 'The fault is in Sluice itself; its log has the details.',
  client_gone: 'The client closed the connection before its answer was ready.',
}
