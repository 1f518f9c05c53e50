import { API_PREFIX, SCIM_PREFIX } from './api-prefix.ts'
import { ACTIVE_ENDPOINTS_MAX, PRIVATE_ENDPOINTS_MAX } from './endpoints/endpoint-limits.ts'
import type { Failure, FailureName } from './failures.ts'
import { FILE_BYTES_MAX } from './files/file-limits.ts'
import { HOPS_MAX } from './models/provider-limits.ts'
import { USD_MAX } from './money/money-limits.ts'
import { CAPPED_TEXTS, CAPS_DEFAULT } from './operator/caps.ts'
import { PRESETS_MAX } from './presets/preset-limits.ts'
import { SCIM_LISTED_MEMBERS_MAX, SCIM_TOKENS_MAX } from './scim/scim-limits.ts'
import { SECRETS_PER_VAULT_MAX } from './vault/vault-limits.ts'
import { VIDEO_JOBS_OPEN_MAX, VIDEO_OPEN_CHARS_MAX } from './videos/video-limits.ts'

/** A request that demonstrates a failure. */
export interface SampleCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Path with its query, as in a shell. */
  readonly path: string
  /** The environment variable with the key; null: the call sends no key. */
  readonly key: 'SLUICE_KEY' | 'SLUICE_MANAGEMENT_KEY' | 'SCIM_TOKEN' | null
  /** JSON, or a text that is sent unchanged. */
  readonly body?: object | string
  /** Further arguments of `curl`, quoted for a shell. */
  readonly options?: readonly string[]
}

export interface FailureSample {
  /** The calls, of which the last one fails. Absent: no caller can cause the failure by requests alone. */
  readonly calls?: readonly SampleCall[]
  /** Other data of an example: values of the placeholders in its message, and metadata. */
  readonly failure?: Omit<Failure, 'name'>
}

type More = Omit<SampleCall, 'method' | 'path' | 'body' | 'key'>

function read(path: string, key: SampleCall['key'] = 'SLUICE_KEY', more: More = {}): SampleCall {
  return { method: 'GET', path: API_PREFIX + path, key, ...more }
}

function send(
  path: string,
  body: object | string,
  key: SampleCall['key'] = 'SLUICE_KEY',
  more: More & Partial<Pick<SampleCall, 'method'>> = {},
): SampleCall {
  return { method: 'POST', path: API_PREFIX + path, key, body, ...more }
}

function scim(path: string, more: Partial<SampleCall> = {}): SampleCall {
  return { method: 'GET', path: SCIM_PREFIX + path, key: 'SCIM_TOKEN', ...more }
}

const MANAGING = 'SLUICE_MANAGEMENT_KEY'
const NO_ID = '00000000-0000-4000-8000-000000000000'
const HELLO = [{ role: 'user', content: 'Hello' }]
const chat = (more: object): SampleCall =>
  send('/chat/completions', { model: 'sluice/echo-1', messages: HELLO, ...more })
const embed = (more: object): SampleCall =>
  send('/embeddings', { model: 'sluice/lexical-1', input: 'Hello', ...more })
const film = (more: object): SampleCall =>
  send('/videos', { model: 'sluice/clip-1', prompt: 'A cat', ...more })
const upload = (...options: readonly string[]): SampleCall => ({
  ...{ method: 'POST', path: `${API_PREFIX}/files`, key: 'SLUICE_KEY', options },
})
const endpoint = (more: object): SampleCall =>
  send('/private-endpoints', { model_permaslug: 'acme/own', upstream_model_id: 'own', ...more }, MANAGING)

const issue = (path: string, message: string, expected: string): Omit<Failure, 'name'> => ({
  metadata: { issues: [{ path, message, expected }] },
})
const malformed = (offset: number, expected: string): Omit<Failure, 'name'> => {
  const column = offset + 1
  const message = `has an error at line 1, column ${column} (byte offset ${offset})`
  return { metadata: { issues: [{ path: '', message, expected }], line: 1, column, offset } }
}
const provider = { metadata: { provider_name: 'OpenAI' } } as const
const money = (interval: string): Omit<Failure, 'name'> => ({
  metadata: { ...{ limit: 5, spend: 4.98, interval }, affordable_output_tokens: 1_200 },
})

