/** Ids and addresses in a provider's account: the operator's account serves many workspaces. */
import t from 'tap'
import { DIALECTS, type Dialect } from '../../../../../src/schemas/inference/text-request.ts'
import { rigged } from '../../../../support/inference/text-rig.ts'
import { openDialect, DIALECT_ROWS } from '../../../../support/inference/dialect-rows.ts'
import { TEXT_PROTOCOLS } from '../../../../../src/schemas/models/protocols.ts'

const OWN = { ownKey: 'own-provider-key-1' }
const chat = (part: object): object => ({ messages: [{ role: 'user', content: [part] }] })
const item = (part: object): object => ({ input: [{ role: 'user', content: [part] }] })
const tool = (one: object): object => ({ input: 'Hi', tools: [one] })
const says = (role: string, content: unknown): object => ({
  messages: [
    { role, content },
    { role: 'user', content: 'Hi' },
  ],
})
const search = (parameters: object): object => ({ data_sources: [{ type: 'azure_search', parameters }] })
const speaks = (voice: unknown): object => ({ audio: { format: 'mp3', voice } })
const ADDRESSES = [
  'oss://dashscope-instant/x.png',
  'ms://file-1',
  '/etc/secrets/photo.png',
  '../photo.JPG ',
  'gs://operator-bucket/secret.pdf',
  ' GS://operator-bucket/secret.pdf',
  'files/abc123',
  `${' '.repeat(300)}files/abc123`,
  '\u0001 g\ts://operator-bucket/secret.pdf',
  'file:///etc/passwd',
  'https://generativelanguage.googleapis.com/v1beta/files/abc123',
  'https:generativelanguage.generativelanguage-x.googleapis.com/v1beta/files/abc123',
  'HTTPS://x@GenerativeLanguage.googleapis.com:443/v1beta/files/abc123',
]

