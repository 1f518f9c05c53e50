import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { EndpointForm } from '../../../../src/schemas/endpoints/private-endpoints.ts'
import { openPrivateEndpoints } from '../../../../src/server/store/endpoints/private-endpoints.ts'
import { openSecretRows } from '../../../../src/server/store/vault/secrets.ts'
import { createOrganization } from '../../../../src/server/store/workspaces/organizations.ts'
import { openRootKeys } from '../../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../../src/server/vault/vault-keys.ts'
import { openVaults } from '../../../../src/server/vault/vaults.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { CHAT_PATH, SERVED_MODEL, servesChat } from '../../../support/endpoints/text-endpoints.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { threads } from '../../../support/front.ts'
import { startFakeProvider } from '../../../support/inference/fake-provider.ts'
import { must } from '../../../support/must.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'

const ROOT_KEY = randomBytes(32).toString('base64')
const BY = { actor: { kind: 'system', id: null }, requestId: null } as const

/** An endpoint whose server has chat alone, in an installation of its own. */
async function stand(t: Test) {
  const store = await openTestStore(t)
  const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
  const server = await startFakeProvider(servesChat())
  t.teardown(() => server.close())
  const dataDir = join(await openFolder(t), 'data')
  const rows = openSecretRows(store)
  const rootKeys = openRootKeys({ setting: new Secret(ROOT_KEY), file: null, dataDir })
  const keys = new VaultKeys({ rootKeys, rows })
  const scope = { organizationId: organization.id, workspaceId: workspace.id, internId: null }
  const secret = { name: 'acme_key', hosts: ['127.0.0.1'], value: new Secret('key-0123456789') }
  must(await openVaults({ rows, keys, jobs: threads() }).put(scope, secret, BY))
  const endpoints = openPrivateEndpoints({ store, hints: { publish: () => Promise.resolve() } })
  const created = must(
    await endpoints.create(
      {
        organizationId: organization.id,
        modelPermaslug: 'acme/own',
        providerSlug: 'openai-compatible',
        upstreamModelId: SERVED_MODEL,
        baseUrl: server.origin.replace('http:', 'https:') + '/v1',
        declaredRegion: null,
        declaredZdr: null,
        pricing: null,
        secretName: 'acme_key',
        forms: ['chat', 'messages'],
        idempotency: null,
      },
      { ...BY, operation: 'private_endpoints.create' },
    ),
  )
  const settings = {
    ...{ DATABASE_URL: store.options.url, SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: ROOT_KEY },
    SLUICE_EGRESS_ALLOW: 'http:127.0.0.1',
  }
  const { id } = created.endpoint
  return {
    server,
    id,
    events: () => auditOf(store),
    run: (...args: readonly string[]) => runVerb(settings, ['endpoints', ...args]),
    explain: (...args: readonly string[]) => runVerb(settings, ['models', 'explain', ...args]),
    speaks: async (): Promise<readonly EndpointForm[]> =>
      must(await endpoints.get({ organizationId: organization.id, id })).speaks,
  }
}

t.test('endpoints validate probes the forms in --forms instead of the forms of the draft', async (t) => {
  const { run, id, server, speaks } = await stand(t)
  const all = await run('validate', id)
  t.equal(all.code, 1)
  t.match(all.stdout, /chat +passed\nmessages +response_ok upstream_error \(404\): Not Found\nnot passed/)
  t.same(await speaks(), [])
  const one = await run('validate', id, '--forms', 'chat', '--json')
  t.equal(one.code, 0, one.stdout + one.stderr)
  t.match(JSON.parse(one.stdout), { data: { passed: true, forms: [{ form: 'chat', passed: true }] } })
  t.same(await speaks(), ['chat'])
  t.equal(server.calls.at(-1)?.path, CHAT_PATH)
  const list = await run('list')
  t.match(list.stdout, new RegExp(`${id} +draft +acme/own +chat +https`))
})

t.test('a validation, and its release of the secret, are recorded with the verb and its user', async (t) => {
  const { run, id, events } = await stand(t)
  const before = (await events()).length
  t.equal((await run('validate', id, '--forms', 'chat')).code, 0)
  const of = { actor: { kind: 'cli' }, operation: 'cli.endpoints-validate' }
  // Releases are written in batches: before the change, or soon after it.
  const [first, second] = (await events()).slice(before) as readonly Record<'outcome', string>[]
  t.match(first?.outcome === 'changed' ? [second, first] : [first, second], [
    { ...of, outcome: 'released', object_id: 'acme_key' },
    { ...of, outcome: 'changed', object_id: id },
  ])
})

t.test('endpoints validate names unknown endpoints and workspaces, and refuses unknown forms', async (t) => {
  const { run, id, server } = await stand(t)
  const unknown = await run('validate', '019a5b0c-4e21-7b1c-92d3-e4f5a6b7c8d9')
  t.equal(unknown.code, 1)
  t.match(unknown.stderr, /endpoints list/)
  const elsewhere = await run('validate', id, '--workspace', 'none')
  t.match([elsewhere.code, elsewhere.stderr], [1, /no such workspace/])
  const wrong = await run('validate', id, '--forms', 'video')
  t.match([wrong.code, wrong.stderr], [2, /embeddings, chat, responses, messages/])
  t.equal(server.calls.length, 0)
})

t.test(
  'models explain shows the details of a private endpoint, before and after its validation',
  async (t) => {
    const { run, explain, id } = await stand(t)
    const draft = await explain('ACME/own')
    t.equal(draft.code, 0, draft.stderr)
    t.match(draft.stdout, /`acme\/own` is not in the catalogue\. Private endpoints serve the model/)
    t.match(
      draft.stdout,
      new RegExp(`private/${id} +draft +- +not validated +${SERVED_MODEL} at https://127`),
    )
    t.match(draft.stdout, /^prompt +0$/m)
    const early = await explain('acme/own', '--from', 'chat')
    t.match(
      [early.code, early.stderr],
      [1, /no private endpoint of `acme\/own` has passed .* endpoints validate/],
    )
    t.equal((await run('validate', id, '--forms', 'chat')).code, 0)
    const fields = await explain('acme/own', '--from', 'messages', '--json')
    t.equal(fields.code, 0, fields.stderr)
    t.match(JSON.parse(fields.stdout), {
      data: {
        model: 'acme/own',
        endpoints: [{ tag: `private/${id}`, protocol: 'chat', is_native: false }],
        private_endpoints: [{ id, status: 'draft', speaks: ['chat'], upstream_model_id: SERVED_MODEL }],
      },
    })
    const unknown = await explain('acme/owm')
    t.match(
      [unknown.code, unknown.stderr],
      [1, /No private endpoint serves the model: see `.*endpoints list`/],
    )
  },
)