/**
 * Contents of a failure's page, apart from its texts. A failure has no entry if its message has no
 * placeholders and no caller can cause it by one request.
 */
export const FAILURE_SAMPLES: Readonly<Partial<Record<FailureName, FailureSample>>> = {
  route_unknown: { calls: [read('/v1/models')] },
  not_served: {
    calls: [send('/moderations', { input: 'Hello' })],
    failure: {
      fields: {
        what: '`/api/v1/moderations`',
        instead:
          'chats, in which a model can judge a text (`POST /api/v1/chat/completions` with `response_format`): ' +
          'send moderation calls directly to the provider',
      },
    },
  },
  method_not_allowed: {
    calls: [{ ...read('/models'), method: 'PUT' }],
    failure: { fields: { allowed: 'GET, HEAD' } },
  },
  params_invalid: {
    calls: [send('/workspaces/default/budgets/hourly', { limit: 5 }, MANAGING, { method: 'PUT' })],
    failure: issue(
      '/interval',
      'is not one of the allowed values',
      'one of "daily", "weekly", "monthly", "lifetime"',
    ),
  },
  query_invalid: {
    calls: [read('/models?context=large')],
    failure: issue('/context', 'is not a number', 'integer of at least 0'),
  },
  header_invalid: {
    calls: [{ ...embed({}), options: ["-H 'Content-Encoding: gzip'"] }],
    failure: issue('/content-encoding', 'is not supported', 'identity'),
  },
  credentials_missing: {
    calls: [read('/key', null)],
    failure: { fields: { header: 'Authorization: Bearer <key>' } },
  },
  key_unknown: { calls: [read('/key', null, { options: ["-H 'Authorization: Bearer sk-sluice-v1-cut'"] })] },
  wrong_key_kind: { calls: [read('/keys')], failure: { fields: { kind: 'a management key' } } },
  scope_missing: { failure: { fields: { scope: '`files:read`' } } },
  workspace_unknown: { calls: [read('/workspaces/none', MANAGING)] },
  reference_ambiguous: { failure: { fields: { what: 'workspaces', remedy: 'name one by its id' } } },
  slug_taken: { calls: [send('/workspaces', { name: 'Second', slug: 'default' }, MANAGING)] },
  rate_limited: {
    failure: {
      fields: { holder: 'key', limit: 60, what: 'requests a minute (one every 1 s, burst 10)', retry: 1 },
      metadata: {
        limit_source: 'key_rate_limit',
        limit_kind: 'requests',
        limit: 60,
        reset_at: '2026-11-21T12:00:01.000Z',
        headers: {
          'X-RateLimit-Limit': '60',
          'X-RateLimit-Remaining': '0',
          'X-RateLimit-Reset': '1795262401000',
        },
      },
      retryAfterS: 1,
    },
  },
  tokens_over_limit: { failure: { fields: { estimated: 12_000, limit: 10_000, holder: 'key' } } },
  credit_exhausted: { failure: { metadata: { scope: 'organization', affordable_output_tokens: 1_200 } } },
  key_limit_exceeded: { failure: money('monthly') },
  budget_exceeded: { failure: { ...money('daily'), fields: { interval: 'daily' } } },
  cost_unbounded: {
    failure: {
      fields: { scope: 'key' },
      detail: 'Send `max_tokens`, or set `default_max_output_tokens` on the key.',
      metadata: { limit_source: 'key_limit', scope: 'key' },
    },
  },
  credit_out_of_range: { failure: { fields: { limit: USD_MAX } } },
  api_key_unknown: { calls: [read(`/keys/${'0'.repeat(64)}`, MANAGING)] },
  key_unscoped: {
    calls: [send('/keys', { name: 'ci', kind: 'management', scopes: ['inference'] }, MANAGING)],
  },
  callback_url_invalid: { calls: [film({ callback_url: 'http://127.0.0.1/done' })] },
  content_type_unsupported: {
    calls: [{ ...embed({}), options: ["-H 'Content-Type: text/plain'"] }],
    failure: issue(
      '/content-type',
      'is not a JSON content type',
      'application/json, or a type that ends in +json',
    ),
  },
  body_malformed: {
    calls: [send('/embeddings', '{"model": "sluice/lexical-1", "input":}')],
    failure: malformed(38, 'an object, a list, a string in double quotes, a number, true, false or null'),
  },
  body_invalid: {
    calls: [send('/chat/completions', { model: 'sluice/echo-1' })],
    failure: issue('/messages', 'is required', 'array of objects'),
  },
  body_too_large: { failure: { fields: { limit: 33_554_432 } } },
  model_unknown: {
    calls: [chat({ model: 'sluice/echo-2' })],
    failure: { detail: 'The catalogue has no `sluice/echo-2`. Nearest: `sluice/echo-1`.' },
  },
  model_unfit: {
    calls: [chat({ model: 'sluice/lexical-1' })],
    failure: { detail: '`sluice/lexical-1` makes embeddings.' },
  },
  stateless: {
    calls: [send('/responses', { model: 'sluice/echo-1', input: 'Hello', previous_response_id: 'resp_1' })],
    failure: issue(
      '/previous_response_id',
      'needs an account with the provider',
      'the whole conversation in the request',
    ),
  },
  endpoint_excluded: { calls: [embed({ provider: { only: ['none'] } })] },
  hops_exceeded: { failure: { fields: { hops: HOPS_MAX + 1 } } },
  upstream_failed: { failure: provider },
  upstream_invalid: { failure: provider },
  upstream_too_large: { failure: { ...provider, fields: { limit: 33_554_432 } } },
  upstream_credential: { failure: provider },
  upstream_own_key: { failure: { ...provider, fields: { secret: 'openai_key' } } },
  upstream_overloaded: { failure: { ...provider, retryAfterS: 5 } },
  upstream_slow: { failure: provider },
  upstream_refused: {
    failure: {
      metadata: { provider_name: 'OpenAI', provider_code: 'invalid_value', provider_param: 'temperature' },
    },
  },
  form_malformed: {
    calls: [upload("-H 'Content-Type: multipart/form-data; boundary=x'", "--data-binary 'no form'")],
  },
  form_invalid: { calls: [upload('-F note=hello')] },
  file_empty: { calls: [upload("-F 'file=@/dev/null;filename=empty.txt'")] },
  file_too_large: { failure: { fields: { limit: FILE_BYTES_MAX } } },
  content_unsupported: {
    failure: { fields: { found: 'application/zip', accepted: 'image/png, image/jpeg' } },
  },
  provider_key_missing: {
    failure: { fields: { provider: 'OpenAI', secret: 'openai_key', host: 'api.openai.com', slug: 'openai' } },
  },
  provider_key_unfit: { failure: { fields: { secret: 'openai_key' } } },
  provider_key_exists: { failure: { fields: { secret: 'openai_key', provider: 'openai', id: NO_ID } } },
  file_unknown: { calls: [read('/files/file_none')] },
  generation_unknown: { calls: [read('/generation?id=gen-none')] },
  content_not_kept: { calls: [read('/generation/content?id=gen-none')] },
  video_unknown: { calls: [read(`/videos/${NO_ID}`)] },
  video_unsupported: {
    calls: [film({ duration: 99 })],
    failure: issue('/duration', 'is not supported by the model', 'one of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10'),
  },
  video_jobs_full: { failure: { fields: { limit: VIDEO_JOBS_OPEN_MAX, chars: VIDEO_OPEN_CHARS_MAX } } },
  delivery_unknown: { calls: [send(`/admin/webhooks/${NO_ID}/replay`, {}, MANAGING)] },
  range_unsatisfiable: { failure: { fields: { size: 1_024 } } },
  quota_exceeded: {
    failure: {
      fields: {
        ...{ limit: CAPS_DEFAULT.api_keys, unit: CAPPED_TEXTS.api_keys },
        ...{ have: 'have', owner: 'organization' },
      },
    },
  },
  vault_full: { failure: { fields: { limit: SECRETS_PER_VAULT_MAX } } },
  secret_not_released: { failure: { fields: { name: 'github_token' } } },
  not_supported: {
    calls: [chat({ plugins: [{ id: 'web' }] })],
    failure: issue('/plugins', 'is not available', 'no plugin'),
  },
  destination_refused: {
    calls: [
      {
        ...{ method: 'GET', path: '/egress/127.0.0.1/', key: null },
        options: ['-H "x-sluice-key: $SLUICE_KEY"'],
      },
    ],
  },
  endpoint_unknown: { calls: [read(`/private-endpoints/${NO_ID}`, MANAGING)] },
  endpoints_full: { failure: { fields: { limit: PRIVATE_ENDPOINTS_MAX } } },
  workspace_endpoints_full: { failure: { fields: { limit: ACTIVE_ENDPOINTS_MAX } } },
  base_url_invalid: {
    calls: [endpoint({ provider_slug: 'openai-compatible', base_url: 'http://127.0.0.1/v1' })],
    failure: issue(
      '/base_url',
      'begins with http:',
      'the URL with https:; the operator can allow plain HTTP with SLUICE_EGRESS_ALLOW',
    ),
  },
  provider_unsupported: {
    calls: [endpoint({ provider_slug: 'bedrock' })],
    failure: { fields: { provider: 'bedrock' } },
  },
  validation_failed: { failure: { fields: { reason: 'model_not_found' } } },
  probe_failed: { failure: { fields: { reason: 'upstream_error' } } },
  preset_unknown: { calls: [chat({ model: '@preset/none' })] },
  preset_too_large: { failure: { fields: { limit: 262_144 } } },
  presets_full: { failure: { fields: { limit: PRESETS_MAX } } },
  preset_reference_invalid: { calls: [chat({ model: '@preset/' })] },
  presets_differ: { calls: [chat({ model: '@preset/one', preset: 'two' })] },
  previous_response_unsupported: {
    calls: [
      send(
        '/presets/support/responses',
        { model: 'sluice/echo-1', input: 'Hello', previous_response_id: 'resp_1' },
        MANAGING,
      ),
    ],
  },
  mapping_unknown: {
    calls: [{ ...read(`/scim/group-mappings/${NO_ID}?keep_members=true`, MANAGING), method: 'DELETE' }],
  },
  mapping_role_differs: { failure: { fields: { role: 'member' } } },
  sync_job_unknown: { calls: [read(`/scim/sync-jobs/${NO_ID}`, MANAGING)] },
  scim_filter_invalid: { calls: [scim('/Users?filter=userName')] },
  scim_too_many: { failure: { fields: { limit: SCIM_LISTED_MEMBERS_MAX } } },
  scim_filter_refused: { calls: [scim('/Schemas?filter=id')] },
  scim_value_invalid: {
    calls: [
      scim('/Users', { method: 'POST', body: { schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'] } }),
    ],
  },
  scim_resource_unknown: { calls: [scim('/ResourceTypes/Role')] },
  scim_tokens_full: { failure: { fields: { limit: SCIM_TOKENS_MAX } } },
  scim_unsupported: {
    calls: [scim('/Bulk', { method: 'POST', body: { Operations: [] } })],
    failure: { fields: { what: 'bulk requests' } },
  },
  idempotency_mismatch: {
    calls: ['one', 'two'].map((content) =>
      send(
        '/presets/sample/chat/completions',
        { model: 'sluice/echo-1', messages: [{ role: 'user', content }] },
        MANAGING,
        { options: ["-H 'Idempotency-Key: sample-1'"] },
      ),
    ),
  },
}
