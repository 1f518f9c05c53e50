import t from 'tap'
import { NO_CALL_LIMITS } from '../../../../src/schemas/limits/model-calls.ts'
import {
  CALLBACK_URL_CHARS_MAX,
  DESCRIPTION_CHARS_MAX,
  NAME_CHARS_MAX,
  SLUG_CHARS_MAX,
  WORKSPACES_OFFSET_MAX,
  WORKSPACES_PAGE_DEFAULT,
  WORKSPACES_PAGE_MAX,
} from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { openEgress } from '../../../../src/server/egress/egress.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { addMember } from '../../../../src/server/store/workspaces/members.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openInternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'
import { KEPT_LIST_MAX, KEPT_TEXT_CHARS_MAX } from '../../../../src/schemas/workspaces/workspaces.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const addresses: Readonly<Record<string, readonly string[]>> = {
  'public.example': ['93.184.216.34'],
  'inside.example': ['10.0.0.7'],
}
const egress = openEgress({
  resolve: (name) =>
    addresses[name] === undefined
      ? Promise.reject(new Error('ENOTFOUND'))
      : Promise.resolve([...addresses[name]]),
})
t.teardown(() => egress.close())
/** Shared: every test has slugs of its own. */
const front = await openInternsFront(t, { egress })
const { call, store, organizationId, workspace, other, foreignKey } = front

const make = async (slug: string, more: object = {}) =>
  call('POST', '/workspaces', { body: { name: slug, slug, ...more } })
const dataOf = (answer: { readonly body: Readonly<Record<string, unknown>> }) =>
  answer.body['data'] as Readonly<Record<string, unknown>>
const SET = {
  description: 'Ours',
  default_text_model: 'acme/text',
  default_image_model: 'acme/image',
  default_provider_sort: 'price',
  io_logging_sampling_rate: 0.5,
  io_logging_api_key_ids: [1, 2],
  is_observability_io_logging_enabled: true,
  is_observability_broadcast_enabled: true,
  is_data_discount_logging_enabled: true,
  disabled_server_tools: ['web'],
  default_callback_url: 'https://public.example/hook',
  programme: false,
  vault_writes: false,
  storage_quota_bytes: 5,
  max_parallel: 4,
  rate_limit_tpm: 9_000,
  default_max_output_tokens: 50,
  include_byok_in_budgets: true,
}

t.test('workspaces.create 201: a workspace with every key that existing clients require', async (t) => {
  const made = await make('bare', { unknown: 1 })
  t.equal(made.status, 201)
  const { id, created_by, created_at, ...others } = dataOf(made)
  t.match(id, /^[0-9a-f]{8}-/)
  t.match(created_by, /^[0-9a-f]{64}$/, 'the hash of the key')
  t.match(created_at, INSTANT)
  t.same(others, {
    name: 'bare',
    slug: 'bare',
    description: null,
    updated_at: null,
    is_default: false,
    default_guardrail_id: id,
    default_text_model: null,
    default_image_model: null,
    default_provider_sort: null,
    io_logging_api_key_ids: null,
    io_logging_sampling_rate: 1,
    is_observability_io_logging_enabled: false,
    is_observability_broadcast_enabled: false,
    is_data_discount_logging_enabled: false,
    default_callback_url: null,
    programme: true,
    vault_writes: true,
    storage_quota_bytes: null,
    ...NO_CALL_LIMITS,
    include_byok_in_budgets: false,
  })
})

t.test('settings from the creation or from a change are returned, and are in the audit log', async (t) => {
  t.match(dataOf(await make('born-set', SET)), SET)
  const { id } = dataOf(await make('later-set'))
  const path = `/workspaces/${String(id)}`
  t.match(dataOf(await call('PATCH', path, { body: SET })), { ...SET, updated_at: INSTANT })
  t.match(
    dataOf(
      await call('PATCH', path, {
        body: { default_callback_url: null, storage_quota_bytes: null, description: null },
      }),
    ),
    {
      ...SET,
      default_callback_url: null,
      storage_quota_bytes: null,
      description: null,
    },
  )
  const events = (await auditOf(store)).filter((event) => (event as { object_id: string }).object_id === id)
  t.match(events, [
    {
      operation: 'workspaces.create',
      object_kind: 'workspace',
      before: null,
      after: { slug: 'later-set' },
    },
    {
      operation: 'workspaces.update',
      before: { programme: true },
      after: { programme: false, default_text_model: 'acme/text' },
    },
    { operation: 'workspaces.update', after: { description: null } },
  ])
})

