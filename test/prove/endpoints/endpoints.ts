/** The whole life of a private endpoint in a real node with two fronts, a vault and a gate. */
import { ACTIVE_ENDPOINTS_MAX } from '../../../src/schemas/endpoints/endpoint-limits.ts'
import { startFileStand } from '../../support/files/file-stand.ts'
import {
  answers,
  neverAnswers,
  refuses,
  sends,
  type Behaviour,
} from '../../support/embeddings/provider-behaviours.ts'
import { startProvider } from '../../support/embeddings/provider.ts'
import { STAND_MODEL } from '../../support/nodes/stand.ts'
import { tally, type Program } from '../proof.ts'
import {
  activate,
  create,
  GIVE_UP_MS,
  HOST,
  openLife,
  reconnected,
  SECRET,
  storeSecret,
  untilBoth,
  untilEach,
  validate,
  type Life,
  type Answer,
} from './life.ts'

const LIVE_MS = 250
/** In short so few that a slow machine answers all within their deadlines. */
const RACING = { full: 50, short: 16 }

export const program: Program = {
  text: 'A private endpoint from its draft to calls on two fronts, and every way that it can fail',
  async run(proof) {
    const upstream = await startProvider(HOST)
    proof.after(() => upstream.close())
    const { port } = new URL(upstream.origin)
    const settings = {
      SLUICE_FRONTS: '2',
      SLUICE_EGRESS_ALLOW: `http:127.0.0.0/8:${port},http:[::1]:${port}`,
    }
    const node = await startFileStand(proof, { settings })
    const life = await openLife(proof, node, upstream)
    await storeSecret(life, 'the-first-value')
    const id = await failing(life)
    await mended(life, id)
    await conflicts(life)
    await racing(life)
    await probes(life)
    await credential(life, id)
    await beforeTheCatalogue(life)
  },
}

const VECTOR = { data: [{ object: 'embedding', index: 0, embedding: [0.5] }], object: 'list' }
const USAGE = { usage: { prompt_tokens: 1, total_tokens: 1 } }

/** What the upstream does, and the reason that a validation has to give. */
const UPSTREAM_FAILURES: readonly (readonly [reason: string, behaviour: Behaviour])[] = [
  ['upstream_error', refuses(401, 'Incorrect API key provided')],
  ['upstream_error', refuses(503, 'overloaded')],
  ['model_not_found', refuses(404, 'The model `own-embed` does not exist')],
  ['invalid_response', sends('{"data":[]}')],
  ['missing_usage', sends(JSON.stringify({ ...VECTOR, model: 'wrong' }))],
  ['model_mismatch', sends(JSON.stringify({ ...VECTOR, ...USAGE, model: 'another' }))],
]

/** @returns the draft */
async function failing(life: Life): Promise<string> {
  const { proof, node, upstream, manage } = life
  const id = await create(life, { upstream_model_id: 'wrong' })
  const reported: string[] = []
  const wanted: string[] = []
  const expect = async (reason: string, validating: Promise<Answer>): Promise<void> => {
    const { status, body } = await validating
    const failed = body.data?.checks?.find(({ passed }) => !passed)
    wanted.push(`200 ${reason}`)
    reported.push(`${status} ${failed?.reason ?? 'none'}`)
  }
  await expect('workspace_not_found', validate(life, id, id))
  await expect('provider_not_found', validate(life, await create(life, { provider_slug: 'bedrock' })))
  await expect('no_byok_key', validate(life, await create(life, { secret_name: 'nobodys_key' })))
  await expect('invalid_base_url', inside(life))
  await node.store
    .sql`UPDATE secrets SET sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1) WHERE name = ${SECRET}`
  await expect('key_decryption_failed', validate(life, id))
  await storeSecret(life, 'the-first-value')
  await expect('endpoint_limit_reached', crowded(life, id))
  for (const [reason, behaviour] of UPSTREAM_FAILURES) {
    upstream.script(behaviour)
    await expect(reason, validate(life, id))
  }
  const missed = reported.filter((one, at) => one !== wanted[at])
  const count = `${reported.length - missed.length} of ${reported.length}: ${reported.join(', ')}`
  proof.check('a validation fails for each reason, as an answer like any other', missed.length === 0, count)
  const { body } = await manage('GET', `/${id}`)
  proof.check('the draft stays a draft', body.data?.['status'] === 'draft', String(body.data?.['status']))
  return id
}

