import type { FailureName } from './failures.ts'

/** Sluice reserves the price of the longest answer that a call may get. */
const SMALLER_MAXIMUM =
  'Send `max_tokens` of at most `metadata.affordable_output_tokens`, or set `default_max_output_tokens` on the key; ' +
  'where that number is 0 or too small,'
const RESET = 'A limit with an interval also resets at `metadata.reset_at`; a lifetime limit never does.'

/**
 * What a caller or an operator can do about a failure, beyond the failure's text; the pages of the error
 * types show it. C39.
 */
const REMEDIES: Readonly<Record<FailureName, string>> = {
  route_unknown:
    'Compare the path with the API reference: every path of the API begins with /api/v1, those of SCIM with /scim/v2.',
  not_served:
    'Use what the message suggests instead, or send such requests to another service: Sluice serves chat, ' +
    'embeddings, videos, files, secrets and the management of them.',
  method_not_allowed: 'Use one of the methods of the `Allow` header.',
  params_invalid: 'Correct the segment of the path that `metadata.issues` names.',
  query_invalid:
    'Correct the parameter that `metadata.issues` names; integers are plain decimal digits, and each parameter is given once.',
  header_invalid: 'Correct the header that `metadata.issues` names.',
  credentials_missing:
    'Send `Authorization: Bearer <key>`. The first keys of an installation are in `first-keys.json` of its data directory.',
  key_unknown:
    'Check whether the key was cut, deleted or made on another installation; `sluice keys list` shows those that exist.',
  key_expired: 'Ask for a new key, or rotate it before it expires next time.',
  key_disabled: 'Ask the manager of the key to enable it again.',
  wrong_key_kind: 'Call models with an inference key, and manage with a management key.',
  operator_only: 'Ask the operator of the installation.',
  session_ended:
    'Sign in on the dashboard again. Programs send a management key to `/api/v1` of the admin port, and need no session.',
  page_foreign: 'Open the dashboard at the address of the admin port, and sign in there.',
  rate_limited:
    'Wait for the time in `Retry-After`, space calls evenly, or have the limit in `metadata.limit_source` or its burst raised.',
  tokens_over_limit:
    'Send a shorter prompt, or ask for fewer tokens (`max_tokens`), or have `rate_limit_tpm` raised.',
  credit_exhausted: `${SMALLER_MAXIMUM} add credit to the organization.`,
  key_limit_exceeded: `${SMALLER_MAXIMUM} raise the limit of the key, or use another key. ${RESET}`,
  budget_exceeded: `${SMALLER_MAXIMUM} raise the budget of the workspace. ${RESET}`,
  cost_unbounded:
    'Where the answer alone has no bound, send `max_tokens`, or give the key a `default_max_output_tokens`. ' +
    'Leave out the member that `metadata.issues` names, or give it the value that is expected. ' +
    'Give an endpoint without a price one in the catalogue, or `"free": true`; or lift the limit that counts the call.',
  model_not_allowed: 'Use a model that the key allows, or have its list of models changed.',
  content_type_unsupported: 'Send `Content-Type: application/json`.',
  body_malformed:
    'Correct the body at the line and column in the message: strict JSON in UTF-8 has no byte order mark, comments or trailing commas.',
  body_invalid: 'Correct the members that `metadata.issues` names by their JSON pointers.',
  body_too_large: 'Split the input into several calls.',
  body_slow: 'Send the body without long pauses, and look at the network between.',
  model_unknown:
    'Use an id from `GET /api/v1/models?output_modalities=all`; the message suggests similar ones.',
  model_unfit:
    'Use a model from `GET /api/v1/models`, `GET /api/v1/embeddings/models` or `GET /api/v1/videos/models`.',
  field_unsupported:
    'Leave the field out that `metadata.issues` names, or use a model whose provider supports it.',
  media_unavailable:
    'Check whether the address is public, speaks HTTPS and answers within 10 s; or send the content, or a file of the workspace.',
  input_unsupported: 'Send a kind of input named in the message, or use another model.',
  endpoint_excluded: 'Relax the preference of `provider` named in the message.',
  endpoint_unconfigured:
    'The operator sets the environment variable of the key, shown by `sluice models list` and the log.',
  endpoint_unavailable: 'Try again later; the operator sees on the dashboard which provider fails.',
  hops_exceeded:
    'The operator corrects the `base_url` of the provider or private endpoint that leads back to this node.',
  upstream_failed:
    'Try again. If it keeps failing, the operator runs `sluice logs --error upstream_failed`: it shows the provider, ' +
    'and its status or why there was no answer. The text of the provider is in its own log.',
  upstream_invalid:
    'Try again; if it keeps failing, the provider does not use the protocol in the catalogue.',
  upstream_too_large: 'Request less at once.',
  upstream_credential: 'The operator replaces the key of the provider, or settles its account there.',
  upstream_own_key:
    'Replace the secret in the vault of the workspace, or settle the account of its key at the provider; or remove the ' +
    "secret, so that the operator's key is used.",
  upstream_overloaded: 'Try again after the time in `Retry-After`.',
  upstream_slow: 'Try again, or request less at once.',
  upstream_refused: 'Change the input according to the text of the provider in the message.',
  deadline_exceeded: 'Try again with fewer inputs or a smaller `max_tokens` in one call.',
  form_malformed: 'Let a client library write the multipart form, with its boundary in the content type.',
  form_invalid: 'Send one part named `file` with a filename, and few short fields with it.',
  content_unsupported: 'Convert the file to one of the types that the message names.',
  quota_exceeded: 'Delete objects of the kind that the message names, or have the quota or cap raised.',
  storage_full: 'The operator frees or adds space for stored files.',
  storage_unavailable: 'The operator checks the disk or bucket for files.',
  provider_key_missing: "Store the workspace's own key for the provider under the name in the message.",
  generation_unknown:
    'Use the `x-generation-id` of the answer and a key of the same workspace; the record exists two seconds after the end of the call.',
  content_not_kept: 'Store prompts and answers in your own program.',
  video_unfinished: 'Poll the job until it has completed, or set `callback_url` for a webhook.',
  video_jobs_full: 'Wait until jobs of the workspace have ended.',
  video_expired: 'Submit the job again, and download its clip in time.',
  not_supported: 'Leave out the member that `metadata.issues` names; plugins and server tools run elsewhere.',
  secret_not_released:
    'Bind the secret to exactly the host that is called: no parent domain and no other spelling counts.',
  destination_refused: 'Call a public address by https; the operator may allow others.',
  validation_stale: 'Validate the endpoint again, and then activate it.',
  not_validated: 'Validate the endpoint first: its checks say what is wrong.',
  idempotency_mismatch: 'Use a new `Idempotency-Key` for each different request.',
  idempotency_running: 'Wait until the first request has ended, and ask again with the same key.',
  busy: 'Wait as long as `Retry-After` says; the operator sees the bottleneck on the dashboard.',
  store_unavailable: 'The operator checks Postgres and Redis; calls work again when they are back.',
  draining: 'Try again at once: another node or the restarted one answers.',
  internal: 'Send the operator the `request_id`: the log has the cause.',
  scope_missing:
    'Use a key with the scope that the message names, or have a management key add it: `PATCH /api/v1/keys/{hash}` with `scopes`.',
  admin_host_refused:
    'Open the admin port by `localhost` or an IP address, or set `SLUICE_ADMIN_HOST` to the name.',
  organization_unknown: 'Use an id or name from `sluice organizations list`.',
  workspace_unknown: 'Use an id or slug from `GET /api/v1/workspaces`.',
  reference_ambiguous: 'Name the object by its id, which is unique.',
  name_taken: 'Choose another name for the vault, or use the vault that has it: `sluice vault list`.',
  slug_taken: 'Choose another slug, or rename the workspace that has it.',
  budget_unknown:
    'Set the budget first (`PUT /api/v1/workspaces/{workspace_ref}/budgets/{interval}`), or name an interval of `GET …/budgets`.',
  budgets_unordered:
    'Choose amounts that decrease from lifetime over monthly and weekly to daily; change the larger one first.',
  credit_out_of_range: 'Add or take an amount that keeps the sum within the range that the message names.',
  api_key_unknown: 'Use a `hash` from `GET /api/v1/keys`; it is not the key itself.',
  key_unscoped: 'Leave `scopes` out, or create an inference or intern key.',
  user_unknown: 'Use an id from `GET /api/v1/organization/members`.',
  default_workspace_kept: 'Make another workspace the default one first, or confirm as the message says.',
  callback_url_invalid:
    'Give a public `https` address without a password; the operator may allow private ones with `SLUICE_EGRESS_ALLOW`.',
  stateless:
    'Send the earlier items in the request and leave `store` and `previous_response_id` out, or give the workspace its own key of the provider.',
  count_unavailable:
    'Count with the tokenizer of the model, or read `usage` of an answer; models of Anthropic and Google can be counted.',
  workspace_forbidden:
    'Use a key of the workspace, or leave `workspace_id` out: the key says which one is meant.',
  filename_invalid: 'Send the bare name, such as `report.pdf`, without a folder.',
  file_empty: 'Check whether the client opened the right file, and upload it with content.',
  file_too_large: 'Split the file, or upload a smaller one: the message has the most bytes.',
  provider_key_unfit:
    'Store the secret again, with the host of the provider and the key alone: no line break, no quotes.',
  provider_key_unknown: 'Use an id from `GET /api/v1/byok`.',
  provider_key_exists: 'Replace the key with `PATCH /api/v1/byok/{id}`, or delete it first.',
  file_unknown: 'Use an id from `GET /api/v1/files` under a key of the same workspace.',
  video_unknown: 'Use an id from `GET /api/v1/videos` under a key of the same workspace.',
  video_unsupported: 'Choose values that `GET /api/v1/videos/models` lists for the model.',
  video_previous_unfit: 'Continue with the model and provider of the first job, or start a job without it.',
  video_ended: 'Nothing is left to cancel: read the state of the job with `GET /api/v1/videos/{job_id}`.',
  video_output_unknown: 'Start with `index=0`; the job lists its clips in `unsigned_urls`.',
  video_clip_invalid: 'Submit the job again; if that happens often, report it to the provider.',
  video_clip_gone: 'Submit the job again: the provider removed the clip before Sluice could load it.',
  delivery_unknown: 'Use an id from `sluice webhooks list`.',
  delivery_waiting: 'Wait for the next attempt, which `sluice webhooks list` shows.',
  container_file_unknown: 'Use a path exactly as the list of the container shows it.',
  file_not_downloadable: 'Keep the original where it was uploaded from.',
  range_unsatisfiable: 'Ask for bytes below the size in `Content-Range`, or leave `Range` out.',
  container_too_large: 'List a folder below, or remove files that are no longer needed.',
  container_path_invalid: 'Use a relative path of plain names, without `..` and without links.',
  containers_unsupported: 'Run the node on Linux, or keep containers in a bucket (`SLUICE_OBJECTS=s3://…`).',
  content_missing: 'The operator restores the folder or bucket from a backup, or the file is uploaded again.',
  content_damaged:
    'The operator checks the disk with `sluice files verify` and restores the file, or it is uploaded again.',
  upload_lost: 'Upload again over a faster connection, or in smaller files.',
  programme_closed: 'A management key of the operator switches interns on for the workspace.',
  regional_refused: 'Call by the main hostname of the installation.',
  vault_writes_disabled: 'Wait until the operator has enabled writes again; reads and calls go on.',
  secret_unknown: 'Use a name from `GET /api/v1/vault/secrets`; names are case-sensitive.',
  secret_exists: 'Replace the value with `PUT`, or choose another name.',
  secret_uncopyable: 'Store the secret again with its `hosts`, and copy it then.',
  intern_in_transfer: 'Wait some seconds and repeat the request.',
  intern_unknown: 'Use an id from the list of interns of the workspace.',
  vault_unknown: 'Use an id from `sluice vault list`.',
  vault_full: 'Delete secrets that nothing uses, or use a second vault.',
  endpoint_unknown: 'Use an id from `GET /api/v1/private-endpoints` or `sluice endpoints list`.',
  endpoints_full: 'Delete private endpoints that are not used.',
  workspace_endpoints_full: 'Disable an endpoint of the workspace, or use another workspace.',
  endpoint_not_draft: 'Create a new private endpoint with the changed values, and disable the old one.',
  endpoint_active: 'Disable the endpoint first, or leave it: it serves calls.',
  endpoint_not_active: 'Activate the draft, or enable the disabled endpoint first.',
  endpoint_not_disabled: 'Activate a draft with `/activate`; an active endpoint needs nothing.',
  endpoint_was_active: 'Delete without `draft_only`, once no call needs the endpoint.',
  probe_running: 'Wait a second and repeat the request.',
  endpoint_changed: 'Validate the endpoint again as it is now.',
  base_url_invalid:
    'Give the `https` URL of the API with its version, such as `https://models.example/v1`, at a public host or one of `SLUICE_EGRESS_ALLOW`.',
  provider_unsupported:
    "Add a `base_url`, with the provider `openai-compatible` for a server that speaks OpenAI's form.",
  validation_failed:
    'Correct what the failed check in `data` names: the model id, the key, or the form that the server speaks.',
  probe_slow: 'Check whether the server runs and has the model loaded, and validate again.',
  probe_failed:
    'Check whether the address, the port and the certificate of the server are right, and validate again.',
  credential_unavailable: 'Store the secret again under its name, bound to the host of the endpoint.',
  idempotency_key_reused: 'Use a new `Idempotency-Key` for other values, or send the first values again.',
  preset_unknown: 'Use a slug from `GET /api/v1/presets`.',
  preset_version_unknown:
    'Use a version from `GET /api/v1/presets/{slug}/versions`, or leave `@<version>` out for the newest.',
  preset_conflict: 'Read the preset as it is now, and save again.',
  preset_archived: 'Save a request under the slug, which brings the preset back, or use another one.',
  previous_response_unsupported: 'Save the request with its full history in `input`.',
  preset_too_large: 'Save fewer messages, and send long texts with each call.',
  presets_full: 'Archive or delete presets that are not used.',
  preset_reference_invalid: 'Write `@preset/<slug>`, `@preset/<slug>@<version>` or `<model>@preset/<slug>`.',
  presets_differ: 'Name the preset once.',
  preset_without_model: 'Send `model` too, or save the preset with one.',
  mapping_unknown: 'Use an id from the list of group mappings.',
  mapping_role_differs: 'Change the role of the existing mapping instead of creating another.',
  scim_group_unknown:
    'Assign the group to Sluice in the directory, wait for its sync, and repeat the request.',
  sync_job_unknown: 'Use the id returned by the change of a mapping; old jobs are removed.',
  scim_user_taken: 'Correct the duplicate in the directory, or let it match the existing user by `userName`.',
  scim_group_taken: 'Rename one of the groups in the directory.',
  scim_member_unknown: 'Let the directory create users before groups; most directories retry by themselves.',
  scim_filter_invalid: 'Filter by `userName`, `externalId` or `displayName` with `eq`, as directories do.',
  scim_too_many: 'Add `excludedAttributes=members` to the request.',
  scim_filter_refused: 'Leave `filter` out, or ask for a single resource by its id.',
  scim_path_invalid:
    'Name an attribute as in `GET /scim/v2/Schemas`, such as `emails[type eq "work"].value`.',
  scim_target_missing: 'Read the resource, and select a value that it has, or add the value instead.',
  scim_value_invalid: 'Send the attributes that `GET /scim/v2/Schemas` requires, each with its type.',
  scim_immutable: 'Remove the attribute from the requests of the directory.',
  scim_resource_unknown:
    'Take `/Users`, `/Groups` or one of the discovery paths below `/scim/v2`, and an id of its list.',
  scim_version_differs: 'Read the resource again, and repeat the change with its new `meta.version`.',
  scim_tokens_full: 'Revoke a token that no directory uses.',
  scim_token_unknown: 'Use an id from `sluice scim tokens list`.',
  scim_unsupported:
    'Switch the function off in the directory: `GET /scim/v2/ServiceProviderConfig` lists what is supported.',
  data_key_unavailable:
    'The operator gives the node the root key again (`SLUICE_ROOT_KEY_FILE`); `sluice vault status` names the missing one.',
  client_gone: 'Let the client wait longer, or ask for a stream.',
}

export function remedyOf(name: FailureName): string {
  return REMEDIES[name]
}
