import t from 'tap'
import { Value } from 'typebox/value'
import { BODIES } from '../../src/schemas/bodies.ts'
import { EmbeddingsBody } from '../../src/schemas/embeddings/embeddings.ts'
import * as fileLimits from '../../src/schemas/files/file-limits.ts'
import { issuesOf } from '../../src/schemas/issues.ts'
import * as auditLimits from '../../src/schemas/audit/audit-limits.ts'
import * as egressLimits from '../../src/schemas/egress/egress-limits.ts'
import * as embeddingLimits from '../../src/schemas/embeddings/embedding-limits.ts'
import * as endpointLimits from '../../src/schemas/endpoints/endpoint-limits.ts'
import { COUNT_DEADLINE_MS, INFERENCE_DEADLINE_MS } from '../../src/schemas/inference/inference-limits.ts'
import * as keyLimits from '../../src/schemas/keys/key-limits.ts'
import * as idempotencyLimits from '../../src/schemas/limits/idempotency-limits.ts'
import * as nodeLimits from '../../src/schemas/limits/limits.ts'
import * as rateLimits from '../../src/schemas/limits/rate-limits.ts'
import * as modelLimits from '../../src/schemas/models/model-limits.ts'
import * as providerLimits from '../../src/schemas/models/provider-limits.ts'
import { WEBHOOK_TEST_DEADLINE_MS } from '../../src/schemas/webhooks/webhook-limits.ts'
import * as vaultLimits from '../../src/schemas/vault/vault-limits.ts'
import * as workspaceLimits from '../../src/schemas/workspaces/workspace-limits.ts'
import * as moneyLimits from '../../src/schemas/money/money-limits.ts'
import { ListModelsQuery, PageQuery } from '../../src/schemas/models/models.ts'
import * as scimResourceLimits from '../../src/schemas/scim/scim-limits.ts'
import { isSlug } from '../../src/schemas/workspaces/workspaces.ts'
import { ProviderEntry } from '../../src/server/catalogue/format.ts'
import { nameOf } from '../../src/server/cli/parts/database.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'

const limits = {
  ...auditLimits,
  ...egressLimits,
  ...embeddingLimits,
  ...endpointLimits,
  ...keyLimits,
  ...idempotencyLimits,
  ...nodeLimits,
  ...rateLimits,
  ...modelLimits,
  ...providerLimits,
  ...vaultLimits,
  ...workspaceLimits,
}

const MIB = 1024 * limits.KIB
const body = (more: object): object => ({ model: 'm', input: 'x', ...more })

t.test('the sizes that the contract states are those of C10, C11, C13, §8 and B2.3', async (t) => {
  t.equal(limits.EMBEDDINGS_BODY_BYTES_MAX, 32 * MIB)
  t.equal(limits.JSON_DEPTH_MAX, 64)
  t.equal(limits.UPSTREAM_ANSWER_BYTES_MAX, 128 * MIB)
  t.equal(limits.UPSTREAM_ANSWERS_BYTES_MAX, 256 * MIB)
  t.equal(limits.UPSTREAM_ERROR_BYTES_MAX, 64 * 1024)
  t.equal(limits.BODY_STALL_MS, 8_000)
  t.equal(limits.ISSUES_MAX, 20)
  t.equal(limits.SESSION_ID_CHARS_MAX, 256)
  t.equal(limits.REQUEST_ID_CHARS_MAX, 128)
  t.equal(limits.MODELS_PAGE_MAX, 1_000)
  t.equal(limits.MODELS_PAGE_DEFAULT, 500)
  t.equal(limits.RATE_BURST_DIVISOR, 10)
  t.equal(limits.RATE_BURST_MIN, 10)
})

t.test('an embeddings body is accepted up to its size limit', async (t) => {
  t.equal(BODIES.embeddings.bytesMax, limits.EMBEDDINGS_BODY_BYTES_MAX)
})

t.test('a session id counts characters, not UTF-16 units', async (t) => {
  t.ok(Value.Check(EmbeddingsBody, body({ session_id: '😀'.repeat(limits.SESSION_ID_CHARS_MAX) })))
  t.notOk(Value.Check(EmbeddingsBody, body({ session_id: 'a'.repeat(limits.SESSION_ID_CHARS_MAX + 1) })))
})

t.test('dimensions have a minimum', async (t) => {
  t.ok(Value.Check(EmbeddingsBody, body({ dimensions: limits.DIMENSIONS_MIN })))
  t.notOk(Value.Check(EmbeddingsBody, body({ dimensions: limits.DIMENSIONS_MIN - 1 })))
})