/** The same machine at a port that the allow-list does not name. */
async function inside(life: Life): Promise<Answer> {
  return validate(life, await create(life, { base_url: `https://${HOST}:8443/v1` }))
}

/** In a workspace with as many active endpoints as it may have. */
async function crowded(life: Life, id: string): Promise<Answer> {
  const { store, workspaceId, stand } = life.node
  await store.sql`
    INSERT INTO private_endpoints (id, organization_id, workspace_id, status, model_permaslug, provider_slug, upstream_model_id, base_url)
    SELECT gen_random_uuid(), ${stand.keys.organization_id}, ${workspaceId}, 'active', 'prove/crowd', 'custom', 'crowd', 'https://a.example'
    FROM generate_series(1, ${ACTIVE_ENDPOINTS_MAX})`
  const reported = await validate(life, id)
  await store.sql`DELETE FROM private_endpoints WHERE model_permaslug = 'prove/crowd'`
  return reported
}

async function mended(life: Life, id: string): Promise<void> {
  const { proof, upstream, manage } = life
  await manage('PATCH', `/${id}`, { upstream_model_id: 'own-embed' })
  const passed = await validate(life, id)
  proof.check(
    'the mended draft passes',
    passed.body.data?.['passed'] === true,
    JSON.stringify(passed.body.data?.checks?.filter((check) => !check.passed)),
  )
  await reconnected(life)
  // Both fronts have to forget that the workspace has no endpoint.
  for (const front of [0, 1]) await life.embed(front)
  const active = await activate(life, id)
  const liveMs = await untilBoth(life, 200)
  proof.check('it is activated', active.status === 200, `${active.status}`)
  proof.checkTimed(
    `both fronts call it within ${LIVE_MS} ms`,
    liveMs <= LIVE_MS,
    `after ${liveMs.toFixed(0)} ms`,
  )
  const answered = await Promise.all([0, 1].map((front) => life.embed(front)))
  const isOwn = answered.every(({ status, body }) => status === 200 && body.usage?.is_byok === true)
  proof.check(
    "its answers are the workspace's own",
    isOwn,
    answered.map(({ status, body }) => `${status} is_byok ${body.usage?.is_byok}`).join(', '),
  )
  const bearer = upstream.calls.at(-1)?.headers['authorization']
  proof.check(
    'the upstream is sent the value of the vault',
    bearer === 'Bearer the-first-value',
    bearer === undefined ? 'none' : 'a bearer token',
  )
  await manage('POST', `/${id}/disable`)
  const endMs = await untilBoth(life, 404)
  proof.checkTimed(
    `once it is disabled the model is unknown to both within ${LIVE_MS} ms`,
    endMs <= LIVE_MS,
    `after ${endMs.toFixed(0)} ms`,
  )
  const ended = await Promise.all([0, 1].map((front) => life.embed(front)))
  const are404 = ended.every(
    ({ status, body }) => status === 404 && body.error?.metadata.error_type === 'model_unknown',
  )
  proof.check('a slug that only it serves is 404', are404, ended.map(({ status }) => status).join(', '))
}

async function conflicts(life: Life): Promise<void> {
  const { proof, node, upstream, manage } = life
  const sent = upstream.calls.length
  const refused = async (what: string, id: string, type: string): Promise<void> => {
    const { status, body } = await activate(life, id)
    const found = body.error?.metadata.error_type ?? 'none'
    proof.check(`${what}: 409 without a probe`, status === 409 && found === type, `${status} ${found}`)
  }
  const id = await create(life)
  await refused('never validated', id, 'not_validated')
  await validate(life, id)
  await manage('PATCH', `/${id}`, { upstream_model_id: 'own-embed' })
  await refused('changed since its validation', id, 'validation_stale')
  await validate(life, id)
  await node.store
    .sql`UPDATE private_endpoints SET validated_at = validated_at - interval '24 hours' WHERE id = ${id}`
  await refused('validated a day ago', id, 'validation_stale')
  proof.check(
    'only the two validations asked the upstream',
    upstream.calls.length === sent + 2,
    `${upstream.calls.length - sent} requests`,
  )
}

