import type { FailureName, FailureRow } from './failures.ts'

/** Sluice reserves the price of the longest answer that a call may get. */
const SMALLER_MAXIMUM =
  'Send `max_tokens` of at most `metadata.affordable_output_tokens`, set `default_max_output_tokens` on the key'
const RESET = 'A limit with an interval also resets at `metadata.reset_at`; a lifetime limit never does.'

/**
 * What a caller or an operator can do about a failure, beyond the failure's text; the pages of the error
 * types show it. C39.
 */
const REMEDIES: Readonly<Partial<Record<FailureName, string>>> = {
  route_unknown:
    'Compare the path with the API reference: every path of the API begins with /api/v1, those of SCIM with /scim/v2.',
  not_served:
    'Take what the message names in its place, or send such requests to another service: this one serves chat, ' +
    'embeddings, videos, files, secrets and the management of them.',
  method_not_allowed: 'Use one of the methods of the `Allow` header.',
  params_invalid: 'Correct the segment of the path that `metadata.issues` names.',
  query_invalid:
    'Correct the parameter that `metadata.issues` names; integers are plain decimal digits, and each parameter is given once.',
  header_invalid: 'Correct the header that `metadata.issues` names.',
  credentials_missing:
    'Send `Authorization: Bearer <key>`. The first keys of an installation are in `first-keys.json` of its data directory.',
  key_unknown:
    'Look whether the key was cut, deleted or made on another installation; `sluice keys list` shows those that exist.',
  key_expired: 'Ask for a new key, or rotate it before it expires next time.',
  key_disabled: 'Ask who manages the key to enable it again.',
  wrong_key_kind: 'Call models with an inference key, and manage with a management key.',
  operator_only: 'Ask the operator of the installation.',
  session_ended:
    'Sign in on the dashboard again. Programs send a management key to `/api/v1` of the admin port, and need no session.',
  page_foreign: 'Open the dashboard at the address of the admin port, and sign in there.',
  rate_limited:
    'Wait as `Retry-After` says, space calls evenly, or have the limit raised that `metadata.limit_source` names, or its burst.',
  tokens_over_limit:
    'Send a shorter prompt, or ask for fewer tokens (`max_tokens`), or have `rate_limit_tpm` raised.',
  credit_exhausted: `${SMALLER_MAXIMUM}, or add credit to the organization.`,
  key_limit_exceeded: `${SMALLER_MAXIMUM}, or raise the limit of the key. ${RESET}`,
  budget_exceeded: `${SMALLER_MAXIMUM}, or raise the budget of the workspace. ${RESET}`,
  cost_unbounded:
    'Give the endpoint a price in the catalogue, or `"free": true`; leave out the member that `metadata.issues` names, ' +
    'or give it the value that is expected; or lift the limit that counts the call. ' +
    'Where the answer alone has no bound, ask for a maximum, or give the key a `default_max_output_tokens`.',
  model_not_allowed: 'Use a model that the key allows, or have its list of models changed.',
  content_type_unsupported: 'Send `Content-Type: application/json`.',
  body_malformed: 'Send strict JSON in UTF-8, without a byte order mark, comments or trailing commas.',
  body_invalid: 'Correct the members that `metadata.issues` names by their JSON pointers.',
  body_too_large: 'Send less at once: split the input over several calls.',
  body_slow: 'Send the body without long pauses, and look at the network between.',
  model_unknown:
    'Take an id of `GET /api/v1/models?output_modalities=all`: the message names those that are near.',
  model_unfit:
    'Take a model of `GET /api/v1/models`, `GET /api/v1/embeddings/models` or `GET /api/v1/videos/models`.',
  field_unsupported:
    'Leave the field out that `metadata.issues` names, or take a model whose provider speaks a form that has it.',
  media_unavailable:
    'Look whether the address is public, speaks HTTPS and answers within 10 s; or send the content, or a file of the workspace.',
  input_unsupported: 'Send a form of input that the message names, or take another model.',
  endpoint_excluded: 'Loosen the preference of `provider` that the message names.',
  endpoint_unconfigured:
    "The operator sets the environment variable of the provider's key: `sluice models list` and the log name it.",
  endpoint_unavailable: 'Try again later; the operator sees on the dashboard which provider fails.',
  hops_exceeded:
    'The operator corrects the `base_url` of the provider or private endpoint that leads back to this node.',
  upstream_failed:
    'Try again; if it goes on, the operator looks into the log for what the provider answered.',
  upstream_invalid:
    'Try again; if it goes on, the provider does not speak the protocol that the catalogue says.',
  upstream_too_large: 'Ask for less at once.',
  upstream_credential: 'The operator replaces the key of the provider.',
  upstream_own_key:
    "Replace the secret in the vault of the workspace, or remove it, so that the operator's key is used.",
  upstream_overloaded: 'Try again after a while, as `Retry-After` says.',
  upstream_slow: 'Try again, or ask for less at once.',
  upstream_refused: "Change the input as the provider's words in the message say.",
  deadline_exceeded: 'Try again, or ask for less at once.',
  form_malformed: 'Let a client library write the multipart form, with its boundary in the content type.',
  form_invalid: 'Send one part named `file` with a filename, and few short fields beside it.',
  content_unsupported: 'Convert the file to one of the types that the message names.',
  quota_exceeded: 'Remove files of the workspace, or have its quota raised.',
  storage_full: 'The operator frees or adds room where files are stored.',
  storage_unavailable: 'The operator looks at the disk or bucket of files.',
  provider_key_missing: "Store the workspace's own key for the provider under the name in the message.",
  generation_unknown:
    'Ask with the `x-generation-id` of the answer and a key of the same workspace; a record is there two seconds after the call has ended.',
  content_not_kept: 'Keep what your program sends and receives where it runs.',
  video_unfinished: 'Poll the job until it has completed, or have a webhook sent.',
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
  busy: 'Wait as `Retry-After` says; the operator sees what is short on the dashboard.',
  store_unavailable: 'The operator looks at Postgres and Redis; calls work again when they are back.',
  draining: 'Try again at once: another node or the restarted one answers.',
  internal: 'Tell the operator the `request_id`: the log has the cause under it.',
}

const BY_RETRY: Readonly<Record<FailureRow['retry'], string>> = {
  no: 'The same call cannot succeed; the message says why.',
  after_change: 'Change what the message names, and call again.',
  backoff: 'Try again after a while, each time later.',
}

export function remedyOf(name: FailureName, { retry }: Pick<FailureRow, 'retry'>): string {
  return REMEDIES[name] ?? BY_RETRY[retry]
}