t.test(
  'a change of include_byok_in_budgets is stored in the account, and takes effect when fronts have applied it',
  async (t) => {
    const { id } = dataOf(await make('byok'))
    await call('PATCH', '/workspaces/byok', { body: { include_byok_in_budgets: true } })
    const [account] = await store.sql<{ counts_byok: boolean; isNewest: boolean }[]>`
    SELECT counts_byok, limits_epoch = (SELECT max(n) FROM invalidations WHERE kind = 'workspace' AND id = ${String(id)}) AS "isNewest"
    FROM accounts WHERE id = ${`w${String(id)}`}`
    t.same({ ...account }, { counts_byok: true, isNewest: true })
  },
)

t.test(
  'workspaces.create 400: names the path of each invalid member, also a slug in use or a forbidden webhook address',
  async (t) => {
    const paths = async (body: unknown) => {
      const {
        status,
        body: { error },
      } = await call('POST', '/workspaces', { body })
      const { metadata } = error as { metadata: { issues?: { path: string }[] } }
      return [status, (metadata.issues ?? []).map(({ path }) => path)]
    }
    t.same(await paths({}), [400, ['/name', '/slug']])
    const wrong: Readonly<Record<string, readonly unknown[]>> = {
      name: ['', '  ', 'n'.repeat(NAME_CHARS_MAX + 1), 'a\u0000', null, 7],
      slug: ['', 'A', '-a', 'a--b', 's'.repeat(SLUG_CHARS_MAX + 1), null],
      description: ['d'.repeat(DESCRIPTION_CHARS_MAX + 1), 7, '\u0000'],
      default_text_model: ['', 'm'.repeat(KEPT_TEXT_CHARS_MAX + 1), 7],
      io_logging_sampling_rate: [0, 1.1, '1'],
      io_logging_api_key_ids: [[0.5], 'x', Array.from({ length: KEPT_LIST_MAX + 1 }, () => 1)],
      is_observability_io_logging_enabled: ['yes'],
      disabled_server_tools: ['web'],
      default_callback_url: [`https://public.example/${'c'.repeat(CALLBACK_URL_CHARS_MAX)}`, 7],
      storage_quota_bytes: [-1, 0.5, '5', 2 ** 53],
      max_parallel: [0, 1.5, '1'],
      rate_limit_tpm: [0, -1],
      default_max_output_tokens: [0, 15, 16.5],
      programme: ['on'],
      vault_writes: [0],
      include_byok_in_budgets: [0],
    }
    for (const [name, values] of Object.entries(wrong)) {
      for (const value of values) {
        const [status, found] = await paths({ name: 'n', slug: 'wrong', [name]: value })
        t.same(
          [status, (found as string[])[0]?.startsWith(`/${name}`)],
          [400, true],
          `${name} ${JSON.stringify(value).slice(0, 40)}`,
        )
      }
    }
    await make('taken')
    t.match(await make('taken'), { status: 400, type: 'slug_taken' })
  },
)

t.test(
  'a callback address must be HTTPS to a public host on an allowed port, but need not resolve yet',
  async (t) => {
    const refused = [
      'http://public.example/',
      'https://u:p@public.example/',
      'https://public.example:22/',
      'https://public.example:5432/',
      'https://inside.example/',
      'https://10.0.0.7/',
      'https://127.0.0.1:8443/',
      'https://[::1]/',
      'https://0x7f000001/',
      'public.example',
      '',
      'https://public.example/a b',
    ]
    for (const default_callback_url of refused) {
      const answer = await call('PATCH', '/workspaces/other', { body: { default_callback_url } })
      t.match(answer, { status: 400, type: 'callback_url_invalid' }, default_callback_url)
      t.match(answer.body['error'], { metadata: { issues: [{ path: '/default_callback_url' }] } })
    }
    for (const default_callback_url of [
      'https://public.example:8443/hook?a=1',
      'https://not-yet.example/hook',
    ]) {
      t.match(dataOf(await call('PATCH', '/workspaces/other', { body: { default_callback_url } })), {
        default_callback_url,
      })
    }
  },
)