const NAMED: readonly (readonly [Dialect, path: string, body: object])[] = [
  ...ADDRESSES.flatMap((url) => [
    ['chat', '/messages/0/content/0/image_url/url', chat({ type: 'image_url', image_url: { url } })] as const,
    [
      'chat',
      '/messages/0/content/0/file/file_data',
      chat({ type: 'file', file: { file_data: url } }),
    ] as const,
    ['responses', '/input/0/content/0/image_url', item({ type: 'input_image', image_url: url })] as const,
    ['responses', '/input/0/content/0/file_url', item({ type: 'input_file', file_url: url })] as const,
    [
      'messages',
      '/messages/0/content/0/source/url',
      chat({ type: 'document', source: { type: 'url', url } }),
    ] as const,
  ]),
  ['chat', '/messages/0/content/0/file/file_id', chat({ type: 'file', file: { file_id: 'file-abc' } })],
  ['chat', '/messages/0/content/0/file_id', chat({ type: 'file', file_id: 'file-abc' })],
  ['responses', '/input/0/content/0/file_id', item({ type: 'input_file', file_id: 'file-abc' })],
  ['responses', '/input/0/content/0/file_id', item({ type: 'input_image', file_id: 'file-abc' })],
  [
    'responses',
    '/input/0/output/0/file_id',
    {
      input: [
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', file_id: 'f' }] },
      ],
    },
  ],
  ['responses', '/tools/0/vector_store_ids', tool({ type: 'file_search', vector_store_ids: ['vs_1'] })],
  [
    'responses',
    '/tools/0/container/file_ids',
    tool({ type: 'code_interpreter', container: { type: 'auto', file_ids: ['file-abc'] } }),
  ],
  ['responses', '/tools/0/container', tool({ type: 'code_interpreter', container: 'cntr_1' })],
  [
    'responses',
    '/input/0/container_id',
    {
      input: [{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', code: 'x', outputs: [] }],
    },
  ],
  ['responses', '/input/0/id', { input: [{ type: 'image_generation_call', id: 'ig_1' }] }],
  [
    'messages',
    '/messages/0/content/0/source/file_id',
    chat({ type: 'image', source: { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' } }),
  ],
  [
    'messages',
    '/messages/0/content/0/content/0/source/file_id',
    chat({
      type: 'tool_result',
      tool_use_id: 't',
      content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }],
    }),
  ],
  ['messages', '/messages/0/content/0/file_id', chat({ type: 'container_upload', file_id: 'file_1' })],
  ...['cached_content', 'cachedContent'].flatMap((name): [Dialect, string, object][] => [
    ['chat', `/${name}`, { [name]: 'cachedContents/abc' }],
    ['chat', `/google/${name}`, { google: { [name]: 'cachedContents/abc' } }],
    ...DIALECTS.map((dialect): [Dialect, string, object] => [
      dialect,
      `/extra_body/google/${name}`,
      { extra_body: { google: { [name]: 'cachedContents/abc' } } },
    ]),
  ]),
  ['chat', '/extra_body/extra_body/Google/CACHED_CONTENT', deepCache()],
  ['chat', '/data_sources', search({ endpoint: 'https://a.example', index_name: 'i' })],
  ['chat', '/data_sources', search({ key: '', authentication: null })],
  [
    'chat',
    '/data_sources/0/parameters/authentication/type',
    search({ authentication: { type: 'system_assigned_managed_identity' } }),
  ],
  [
    'chat',
    '/data_sources/0/parameters/embedding_dependency/deployment_name',
    search({
      authentication: { type: 'api_key', key: 'k' },
      embedding_dependency: { type: 'deployment_name', deployment_name: 'ada' },
    }),
  ],
  [
    'chat',
    '/dataSources/0/parameters/authentication/type',
    { dataSources: [{ parameters: { authentication: { type: 'UserAssignedManagedIdentity' } } }] },
  ],
  ['chat', '/audio/voice/id', speaks({ id: 'voice_1' })],
  ['chat', '/audio/voice', speaks('voice_1')],
  ['chat', '/messages/0/content', says('system', 'fileid://file-fe-1')],
  ['chat', '/messages/0/content', says('developer', [{ type: 'text', text: 'fileid://file-fe-1' }])],
  ['responses', '/instructions', { instructions: 'Read fileid://file-fe-1' }],
  ['messages', '/system', { system: [{ type: 'text', text: 'fileid://file-fe-1' }] }],
  [
    'chat',
    '/tools/0/retrieval/knowledge_id',
    { tools: [{ type: 'retrieval', retrieval: { knowledge_id: '1' } }] },
  ],
  ['responses', '/tools/0/collection_ids', tool({ type: 'collections_search', collection_ids: ['c_1'] })],
  ['responses', '/tools/0/library_ids', tool({ type: 'document_library', library_ids: ['l_1'] })],
  [
    'responses',
    '/tools/0/fileSearchStoreNames',
    tool({ type: 'fileSearch', fileSearchStoreNames: ['fileSearchStores/a'] }),
  ],
  ['responses', '/tools/0/connector_id', tool({ type: 'connector', connector_id: 'gmail' })],
  [
    'responses',
    '/tools/0/connector_id',
    tool({ type: 'mcp', server_label: 's', connector_id: 'connector_gmail', authorization: ' ' }),
  ],
  [
    'responses',
    '/tools/0/project_connection_id',
    tool({ type: 'mcp', server_label: 's', server_url: 'https://a.example', project_connection_id: 'p' }),
  ],
  [
    'responses',
    '/tools/0/bing_grounding/connections/0/connection_id',
    tool({ type: 'bing_grounding', bing_grounding: { connections: [{ connection_id: 'c' }] } }),
  ],
  [
    'chat',
    '/tools/0/retrieval/vertexAiSearch/engine',
    {
      tools: [
        { type: 'retrieval', retrieval: { vertexAiSearch: { engine: 'projects/p/locations/l/engines/e' } } },
      ],
    },
  ],
  ['responses', '/agent/type', { input: 'Hi', agent: { type: 'agent_reference', name: 'a' } }],
  ['messages', '/workspace_id', { workspace_id: 'wrkspc_1' }],
  ['messages', '/user_profile_id', { user_profile_id: 'up_1' }],
]

function deepCache(): object {
  return { extra_body: { extra_body: { Google: { CACHED_CONTENT: 'cachedContents/abc' } } } }
}

for (const to of TEXT_PROTOCOLS)
  t.test(`400 stateless: a request cannot name contents of the operator account, at ${to}`, async (t) => {
    const { send, first } = await rigged(t, to)
    for (const [from, path, body] of NAMED) {
      const refused = await send(from, body)
      const reported = (await refused.json()) as object
      t.equal(refused.status, 400)
      t.match(
        reported,
        { error: { metadata: { error_type: 'stateless', issues: [{ path }] } } },
        JSON.stringify(body),
      )
    }
    t.equal(first.calls.length, 0)
  })

for (const row of DIALECT_ROWS)
  t.test(
    `${row.name} 200: under a workspace's own key, names of contents of its account pass unchanged`,
    async (t) => {
      const { post, first } = await openDialect(t, row, OWN)
      const own = NAMED.filter(([from]) => from === row.name)
      for (const [, , body] of own) {
        const response = await post({ ...row.asks('acme/one', 'Hi'), ...body })
        t.equal(response.status, 200, JSON.stringify(body))
        const [name, value] = Object.entries(body)[0] as [string, unknown]
        t.ok(String(first.calls.at(-1)?.body).includes(`${JSON.stringify(name)}:${JSON.stringify(value)}`))
      }
    },
  )

t.test('the caller’s own contents and public contents pass under the operator’s key', async (t) => {
  const passing: readonly (readonly [Dialect, object])[] = [
    ['chat', chat({ type: 'text', text: 'gs://bucket/x' })],
    ['chat', { messages: [{ role: 'user', content: 'files/abc' }] }],
    ['chat', chat({ type: 'image_url', image_url: { url: 'https://a.example/files/abc' } })],
    ['chat', chat({ type: 'video_url', video_url: { url: 'https://youtu.be/x' } })],
    [
      'chat',
      {
        messages: [
          { role: 'assistant', audio: { id: 'audio_1' } },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    [
      'messages',
      {
        messages: [
          { role: 'user', content: 'x' },
          {
            role: 'assistant',
            content: [
              { type: 'tool_use', id: 't', name: 'f', input: { file_id: 'file_1', url: 'gs://b/x' } },
            ],
          },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] },
        ],
      },
    ],
    ['responses', tool({ type: 'code_interpreter', container: { type: 'auto' } })],
    [
      'responses',
      tool({ type: 'mcp', server_label: 's', connector_id: 'connector_gmail', authorization: 'token' }),
    ],
    ['chat', { extra_body: { google: { thinking_config: { include_thoughts: true } } } }],
    ['chat', search({ authentication: { type: 'api_key', key: 'k' } })],
    ['chat', speaks('alloy')],
    ['chat', { messages: [{ role: 'user', content: 'What is fileid://file-fe-1?' }] }],
    ['chat', { metadata: { file_id: 'file-abc' }, workspace_id: 'mine' }],
    [
      'messages',
      chat({
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'gs://bucket/x is a bucket' },
      }),
    ],
  ]
  for (const dialect of DIALECTS) {
    const row = DIALECT_ROWS.find(({ name }) => name === dialect)
    if (row === undefined) continue
    const { post } = await openDialect(t, row)
    for (const [from, body] of passing)
      if (from === dialect)
        t.equal((await post({ ...row.asks('acme/one', 'Hi'), ...body })).status, 200, JSON.stringify(body))
  }
})

t.test('responses 400 stateless: a long member name from the caller is shortened in the path', async (t) => {
  const { send } = await rigged(t, 'responses')
  const refused = await send('responses', item({ type: 'x', ['n'.repeat(10_000)]: { file_id: 'file-abc' } }))
  const path = `/input/0/content/0/${'n'.repeat(64)}…/file_id`
  t.match(await refused.json(), { error: { metadata: { issues: [{ path }] } } })
})

t.test('responses 200: sends a generated picture without its id, and reports the dropped id', async (t) => {
  const row = DIALECT_ROWS.find(({ name }) => name === 'responses')
  if (row === undefined) return
  const { post, first } = await openDialect(t, row)
  const input = [
    { id: 'rs_1', type: 'item_reference' },
    { id: 'ig_1', type: 'image_generation_call', result: 'AAAA', status: 'completed' },
    { type: 'image_generation_call', result: 'AAAA', id: 'ig_2' },
    { role: 'user', content: 'Hi' },
  ]
  const response = await post({ model: 'acme/one', input })
  t.equal(response.status, 200)
  t.equal(response.headers.get('x-sluice-dropped'), 'item_reference,image_generation_call.id')
  t.match(
    String(first.calls[0]?.body),
    JSON.stringify([
      { type: 'image_generation_call', result: 'AAAA', status: 'completed' },
      { type: 'image_generation_call', result: 'AAAA' },
      { role: 'user', content: 'Hi' },
    ]),
  )
})

t.test('responses 400: refuses an address with another scheme if it would be sent to Google', async (t) => {
  const { send, first } = await rigged(t, 'gemini', OWN)
  for (const part of [
    { type: 'input_file', file_url: 'ftp://x/a.pdf' },
    { type: 'input_image', image_url: 'ftp://x/a.png' },
  ]) {
    const refused = await send('responses', item(part))
    t.equal(refused.status, 400)
    t.match(await refused.json(), { error: { metadata: { issues: [{ path: '/input/0/content/0' }] } } })
  }
  t.equal(first.calls.length, 0)
})