async function racing(life: Life): Promise<void> {
  const { proof, upstream, manage } = life
  const id = await create(life)
  await validate(life, id)
  const sent = upstream.calls.length
  const count = proof.isShort ? RACING.short : RACING.full
  const reported = await Promise.all(Array.from({ length: count }, () => activate(life, id)))
  const statuses: Record<number, number> = {}
  for (const { status } of reported) statuses[status] = (statuses[status] ?? 0) + 1
  proof.check(
    `of ${count} racing activations one is 200 and the others are 409`,
    statuses[200] === 1 && statuses[409] === count - 1,
    tally(statuses),
  )
  proof.check(
    'one probe was sent',
    upstream.calls.length === sent + 1,
    `${upstream.calls.length - sent} requests`,
  )
  await manage('DELETE', `/${id}`)
}

async function probes(life: Life): Promise<void> {
  const { proof, upstream, call } = life
  const id = await create(life)
  await validate(life, id)
  const expect = async (what: string, status: number): Promise<void> => {
    const reported = await activate(life, id)
    proof.check(
      `${what}: ${status}`,
      reported.status === status,
      `${reported.status} ${reported.body.error?.metadata.error_type}`,
    )
  }
  upstream.script(neverAnswers)
  await expect('a probe that is slow', 408)
  upstream.script(refuses(500))
  await expect('a probe that fails', 502)
  const sent = upstream.calls.length
  await storeSecret(life, 'the-first-value', ['elsewhere.example'])
  await expect('a credential that is bound to other hosts', 422)
  await call('DELETE', `/vault/secrets/${SECRET}`)
  await expect('a credential that is gone', 422)
  proof.check(
    'neither sent anything',
    upstream.calls.length === sent,
    `${upstream.calls.length - sent} requests`,
  )
  await storeSecret(life, 'the-first-value')
  upstream.usually(answers())
  await life.manage('DELETE', `/${id}`)
}

/** What a front holds of a credential ends with the credential. */
async function credential(life: Life, id: string): Promise<void> {
  const { proof, upstream, manage } = life
  await reconnected(life)
  await manage('POST', `/${id}/enable`)
  await untilBoth(life, 200)
  await storeSecret(life, 'the-second-value')
  const startedAt = performance.now()
  for (const front of life.fronts.keys()) {
    do {
      await life.embed(front)
      if (performance.now() - startedAt > GIVE_UP_MS) throw new Error('the-first-value is still used')
    } while (upstream.calls.at(-1)?.headers['authorization'] !== 'Bearer the-second-value')
  }
  const replacedMs = performance.now() - startedAt
  proof.checkTimed(
    `a replaced credential is used by both fronts within ${LIVE_MS} ms`,
    replacedMs <= LIVE_MS,
    `after ${replacedMs.toFixed(0)} ms`,
  )
  await storeSecret(life, 'the-second-value', ['elsewhere.example'])
  const refusedMs = await untilBoth(life, 502)
  proof.checkTimed(
    `one that is bound elsewhere by neither within ${LIVE_MS} ms`,
    refusedMs <= LIVE_MS,
    `after ${refusedMs.toFixed(0)} ms`,
  )
  const sent = upstream.calls.length
  const refused = await Promise.all([0, 1].map((front) => life.embed(front)))
  const isUnsent = refused.every(({ status }) => status === 502) && upstream.calls.length === sent
  proof.check('calls are then refused unsent', isUnsent, `${upstream.calls.length - sent} requests`)
  await storeSecret(life, 'the-second-value')
  await untilBoth(life, 200)
  proof.check('and answered again once it is bound back', true, 'both fronts answer')
}

async function beforeTheCatalogue(life: Life): Promise<void> {
  const { proof, manage } = life
  const id = await create(life, { model_permaslug: STAND_MODEL })
  await validate(life, id)
  await activate(life, id)
  await reconnected(life)
  const isByok = async (front: number): Promise<boolean> =>
    (await life.embed(front, STAND_MODEL)).body.usage?.is_byok === true
  const found = await untilEach(life, async (front) => isByok(front))
  proof.check(
    "an endpoint of a model of the catalogue is tried before the catalogue's own",
    found,
    found ? 'on both fronts' : 'never',
  )
  await manage('POST', `/${id}/disable`)
  const back = await untilEach(life, async (front) => !(await isByok(front)))
  proof.check('which answer once it is disabled', back, back ? 'on both fronts' : 'never')
}