t.test('a repeated Idempotency-Key makes one workspace', async (t) => {
  const headers = { 'idempotency-key': 'once' }
  const body = { name: 'n', slug: 'idempotent' }
  const [first, second] = [
    await call('POST', '/workspaces', { body, headers }),
    await call('POST', '/workspaces', { body, headers }),
  ]
  t.same([first.status, second.status, second.headers.get('idempotent-replayed')], [201, 201, 'true'])
  t.same(second.body, first.body)
  t.match(await call('POST', '/workspaces', { body: { ...body, name: 'm' }, headers }), {
    status: 400,
    type: 'idempotency_mismatch',
  })
})

t.test('workspaces.get 200: by id and by slug', async (t) => {
  const { id } = dataOf(await make('read'))
  for (const ref of [String(id), String(id).toUpperCase(), 'read'])
    t.match(dataOf(await call('GET', `/workspaces/${ref}`)), { id, slug: 'read' })
})

t.test('workspaces.get 400: a name that is not UTF-8', async (t) => {
  t.match(await call('GET', '/workspaces/x%E0%A4'), { status: 400, type: 'params_invalid' })
})

t.test('workspaces.update 200: keeps the values of omitted members, and frees the old slug', async (t) => {
  const made = dataOf(await make('before', { description: 'd' }))
  t.same(dataOf(await call('PATCH', '/workspaces/before', { body: {} })), made)
  t.match(dataOf(await call('PATCH', '/workspaces/before', { body: { slug: 'after' } })), {
    id: made['id'],
    slug: 'after',
    description: 'd',
  })
  t.equal((await make('before')).status, 201)
})

t.test('workspaces.update 400: names the path of an invalid member, also a slug in use', async (t) => {
  const answer = await call('PATCH', '/workspaces/other', { body: { name: 7, programme: 'on' } })
  t.match(answer, {
    status: 400,
    type: 'body_invalid',
    body: { error: { metadata: { issues: [{ path: '/name' }, { path: '/programme' }] } } },
  })
  t.match(await call('PATCH', '/workspaces/other', { body: { slug: 'default' } }), {
    status: 400,
    type: 'slug_taken',
  })
})

/** The name that was asked for is in the message; names of existing workspaces are not. */
const withoutName = (message: string): string => message.replace(/ `[^`]*` was not found\.$/, '')

for (const title of [
  'workspaces.get 404: GET',
  'workspaces.update 404: PATCH',
  'workspaces.delete 404: DELETE',
  'workspaces.list_members 404: GET /members',
]) {
  const [method = '', rest = ''] = (title.split(': ')[1] ?? '').split(' ')
  t.test(
    `${title} of an unknown or deleted workspace or of another organization's workspace, with the same message`,
    async (t) => {
      const gone = String(dataOf(await make(`gone-${method}${rest.length}`.toLowerCase()))['id'])
      t.same((await call('DELETE', `/workspaces/${gone}`)).body, { deleted: true })
      const body = method === 'PATCH' ? { body: { name: 'n' } } : {}
      const refs = [NOBODY, gone, 'nowhere', 'no%00where']
      const reply = await Promise.all([
        ...refs.map((ref) => call(method, `/workspaces/${ref}${rest}`, body)),
        ...[workspace.id, 'other'].map((ref) =>
          call(method, `/workspaces/${ref}${rest}`, { key: foreignKey, ...body }),
        ),
      ])
      const text = (answer: (typeof reply)[number]): unknown =>
        withoutName((answer.body['error'] as { message: string }).message)
      t.same(
        reply.map((answer) => [answer.status, answer.type, text(answer)]),
        reply.map(() => [404, 'workspace_unknown', 'There is no such workspace.']),
      )
    },
  )
}