t.test('a failure lists no more issues than its limit', async (t) => {
  const input = Array.from({ length: 100 }, () => '')
  t.ok(issuesOf(EmbeddingsBody, { input }).length <= limits.ISSUES_MAX)
  const wrong = {
    model: 1,
    input: 'x',
    dimensions: 'a',
    encoding_format: 1,
    session_id: 1,
    user: 1,
    provider: { zdr: 1 },
  }
  t.ok(issuesOf(EmbeddingsBody, wrong).length > 1)
})

t.test('a page of models is limited', async (t) => {
  t.ok(Value.Check(PageQuery, { limit: limits.MODELS_PAGE_MAX }))
  t.notOk(Value.Check(PageQuery, { limit: limits.MODELS_PAGE_MAX + 1 }))
})

t.test('the search words and the names in a model list query are limited', async (t) => {
  const takes = (query: object): boolean => Value.Check(ListModelsQuery, query)
  t.ok(
    takes({
      q: 'a'.repeat(limits.MODELS_WORDS_CHARS_MAX),
      providers: 'a'.repeat(limits.MODELS_NAMES_CHARS_MAX),
    }),
  )
  t.notOk(takes({ q: 'a'.repeat(limits.MODELS_WORDS_CHARS_MAX + 1) }))
  for (const list of ['category', 'output_modalities', 'providers'])
    t.notOk(takes({ [list]: 'a'.repeat(limits.MODELS_NAMES_CHARS_MAX + 1) }), list)
})

t.test('each list of the provider preferences is limited', async (t) => {
  for (const list of ['order', 'only', 'ignore', 'quantizations']) {
    const provider = (names: number): object => ({ [list]: Array.from({ length: names }, () => 'fp8') })
    t.ok(Value.Check(EmbeddingsBody, body({ provider: provider(limits.PREFERENCE_NAMES_MAX) })), list)
    const tooMany = body({ provider: provider(limits.PREFERENCE_NAMES_MAX + 1) })
    t.match(issuesOf(EmbeddingsBody, tooMany), [
      { path: `/provider/${list}`, message: 'has too many elements' },
    ])
  }
})

t.test('accepts names and slugs up to their maximum length, and refuses longer ones', async (t) => {
  t.equal(nameOf('😀'.repeat(limits.NAME_CHARS_MAX)).length, 2 * limits.NAME_CHARS_MAX)
  t.throws(() => nameOf('a'.repeat(limits.NAME_CHARS_MAX + 1)))
  t.ok(isSlug('a'.repeat(limits.SLUG_CHARS_MAX)))
  t.notOk(isSlug('a'.repeat(limits.SLUG_CHARS_MAX + 1)))
})

t.test('a catalogue cannot give an attempt a timeout above the maximum', async (t) => {
  const entry = (timeout_ms: number): object => ({ slug: 'x', protocol: 'local', timeout_ms })
  t.ok(Value.Check(ProviderEntry, entry(limits.PROVIDER_TIMEOUT_MS_MAX)))
  t.notOk(Value.Check(ProviderEntry, entry(limits.PROVIDER_TIMEOUT_MS_MAX + 1)))
})

/** Operations that reach beyond our own stores, or move whole files. */
const DEADLINES: Readonly<Record<string, number>> = {
  'chat.create': INFERENCE_DEADLINE_MS,
  'responses.create': INFERENCE_DEADLINE_MS,
  'messages.create': INFERENCE_DEADLINE_MS,
  'messages.count_tokens': COUNT_DEADLINE_MS,
  'embeddings.create': limits.EMBEDDINGS_DEADLINE_MS,
  'files.upload': fileLimits.UPLOAD_DEADLINE_MS,
  'containers.write_file': fileLimits.UPLOAD_DEADLINE_MS,
  'containers.promote': fileLimits.UPLOAD_DEADLINE_MS,
  'files.content': fileLimits.DOWNLOAD_DEADLINE_MS,
  'containers.file_content': fileLimits.DOWNLOAD_DEADLINE_MS,
  'video.get_content': fileLimits.DOWNLOAD_DEADLINE_MS,
  'admin.get_job_content': fileLimits.DOWNLOAD_DEADLINE_MS,
  'admin.test_webhook': WEBHOOK_TEST_DEADLINE_MS,
  'egress.forward': limits.EGRESS_DEADLINE_MS,
  'private_endpoints.create': limits.PROBING_DEADLINE_MS,
  'private_endpoints.validate': limits.PROBING_DEADLINE_MS,
  'private_endpoints.activate': limits.PROBING_DEADLINE_MS,
  'scim.list_scim_groups': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.search_groups': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.get_group': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.create_group': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.replace_group': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.patch_group': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
  'scim.delete_group': scimResourceLimits.SCIM_GROUP_DEADLINE_MS,
}

t.test('each operation has the deadline of its kind', async (t) => {
  for (const { id, deadlineMs } of OPERATIONS)
    t.equal(deadlineMs, DEADLINES[id] ?? limits.CONTROL_DEADLINE_MS, id)
})

