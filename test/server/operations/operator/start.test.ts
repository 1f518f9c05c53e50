import t from 'tap'
import { catalogueOf } from '../../../support/models/catalogue.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'

const priced = (provider: string) => [
  { provider, upstream_model: 'm', pricing: { prompt: '0', completion: '0' } },
]
const CATALOGUE = {
  providers: [
    { slug: 'local', name: 'Sluice', protocol: 'local' },
    {
      slug: 'acme',
      name: 'Acme',
      protocol: 'openai',
      base_url: 'https://api.acme.example/v1',
      api_key_env: 'ACME_KEY',
    },
    {
      slug: 'other',
      name: 'Other',
      protocol: 'openai',
      base_url: 'https://10.1.2.3/v1',
      api_key_env: 'OTHER_KEY',
    },
    { slug: 'idle', name: 'Idle', protocol: 'openai', base_url: 'https://api.idle.example/v1' },
  ],
  models: [
    {
      id: 'a/vectors',
      name: 'V',
      architecture: { output_modalities: ['embeddings'] },
      endpoints: priced('acme'),
    },
    { id: 'a/words', name: 'W', architecture: { output_modalities: ['text'] }, endpoints: priced('acme') },
    {
      id: 'o/vectors',
      name: 'O',
      architecture: { output_modalities: ['embeddings'] },
      endpoints: priced('other'),
    },
    {
      id: 'z/vectors',
      name: 'Z',
      architecture: { output_modalities: ['embeddings'] },
      endpoints: [...priced('other'), ...priced('acme')],
    },
  ],
}

function startFront(t: Parameters<typeof openInternsFront>[0]): Promise<InternsFront> {
  const [set, publicOrigin] = [new Set(['ACME_KEY']), 'https://sluice.example']
  const misplacedKeys = new Set(['OTHER_KEY'])
  const models = catalogueOf(t, CATALOGUE)
  return openInternsFront(t, { models, operatorKeys: set, misplacedKeys, publicOrigin })
}

t.test('admin.get_start 200: returns providers, where to set their keys, and models to try', async (t) => {
  const { call } = await startFront(t)
  const { status, body } = await call('GET', '/admin/start')
  t.equal(status, 200)
  t.match(body, {
    data: {
      api_url: 'https://sluice.example/api/v1',
      has_called: false,
      providers: [
        { slug: 'local', variables: [], is_set: true, misplaced: [], secret: null, model: null },
        {
          slug: 'acme',
          variables: ['ACME_KEY'],
          is_set: true,
          misplaced: [],
          secret: { name: 'acme_api_key', host: 'api.acme.example' },
          model: { id: 'a/words', kind: 'chat' },
        },
        {
          slug: 'other',
          is_set: false,
          misplaced: ['OTHER_KEY'],
          secret: null,
          model: { id: 'o/vectors', kind: 'embeddings' },
        },
        { slug: 'idle', variables: [], is_set: true, model: null },
      ],
    },
  })
})

t.test(
  'admin.get_start 200: a free call counts as a call, and a call of another organization does not',
  async (t) => {
    const { call, store, organizationId, workspace } = await startFront(t)
    const [foreign] = await store.sql<{ id: string }[]>`SELECT id FROM organizations WHERE name = 'foreign'`
    const called = (organization: string) => store.sql`
    INSERT INTO activity
      (organization_id, day, workspace_id, key_hash, model, requests, tokens, milliseconds, spent_nano, byok_nano, forfeited_nano)
    VALUES (${organization}, utc_today(), ${workspace.id}, ${'0'.repeat(64)}, 'a/words', 1, 1, 1, 0, 0, 0)`
    await called(foreign?.id ?? '')
    t.match(await call('GET', '/admin/start'), { body: { data: { has_called: false } } })
    await called(organizationId)
    t.match(await call('GET', '/admin/start'), { body: { data: { has_called: true } } })
  },
)

t.test('admin.get_start 403: keys of other organizations and of other kinds', async (t) => {
  const { call, foreignKey, key } = await startFront(t)
  t.match(await call('GET', '/admin/start', { key: foreignKey }), { status: 403, type: 'operator_only' })
  t.match(await call('GET', '/admin/start', { key: await key('inference') }), {
    status: 403,
    type: 'wrong_key_kind',
  })
})