t.test(
  'only management keys can use workspaces, on every route and for workspaces of any owner',
  async (t) => {
    const intern = must(
      await createInternKey(
        store,
        { name: 'k', rateLimitRpm: null, expiresAt: null, internId: await front.intern(), organizationId },
        CLI,
      ),
    )
    const routes = [
      ['GET', '/workspaces', 401],
      ['POST', '/workspaces', 403],
      ['GET', '/workspaces/other', 403],
      ['PATCH', '/workspaces/other', 403],
      ['DELETE', `/workspaces/${workspace.id}`, 403],
      ['GET', `/workspaces/${NOBODY}/members`, 403],
    ] as const
    for (const key of [await front.key('inference'), intern.key]) {
      for (const [method, path, status] of routes)
        t.match(await call(method, path, { key }), { status, type: 'wrong_key_kind' }, `${method} ${path}`)
    }
  },
)

t.test(
  'workspaces.list 200: lists the organization’s workspaces, oldest first, in pages, with the total count',
  async (t) => {
    const foreign = await call('GET', '/workspaces', { key: foreignKey })
    t.match(foreign.body, { data: [{ slug: 'default', is_default: true }], total_count: 1 })
    const all = (await call('GET', `/workspaces?limit=${WORKSPACES_PAGE_MAX}`)).body as {
      data: { id: string }[]
      total_count: number
    }
    t.equal(all.total_count, all.data.length)
    t.same(
      all.data.slice(0, 2).map(({ id }) => id),
      [workspace.id, other.id],
    )
    const page = (await call('GET', '/workspaces?limit=2&offset=1')).body as typeof all
    t.same([page.data, page.total_count], [all.data.slice(1, 3), all.total_count])
    t.same((await call('GET', `/workspaces?offset=${WORKSPACES_OFFSET_MAX}`)).body, {
      data: [],
      total_count: all.total_count,
      has_more: false,
    })
    for (let n = all.total_count; n <= WORKSPACES_PAGE_DEFAULT; n++)
      must(await createWorkspace(store, { organizationId, name: 'n', slug: `n${n}` }))
    t.equal(((await call('GET', '/workspaces')).body['data'] as unknown[]).length, WORKSPACES_PAGE_DEFAULT)
    for (const query of [
      'limit=0',
      `limit=${WORKSPACES_PAGE_MAX + 1}`,
      'offset=-1',
      `offset=${WORKSPACES_OFFSET_MAX + 1}`,
      'limit=x',
    ]) {
      t.match(await call('GET', `/workspaces?${query}`), { status: 400, type: 'query_invalid' }, query)
    }
  },
)

t.test(
  'workspaces.list_members 200: each member once, with the strongest role and every grant',
  async (t) => {
    must(await addMember(store, { workspace: other, userName: 'bob@acme.example', role: 'member' }, CLI))
    must(await addMember(store, { workspace: other, userName: 'Ann@acme.example', role: 'admin' }, CLI))
    const { status, body } = await call('GET', '/workspaces/other/members')
    t.equal(status, 200)
    t.match(body, {
      total_count: 2,
      data: [
        {
          user_id: /^[0-9a-f-]{36}$/,
          user_name: 'Ann@acme.example',
          display_name: null,
          email: null,
          role: 'admin',
          created_at: INSTANT,
          grants: [{ source: 'manual', mapping_id: null, role: 'admin', created_at: INSTANT }],
        },
        { user_name: 'bob@acme.example', role: 'member' },
      ],
    })
    t.match((await call('GET', '/workspaces/other/members?limit=1&offset=1')).body, {
      total_count: 2,
      data: [{ user_name: 'bob@acme.example' }],
    })
  },
)

t.test('workspaces.list_members 400: a number out of range', async (t) => {
  t.match(await call('GET', '/workspaces/other/members?limit=0'), { status: 400, type: 'query_invalid' })
})