t.test('a front has room for one body, one answer and one refused body of the largest size', async (t) => {
  t.ok(limits.BODIES_BYTES_MAX >= limits.EMBEDDINGS_BODY_BYTES_MAX)
  t.ok(limits.INLINE_JSON_BYTES_MAX < limits.EMBEDDINGS_BODY_BYTES_MAX)
  t.ok(limits.UPSTREAM_ANSWERS_BYTES_MAX >= limits.UPSTREAM_ANSWER_BYTES_MAX)
  t.ok(limits.REFUSED_BODY_BYTES_MAX > limits.EMBEDDINGS_BODY_BYTES_MAX)
  t.ok(limits.UPSTREAM_WAITING_MAX >= limits.UPSTREAM_CONNECTIONS_MAX)
  t.ok(limits.UNKNOWN_KEYS_CACHED_MAX < limits.KEYS_CACHED_MAX)
  t.ok(limits.RATE_LEASES_MAX >= limits.KEYS_CACHED_MAX)
})

t.test('attempts, connects and waits end within the deadline of their call', async (t) => {
  t.ok(limits.UPSTREAM_TIMEOUT_MS_DEFAULT < limits.EMBEDDINGS_DEADLINE_MS)
  t.ok(limits.UPSTREAM_CONNECT_MS < limits.UPSTREAM_TIMEOUT_MS_DEFAULT)
  t.ok(limits.KEY_LOAD_MS_MAX < limits.CONTROL_DEADLINE_MS)
  t.ok(limits.RATE_WAIT_MS_MAX < limits.KEY_LOAD_MS_MAX)
  t.ok(limits.RATE_SHARE_WAIT_MS_MAX <= limits.RATE_WAIT_MS_MAX)
  t.ok(2 * limits.KEY_LOCK_WAIT_MS_MAX < limits.KEY_LOAD_MS_MAX)
  t.ok(limits.LOCK_WAIT_MS_MAX < limits.STATEMENT_MS_MAX)
  t.ok(limits.DEADLINE_GRACE_MS < limits.CONTROL_DEADLINE_MS)
  t.ok(moneyLimits.LIMITS_APPLIED_WAIT_MS_MAX < limits.CONTROL_DEADLINE_MS)
})

t.test('a revocation by polling alone takes at most 1.5 s: one interval and one timeout', async (t) => {
  t.ok(limits.EPOCH_POLL_MS + limits.EPOCH_POLL_TIMEOUT_MS <= 1_500)
})

t.test('invalidations are kept for longer than a front can be silent', async (t) => {
  t.ok(limits.FRONT_LIVE_MS > 2 * limits.HEARTBEAT_MS)
  t.ok(limits.SILENT_FRONTS_KEPT_MS > limits.FRONT_LIVE_MS)
  t.ok(limits.INVALIDATIONS_KEPT_MS > limits.SILENT_FRONTS_KEPT_MS)
  t.ok(limits.INVALIDATIONS_READ_MAX > 0)
})

t.test('the use and return times of a lent rate token add up to the slack of the bound', async (t) => {
  t.equal(limits.RATE_USE_MS + limits.RATE_RETURN_MS, limits.RATE_SLACK_MS)
  t.ok(limits.RATE_BLOCK_MS < limits.RATE_SLACK_MS)
  t.ok(limits.RATE_PREFETCH_MIN > 1)
  t.ok(limits.RATE_STEADY_BLOCKS > 1)
})

/** Milliseconds after which uWebSockets.js cuts a connection by itself; not settable. */
const LIBRARY_CUTS_MS = 10_000
const LIBRARY_CUTS_READERS_MS = 12_000

t.test(
  'timers of Sluice fire before those of uWebSockets.js, and a replaced front outlives its idle connections',
  async (t) => {
    t.ok(limits.BODY_STALL_MS < LIBRARY_CUTS_MS)
    t.ok(limits.REFUSED_BODY_STALL_MS < limits.REFUSED_BODY_MS)
    t.ok(limits.REPLY_BEAT_MS < LIBRARY_CUTS_READERS_MS)
    t.ok(limits.REPLY_BEAT_MS < limits.REPLY_STALL_MS)
    t.ok(limits.REPLACED_FRONT_MS > LIBRARY_CUTS_MS)
    t.ok(limits.DRAIN_MS > limits.REPLACED_FRONT_MS)
    t.ok(limits.REPLACED_CALLS_MS > limits.DRAIN_MS)
    t.ok(limits.SPARE_FRONT_MS < limits.REPLACED_FRONT_MS)
    t.ok(limits.UPSTREAM_KEEP_ALIVE_MS > 0)
  },
)

t.test('the default dimensions of the built-in model are within its maximum', async (t) => {
  t.ok(limits.LEXICAL_DIMENSIONS_DEFAULT <= limits.LEXICAL_DIMENSIONS_MAX)
})
