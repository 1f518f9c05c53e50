import type { FailureName } from './failures.ts'

/**
 * When each failure happens, for its page: a cause of its own, which the message has no room for. C39.
 */
export const FAILURE_CAUSES: Readonly<Record<FailureName, string>> = {
  route_unknown:
    'No operation and no page has this path. Most often the base URL of a client lacks `/api`, or has `/v1` twice; ' +
    'health checks and metrics have paths of their own.',
  not_served:
    'Clients of other gateways and of model makers call this path, and Sluice has no operation at it on purpose.',
  method_not_allowed:
    'The path exists, but not with this HTTP method: a `GET` to an operation that takes `POST`, say.',
  params_invalid:
    'A part of the path, such as the id of a file or the slug of a workspace, cannot be one by its form.',
  query_invalid:
    'A parameter after `?` has a value out of its range, is repeated, or is missing where the operation requires it.',
  header_invalid:
    'A header that the operation reads has an invalid value, or requests something that writes do not support.',
  credentials_missing:
    'No key could be read: there is no `Authorization` header, it lacks the word `Bearer`, or the key is in another header.',
  key_unknown:
    'The key is not one of this installation. It may have been revoked, cut while it was copied, or belong to a provider.',
  key_expired:
    'The key had an `expires_at`, or was rotated and its overlap has ended, and that instant is past.',
  key_disabled: 'A management key set `disabled: true` for this key, which is refused until that is undone.',
  wrong_key_kind:
    'Inference keys call models and management keys manage; the call came with a valid key of the other kind.',
  scope_missing: 'The key has a list of scopes, and none of them covers the operation.',
  operator_only:
    'The management key belongs to an organization that does not operate the installation, and the operation concerns the node itself.',
  admin_host_refused:
    'A browser or client reached the admin port by a host name that the port does not know. Otherwise a foreign page ' +
    'whose name resolves to this node could read it.',
  session_ended:
    'The cookie of the dashboard belongs to a session that ended after its time, at a sign-out or at a restart of the node.',
  page_foreign: 'The request carries the cookie of the dashboard, but its `Origin` is another site.',
  organization_unknown: 'No organization has this id or name, or the key may not see it.',
  workspace_unknown:
    'No workspace of the organization of the key has this id or slug; it may have been deleted.',
  reference_ambiguous: 'A name was given where a single object is meant, and several objects have that name.',
  name_taken: 'Another vault of the same workspace has this name, and names of vaults are unique in it.',
  slug_taken: 'Another workspace of the organization has this slug, and slugs are unique in it.',
  rate_limited:
    'The key, its workspace or the organization sent more requests or tokens than its limit lets through now. The ' +
    'allowance refills evenly; it does not start again with each minute.',
  tokens_over_limit:
    'The prompt, estimated by its bytes, and the longest answer of the call, counted as 4,096 tokens at most, have ' +
    'more tokens than the limit allows in a whole minute.',
  credit_exhausted:
    'The organization has a prepaid credit, and the credit left after the calls in progress is less than the maximum cost of this call.',
  key_limit_exceeded:
    'The key has a spending limit, and its spend, the calls in progress and the maximum cost of this call exceed it together.',
  budget_exceeded:
    'The workspace has a budget for the interval, and its spend, the calls in progress and the maximum cost of this call ' +
    'exceed it together.',
  cost_unbounded:
    'A spending limit counts the call, but its largest cost cannot be computed: the endpoint has no price, the answer ' +
    'has no bound, or a member of the request adds a cost that is not known in advance.',
  budget_unknown: 'The workspace has budgets on other intervals, or none, but not on this one.',
  budgets_unordered:
    'A budget of a longer interval has to be larger than that of a shorter one, and the new amount breaks that order.',
  credit_out_of_range:
    'The amount would take the credit of the organization below 0 or above its largest value.',
  model_not_allowed: 'The key has `allowed_models`, and neither the model nor its author is in that list.',
  api_key_unknown: 'No key of the organization has this hash; revoked keys count as gone.',
  key_unscoped: 'The request gives `scopes` to a management key, whose rights do not depend on scopes.',
  user_unknown: 'No user of the organization has this id; a user whom SCIM removed counts as gone.',
  default_workspace_kept:
    'Each organization has one default workspace, for keys and files without another, and this is it.',
  callback_url_invalid:
    'The address for webhooks is not `https`, has a password or a fragment in it, or is one that Sluice may not reach.',
  content_type_unsupported:
    'The `Content-Type` header names a type that is not JSON, such as a form or a plain text.',
  body_malformed:
    'The body cannot be parsed as JSON: a comma is missing or left over, a string is not closed, or the text is not UTF-8.',
  body_invalid: 'The body is JSON, but a member is missing, unknown, of the wrong type or out of its range.',
  body_too_large: 'The request has more bytes than the operation reads.',
  body_slow: 'The client began a body and then sent nothing, or very little, for too long.',
  model_unknown:
    'The catalogue of this installation has no model by this id or alias. Ids have an author: `openai/gpt-4o`, not `gpt-4o`.',
  model_unfit:
    'The model exists, but makes something else: an embedding model cannot chat, and a chat model makes no video.',
  stateless:
    'The request refers to something that a provider would have to keep, such as `previous_response_id` or `store: true`, ' +
    'and goes out under the key of the operator, which all workspaces share.',
  count_unavailable:
    'The call asks for a count of tokens, and the providers of the model have no operation that counts.',
  input_unsupported:
    'The input has a form, such as tokens, an image or several texts at once, that no endpoint of the model takes.',
  field_unsupported:
    'The call is translated into the form of another provider, and a field has no counterpart there that gives the same answer.',
  media_unavailable:
    'An image, a document or a sound was given by URL, and Sluice could not load it: the server is away, slow, refuses or ' +
    'returns something else.',
  endpoint_excluded: 'The model has endpoints, and `provider` in the request leaves none of them.',
  endpoint_unconfigured:
    'The model is in the catalogue, and this node has the API key of none of its providers.',
  endpoint_unavailable:
    'Each endpoint of the model failed several times in a row, so that Sluice passes them over until a test call succeeds.',
  hops_exceeded:
    'The base URL of a provider or a private endpoint points at Sluice itself, so that a call goes in a circle.',
  upstream_failed:
    'The provider could not be reached, broke the connection, redirected the call, does not know the path or the model ' +
    '(404), or answered with an error of its own (5xx).',
  upstream_invalid:
    'The provider answered 200 with something that its protocol does not allow: no JSON, a missing member, a stream ' +
    'without its end. Often the base URL points at another kind of server.',
  upstream_too_large: 'The answer of the provider exceeded the bytes that Sluice holds for one call.',
  upstream_credential:
    'The provider refused the API key that the operator set for it, or its account is unpaid (401, 402, 403 and similar).',
  upstream_own_key:
    'The provider refused the API key that the workspace keeps for it in its vault, or the account of that key is unpaid ' +
    '(401, 402, 403 and similar).',
  upstream_overloaded:
    'The provider answered 429 or 529: its own limits, or its load, leave no room for the call.',
  upstream_slow: 'The provider did not begin its answer, or paused within it, for longer than its time-out.',
  upstream_refused:
    'The provider read the request and answered 400, 413, 415 or 422, or its filter blocked the prompt.',
  deadline_exceeded: 'The call took longer than its operation may take in all, with every attempt and wait.',
  workspace_forbidden: 'The request names a workspace, and the key belongs to another one.',
  form_malformed: 'The upload is not multipart: its boundary is missing, wrong or not closed.',
  form_invalid: 'The upload is multipart, but has no part `file`, several of them, or too many other fields.',
  filename_invalid: 'The name of the uploaded file has a slash, a control character, or too many characters.',
  file_empty: 'The part `file` of the upload has no bytes.',
  file_too_large: 'The uploaded file has more bytes than one file may have.',
  content_unsupported:
    'The first bytes of the content show a type that this operation does not accept, whatever its name says.',
  provider_key_missing:
    'The call is for a provider that each workspace calls under its own key, and the vault of this one holds none.',
  provider_key_unfit:
    'The vault has a key for the provider, but its hosts or its characters do not fit a call.',
  provider_key_unknown: 'The workspace keeps no key of a provider under this id.',
  provider_key_exists: 'The workspace has a key of this provider already, and there is one for each.',
  file_unknown:
    'No file of the workspace has this id: it was deleted, has expired, or belongs to another workspace.',
  generation_unknown:
    'No call of the workspace has this id. The record follows a call by two seconds, and is removed after its time.',
  content_not_kept:
    'The operation asks for the prompt or the answer of an earlier call, which Sluice never stores.',
  video_unknown: 'No video job of the workspace has this id, or its time is over.',
  video_unsupported:
    'The video model exists, but not with this duration, resolution, ratio, frame image or option.',
  video_previous_unfit:
    'The request continues an earlier job, which ran at another provider or has a model that cannot continue it.',
  video_unfinished: 'The clip of a job was asked for while the job is pending or in progress.',
  video_ended: 'The job to cancel has completed, failed, expired or been cancelled before.',
  video_output_unknown: 'The job has completed, but `index` is beyond its last clip.',
  video_expired: 'The clip was removed after the days that this installation keeps clips.',
  video_jobs_full: 'The workspace has so many jobs that have not ended that no further one is taken.',
  video_clip_invalid: 'The provider reported a finished job, and its file is not an MP4.',
  video_clip_gone: 'The provider reported a finished job, and answered 404 or 410 when the clip was loaded.',
  delivery_unknown: 'No webhook delivery has this id, or it was removed after its time.',
  delivery_waiting: 'The delivery to repeat has not failed for good: its next attempt is scheduled.',
  container_file_unknown: 'The container has no file at this path.',
  file_not_downloadable:
    'Files that a client uploaded are for use in calls and are not given out again; files that were made in a container are.',
  range_unsatisfiable: 'The `Range` header asks for bytes after the end of the file.',
  container_too_large: 'The folder of the container has more files than one listing walks through.',
  container_path_invalid:
    'The path leaves the container, goes through a link or a file, or has a part that is not allowed.',
  quota_exceeded: 'The organization or workspace has reached its quota of objects or bytes.',
  storage_full: 'The disk of the data directory, or the bucket, has no room for the upload.',
  storage_unavailable:
    'The folder or bucket in `SLUICE_OBJECTS` does not answer, or refuses the access key of the node.',
  containers_unsupported: 'The node runs on another system than Linux, and keeps containers in a folder.',
  content_missing: 'The database lists the file, and the folder or bucket no longer has its bytes.',
  content_damaged: 'The stored bytes are not those that were uploaded: their length or checksum differs.',
  upload_lost:
    'The upload took longer than the node keeps unfinished uploads, so that its first bytes were removed.',
  programme_closed:
    'Interns and their vaults are switched on for each workspace, and this one has them switched off.',
  regional_refused:
    'The call came by a hostname of `SLUICE_REGIONAL_HOSTS`, on which vaults and files are not served.',
  vault_writes_disabled:
    'The operator stopped writes to the vaults of this workspace, for example during a rotation.',
  secret_unknown: 'The vault has no secret of this name.',
  secret_exists: 'The request creates a secret, and the vault has one of that name.',
  secret_uncopyable: 'The secret was stored without hosts, so that a copy of it could not be bound to any.',
  intern_in_transfer:
    'The intern is just moving to another workspace, and its secrets cannot be copied meanwhile.',
  intern_unknown: 'No intern of the workspace has this id.',
  vault_unknown: 'No vault has this id, or it belongs to another workspace.',
  vault_full: 'The vault holds as many secrets as a vault may.',
  secret_not_released:
    'A call needs a secret that the vault does not have under this name, or that is bound to another host.',
  not_supported:
    'The request has a member whose work Sluice does not do, such as a plugin, a web search or a server tool of another gateway.',
  destination_refused:
    'The URL is not `https`, has a refused port, or leads to an address that is not public.',
  endpoint_unknown: 'No private endpoint of the organization has this id; deleted ones count as gone.',
  endpoints_full: 'The organization has as many private endpoints as it may.',
  workspace_endpoints_full:
    'Activating or enabling the endpoint would give the workspace more active ones than it may have.',
  endpoint_not_draft:
    'The request changes a private endpoint that is active or disabled; its settings are fixed since then.',
  endpoint_active: 'The request validates or activates a private endpoint that serves calls already.',
  endpoint_not_active: 'The request disables or prices a private endpoint that is a draft or disabled.',
  endpoint_not_disabled: 'The request enables a private endpoint that was not disabled before.',
  endpoint_was_active: 'The request deletes with `draft_only=true`, and the endpoint has served calls.',
  not_validated: 'The private endpoint was never probed, or the last probe failed.',
  validation_stale:
    'The private endpoint passed a probe, but was changed afterwards, or the probe is too long ago.',
  probe_running: 'Another request is probing the same private endpoint at this moment.',
  endpoint_changed:
    'The private endpoint was changed while its probe ran, so that the result does not apply.',
  base_url_invalid:
    'The `base_url` is not `https`, has a query or a password in it, or leads to an address that is not public.',
  provider_unsupported: 'The `provider_slug` names a cloud or maker whose address Sluice cannot derive.',
  validation_failed: 'The probe of the private endpoint ran, and one of its checks did not pass.',
  probe_slow: 'The server of the private endpoint did not answer the request of the probe in time.',
  probe_failed:
    'The server of the private endpoint could not be reached, or answered the probe with an error.',
  credential_unavailable:
    'The endpoint or job uses a secret that was deleted since, or is bound to other hosts now.',
  idempotency_key_reused:
    'A private endpoint was created under the same `Idempotency-Key` with other values.',
  preset_unknown: 'The workspace has no active preset of this slug.',
  preset_version_unknown: 'The preset exists, but the version after `@` does not.',
  preset_conflict: 'Two requests saved the same preset at once, and this one lost.',
  preset_archived: 'The request reads or changes a preset that was archived.',
  previous_response_unsupported:
    'The request to save as a preset has `previous_response_id`, and a preset is used in other conversations.',
  preset_too_large: 'The messages and settings of the request are more than one preset stores.',
  presets_full: 'The workspace has as many presets as it may.',
  preset_reference_invalid: 'The text after `@preset/` in `model` is not a slug with an optional version.',
  presets_differ: 'The call names one preset in `model` and another one in `preset`.',
  preset_without_model: 'The call gives only a preset, which was saved without a model.',
  mapping_unknown: 'The organization has no mapping of a directory group with this id.',
  mapping_role_differs: 'The group is mapped to the workspace already, with another role.',
  scim_group_unknown: 'The mapping names a group that the directory has not sent to Sluice, or has deleted.',
  sync_job_unknown: 'No job that applies group mappings has this id.',
  scim_user_taken:
    'The directory creates or renames a user, and another user of the organization has that `userName`.',
  scim_group_taken: 'The directory creates or renames a group, and another group has that `displayName`.',
  scim_member_unknown: 'The directory adds a member to a group whose id is that of no user it has created.',
  scim_filter_invalid: 'The `filter` uses an operator, attribute or bracket that Sluice does not read.',
  scim_too_many:
    'The listing asks for groups with all their members, and the first group alone has more than fit.',
  scim_filter_refused:
    'The list of schemas or resource types was asked for with a `filter`, which RFC 7644 §4 forbids.',
  scim_path_invalid:
    'The `path` of an operation in a PATCH names no attribute, or has brackets that cannot be parsed.',
  scim_target_missing:
    'The `path` of an operation in a PATCH is valid, and no value of the resource matches it.',
  scim_value_invalid: 'An attribute that the schema requires is missing, or has a value of another type.',
  scim_immutable: 'The directory changes an attribute that the schema marks as read-only, such as `id`.',
  scim_resource_unknown: 'No schema, resource type or list of resources is at this path of the SCIM service.',
  scim_version_differs:
    'The resource was changed after the directory read the version that it sends in `If-Match`.',
  scim_tokens_full: 'The organization has as many tokens for its directory as it may.',
  scim_token_unknown: 'No token for a directory has this id, or it was revoked.',
  scim_unsupported:
    'The directory uses a part of SCIM that is optional in RFC 7644 and that Sluice leaves out.',
  idempotency_mismatch: 'An earlier request had the same `Idempotency-Key` and another method, path or body.',
  idempotency_running: 'A request with the same `Idempotency-Key` has been received and has no answer yet.',
  data_key_unavailable:
    'The root key that wraps the data key of this content is missing on the node, or does not open it.',
  busy: 'The node, or the share of one organization in it, has no room for the call: streams, bodies in memory or queues are full.',
  store_unavailable: 'Postgres or Redis does not answer, and the call needs it.',
  draining: 'The node has received the signal to end, or is being replaced, and takes no new calls.',
  internal: 'A fault in Sluice itself, which its log describes.',
  client_gone: 'The client closed the connection before its answer was there.',
}
