import type { FailureName } from './failures.ts'

/** Sluice reserves the price of the longest answer that a call may get. */
const SMALLER_MAXIMUM =
  'Set `max_tokens` to `metadata.affordable_output_tokens` or less, or set `default_max_output_tokens` on the key; ' +
  'if the affordable number is 0 or too small,'
const RESET = 'A limit with an interval resets at `metadata.reset_at`; a lifetime limit never resets.'

/** What a caller or an operator can do about a failure, in addition to the failure's text; shown on the pages of the error types. */
const REMEDIES: Readonly<Record<FailureName, string>> = {
  route_unknown:
    'Compare the path with the API reference: API paths begin with /api/v1, SCIM paths with /scim/v2.',
  not_served:
    'Use the alternative in the message, or another service: Sluice serves only chat, ' +
    'embeddings, videos, files, secrets and their management.',
  method_not_allowed: 'Use one of the methods in the `Allow` header.',
  params_invalid: 'Correct the path segment named in `metadata.issues`.',
  query_invalid:
    'Correct the parameter named in `metadata.issues`; write integers in decimal digits, and give each parameter once.',
  header_invalid: 'Correct the header named in `metadata.issues`.',
  credentials_missing:
    'Send `Authorization: Bearer <key>`. The first keys of an installation are in `first-keys.json` in its data directory.',
  key_unknown:
    'Check whether the key was cut off, deleted or created on another installation; `sluice keys list` shows the existing keys.',
  key_expired: 'Ask for a new key; next time, rotate the key before it expires.',
  key_disabled: 'Ask the manager of the key to enable it again.',
  wrong_key_kind: 'Use an inference key to call models, and a management key for administration.',
  operator_only: 'Contact the operator of this installation.',
  session_ended:
    'Sign in on the dashboard again. Programs need no session: they send a management key to `/api/v1` on the admin port.',
  page_foreign: 'Open the dashboard at the address of the admin port, and sign in there.',
  rate_limited:
    'Wait for the time in `Retry-After`, space calls evenly, or ask for a higher limit (`metadata.limit_source`) or burst.',
  tokens_over_limit:
    'Send a shorter prompt, or ask for fewer tokens (`max_tokens`), or have `rate_limit_tpm` raised.',
  credit_exhausted: `${SMALLER_MAXIMUM} add credit to the organization.`,
  key_limit_exceeded: `${SMALLER_MAXIMUM} raise the key's limit, or use another key. ${RESET}`,
  budget_exceeded: `${SMALLER_MAXIMUM} raise the workspace's budget. ${RESET}`,
  cost_unbounded:
    'If only the length of the answer is unbounded, send `max_tokens` or give the key a `default_max_output_tokens`. ' +
    'Leave out the member named in `metadata.issues`, or give it the expected value. ' +
    'In the catalogue, set `pricing` or `"free": true` for an endpoint without a price, or remove the spending limit.',
  model_not_allowed: 'Use a model that the key allows, or have its `allowed_models` changed.',
  content_type_unsupported: 'Send `Content-Type: application/json`.',
  body_malformed:
    'Correct the body at the line and column in the message: strict JSON in UTF-8 has no byte order mark, comments or trailing commas.',
  body_invalid: 'Correct the members whose JSON pointers are in `metadata.issues`.',
  body_too_large: 'Split the input into several calls.',
  body_slow: 'Send the body without long pauses, and check the network.',
  model_unknown:
    'Use an id from `GET /api/v1/models?output_modalities=all`; the message suggests similar ones.',
  model_unfit:
    'Use a model from `GET /api/v1/models`, `GET /api/v1/embeddings/models` or `GET /api/v1/videos/models`.',
  field_unsupported:
    'Leave out the field named in `metadata.issues`, or use a model whose provider supports it.',
  media_unavailable:
    'Check that the URL is public, uses HTTPS and answers within 10 s; or send the content or a workspace file instead.',
  input_unsupported: 'Send a kind of input named in the message, or use another model.',
  endpoint_excluded: 'Relax the `provider` preference named in the message.',
  endpoint_unconfigured:
    'The operator must set the environment variable for the key; `sluice models list` and the log show its name.',
  endpoint_unavailable: 'Try again later; the dashboard shows the operator which provider is failing.',
  hops_exceeded:
    'The operator must correct the `base_url` of the provider or private endpoint that points back to this node.',
  upstream_failed:
    'Try again. If calls keep failing, the operator can run `sluice logs --error upstream_failed` to see the provider ' +
    "and its status, or why there was no answer. The provider's own log has the error text.",
  upstream_invalid:
    "Try again. If calls keep failing, the operator must check that the server at the provider's base URL supports " +
    'the API format set in the catalogue.',
  upstream_too_large: 'Split the request into smaller ones.',
  upstream_credential:
    "The operator must replace the provider's key, or settle the account with the provider.",
  upstream_own_key:
    "Replace the secret in the workspace's vault, settle its account with the provider, or remove the " +
    "secret to use the operator's key.",
  upstream_overloaded: 'Try again after the time in `Retry-After`.',
  upstream_slow: 'Try again, or split the request into smaller ones.',
  upstream_refused: "Change the input according to the provider's text in the message.",
  deadline_exceeded: 'Try again with fewer inputs per call or a smaller `max_tokens`.',
  form_malformed:
    'Use a client library to build the multipart form and the `Content-Type` header with its boundary.',
  form_invalid: 'Send one part named `file` with a filename, and at most a few short fields.',
  content_unsupported: 'Convert the file to one of the types named in the message.',
  quota_exceeded: 'Delete objects of the kind named in the message, or have the quota or cap raised.',
  storage_full: 'The operator must free or add space for stored files.',
  storage_unavailable: 'The operator must check the disk or bucket where files are stored.',
  provider_key_missing:
    "Store a key for the provider in the workspace's vault, under the name in the message.",
  generation_unknown:
    'Use the `x-generation-id` of the answer and a key of the same workspace. The record is available two seconds after the call ends.',
  content_not_kept: 'Store prompts and answers in your own program.',
  video_unfinished: 'Poll the job until it has completed, or set `callback_url` for a webhook.',
  video_jobs_full: "Wait until some of the workspace's jobs have ended.",
  video_expired: 'Submit the job again, and download its clip in time.',
  not_supported: 'Leave out the member named in `metadata.issues`; Sluice runs no plugins or server tools.',
  secret_not_released:
    'Bind the secret to exactly the host that is called; parent domains and other spellings do not match.',
  destination_refused: 'Call a public address over https; the operator can allow other addresses.',
  validation_stale: 'Validate the endpoint again, and then activate it.',
  not_validated: 'Validate the endpoint first: its checks show the problem.',
  idempotency_mismatch: 'Use a new `Idempotency-Key` for each different request.',
  idempotency_running:
    'Wait until the first request has ended, then repeat the request with the same `Idempotency-Key`.',
  busy: 'Wait for the time in `Retry-After`; the dashboard shows the operator the bottleneck.',
  store_unavailable:
    'The operator must check Postgres and Redis; calls work again when both databases answer.',
  draining: 'Try again at once: another node, or this node after its restart, will answer.',
  internal: 'Send the operator the `request_id`: the log has the cause.',
  scope_missing:
    'Use a key with the scope named in the message, or have a management key add the scope: `PATCH /api/v1/keys/{hash}` with `scopes`.',
  admin_host_refused:
    'Open the admin port as `localhost` or by its IP address, or set `SLUICE_ADMIN_HOST` to the host name.',
  organization_unknown: 'Use an id or name from `sluice organizations list`.',
  workspace_unknown: 'Use an id or slug from `GET /api/v1/workspaces`.',
  reference_ambiguous: 'Name the object by its id, which is unique.',
  name_taken: 'Choose another name for the vault, or use the vault with that name (`sluice vault list`).',
  slug_taken: 'Choose another slug, or change the slug of the other workspace.',
  budget_unknown:
    'Set the budget first (`PUT /api/v1/workspaces/{workspace_ref}/budgets/{interval}`), or name an interval that `GET …/budgets` lists.',
  budgets_unordered: 'Choose amounts with lifetime > monthly > weekly > daily; raise larger budgets first.',
  credit_out_of_range: 'Add or subtract an amount that keeps the total within the range in the message.',
  api_key_unknown: 'Use a `hash` from `GET /api/v1/keys`; the hash is not the key itself.',
  key_unscoped: 'Leave `scopes` out, or create an inference or intern key.',
  user_unknown: 'Use an id from `GET /api/v1/organization/members`.',
  default_workspace_kept: 'Make another workspace the default first, or confirm as described in the message.',
  callback_url_invalid:
    'Use a public `https` URL without a password; the operator can allow private addresses with `SLUICE_EGRESS_ALLOW`.',
  stateless:
    'Send the earlier items in the request and leave `store` and `previous_response_id` out, or give the workspace its own key for the provider.',
  count_unavailable:
    "Use the model's tokenizer, or read `usage` in an answer; Sluice can count tokens only for Anthropic and Google models.",
  workspace_forbidden:
    'Use a key of the workspace, or leave `workspace_id` out: the key determines the workspace.',
  filename_invalid: 'Send a plain name, such as `report.pdf`.',
  file_empty: 'Check whether the client opened the right file, and upload a file that is not empty.',
  file_too_large: 'Split the file, or upload a smaller file: the message names the limit.',
  provider_key_unfit:
    "Store the secret again, bound to the provider's host, with only the key: no line breaks or quotes.",
  provider_key_unknown: 'Use an id from `GET /api/v1/byok`.',
  provider_key_exists: 'Replace the key with `PATCH /api/v1/byok/{id}`, or delete it first.',
  file_unknown: 'Use an id from `GET /api/v1/files`, called with a key of the same workspace.',
  video_unknown: 'Use an id from `GET /api/v1/videos`, called with a key of the same workspace.',
  video_unsupported: 'Choose values that `GET /api/v1/videos/models` lists for the model.',
  video_previous_unfit:
    "Continue with the first job's model and provider, or start a job that does not continue another.",
  video_ended: 'The job has already ended: read its state with `GET /api/v1/videos/{job_id}`.',
  video_output_unknown: 'Start with `index=0`; the job lists its clips in `unsigned_urls`.',
  video_clip_invalid:
    'Submit the job again; if jobs often fail in this way, report the problem to the provider.',
  video_clip_gone: 'Submit the job again: the provider removed the clip before Sluice could load it.',
  delivery_unknown: 'Use an id from `sluice webhooks list`.',
  delivery_waiting: 'Wait for the next attempt, which `sluice webhooks list` shows.',
  container_file_unknown: 'Use a path exactly as listed for the container.',
  file_not_downloadable: 'Keep the original of each file that you upload.',
  range_unsatisfiable: 'Request only bytes within the size in `Content-Range`, or leave `Range` out.',
  container_too_large: 'List a subfolder, or remove files that are no longer needed.',
  container_path_invalid: 'Use a relative path without `..` segments or symbolic links.',
  containers_unsupported: 'Run the node on Linux, or keep containers in a bucket (`SLUICE_OBJECTS=s3://…`).',
  content_missing: 'Upload the file again, or have the operator restore the folder or bucket from a backup.',
  content_damaged:
    'Upload the file again, or have the operator check the disk with `sluice files verify` and restore the file.',
  upload_lost: 'Upload again over a faster connection, or in smaller files.',
  programme_closed: 'The operator must enable interns for the workspace with a management key.',
  regional_refused: 'Use the main hostname of the installation.',
  vault_writes_disabled: 'Wait until the operator enables writes again; reads and calls still work.',
  secret_unknown: 'Use a name from `GET /api/v1/vault/secrets`; names are case-sensitive.',
  secret_exists: 'Replace the value with `PUT`, or choose another name.',
  secret_uncopyable: 'Store the secret again with its `hosts`, then copy it.',
  intern_in_transfer: 'Wait a few seconds and repeat the request.',
  intern_unknown: "Use an id from the workspace's list of interns.",
  vault_unknown: 'Use an id from `sluice vault list`.',
  vault_full: 'Delete unused secrets, or use a second vault.',
  endpoint_unknown: 'Use an id from `GET /api/v1/private-endpoints` or `sluice endpoints list`.',
  endpoints_full: 'Delete unused private endpoints.',
  workspace_endpoints_full: 'Disable an endpoint of the workspace, or use another workspace.',
  endpoint_not_draft: 'Create a new private endpoint with the changed values, and disable the old one.',
  endpoint_active: 'Disable the endpoint first, or leave the endpoint as it is: it already serves calls.',
  endpoint_not_active: 'Activate the draft, or enable the disabled endpoint first.',
  endpoint_not_disabled: 'Activate a draft with `/activate`; an active endpoint needs no change.',
  endpoint_was_active:
    'When no call uses the endpoint any more, send the delete request again without `draft_only`.',
  probe_running: 'Wait a second and repeat the request.',
  endpoint_changed: 'Validate the changed endpoint again.',
  base_url_invalid:
    'Use the `https` URL of the API with its version, such as `https://models.example/v1`, on a public host or a host in `SLUICE_EGRESS_ALLOW`.',
  provider_unsupported:
    "Add a `base_url`, with the provider `openai-compatible` for a server with OpenAI's API.",
  validation_failed:
    "Correct the setting named by the failed check in `data`: the model id, the key, or the server's API type.",
  probe_slow: 'Check whether the server is running and has loaded the model, then validate again.',
  probe_failed: 'Check the address, port and certificate of the server, then validate again.',
  credential_unavailable: 'Store the secret again under its name, bound to the host of the endpoint.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for different values, or send the first values again.',
  preset_unknown: 'Use a slug from `GET /api/v1/presets`.',
  preset_version_unknown:
    'Use a version from `GET /api/v1/presets/{slug}/versions`, or leave out `@<version>` to use the designated version.',
  preset_conflict: 'Read the current preset, then save again.',
  preset_archived: 'Save a request under the slug to reactivate the preset, or use another preset.',
  previous_response_unsupported: 'Save the request with its full history in `input`.',
  preset_too_large: 'Save fewer messages, and send long texts with each call instead.',
  presets_full: 'Archive or delete unused presets.',
  preset_reference_invalid: 'Write `@preset/<slug>`, `@preset/<slug>@<version>` or `<model>@preset/<slug>`.',
  presets_differ: 'Name only one preset.',
  preset_without_model: 'Send `model` too, or save the preset with a model.',
  mapping_unknown: 'Use an id from the list of group mappings.',
  mapping_role_differs: 'Change the role of the existing mapping instead of creating another.',
  scim_group_unknown:
    'Assign the group to Sluice in your identity provider, wait for the next sync, and repeat the request.',
  sync_job_unknown:
    'Use the id of the sync job that was returned when the mapping was changed; old sync jobs are deleted.',
  scim_user_taken:
    'Correct the duplicate in your identity provider, or configure it to match the existing user by `userName`.',
  scim_group_taken: 'Rename one of the groups in your identity provider.',
  scim_member_unknown:
    'Have your identity provider create users before groups; most identity providers retry by themselves.',
  scim_filter_invalid:
    'Filter by `userName`, `externalId` or `displayName` with `eq`, as identity providers do.',
  scim_too_many: 'Add `excludedAttributes=members` to the request.',
  scim_filter_refused: 'Leave `filter` out, or ask for a single resource by its id.',
  scim_path_invalid:
    'Name an attribute that `GET /scim/v2/Schemas` lists, such as `emails[type eq "work"].value`.',
  scim_target_missing: 'Read the resource, then select an existing value, or add the value instead.',
  scim_value_invalid: 'Send the attributes that `GET /scim/v2/Schemas` requires, each with its type.',
  scim_immutable: "Remove the attribute from the identity provider's requests.",
  scim_resource_unknown:
    'Use `/Users`, `/Groups` or a discovery path under `/scim/v2`; take ids from the list at the same path.',
  scim_version_differs: 'Read the resource again, and repeat the change with its new `meta.version`.',
  scim_tokens_full: 'Revoke a token that no identity provider uses.',
  scim_token_unknown: 'Use an id from `sluice scim tokens list`.',
  scim_unsupported:
    'Disable this feature in your identity provider. `GET /scim/v2/ServiceProviderConfig` lists the supported features.',
  data_key_unavailable:
    'The operator must give the node its root key (`SLUICE_ROOT_KEY_FILE`); `sluice vault status` names the missing key.',
  client_gone: "Increase the client's timeout, or request a stream.",
}

export function remedyOf(name: FailureName): string {
  return REMEDIES[name]
}
