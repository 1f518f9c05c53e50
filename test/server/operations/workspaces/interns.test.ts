import t from 'tap'
import {
  INTERNS_PAGE_DEFAULT,
  INTERNS_PAGE_MAX,
} from '../../../../src/schemas/workspaces/workspace-limits.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { createAttachableVault } from '../../../../src/server/store/vault/attachable-vaults.ts'
import { LIST_PAGE_BYTES_MAX } from '../../../../src/schemas/limits/limits.ts'
import { openInterns } from '../../../../src/server/store/workspaces/interns.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { setWorkspace } from '../../../support/workspaces/set-workspace.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { openInternsFront, type InternsFront } from '../../../support/workspaces/interns-front.ts'
import { must } from '../../../support/must.ts'

const NOBODY = '019a5b0c-4e21-7b1c-8d3e-4f5a6b7c8d9e'

t.test('interns.get 200: the intern as it was made', async (t) => {
  const { call } = await openInternsFront(t)
  const made = await call('POST', '/interns', { body: { name: 'Ada', provision: false } })
  t.same(
    await call('GET', `/interns/${String(made.body['id'])}`).then(({ status, body }) => [status, body]),
    [200, made.body],
  )
})

for (const title of [
  'interns.get 404: GET ',
  'interns.update 404: PATCH ',
  'interns.delete 404: DELETE ',
  'interns.provision 404: POST /provision',
  'interns.suspend 404: POST /suspend',
]) {
  const [method = '', rest = ''] = (title.split(': ')[1] ?? '').split(' ')
  t.test(
    `${title} of an unknown or deleted intern or of another organization's intern, with the same message`,
    async (t) => {
      const { call, intern, foreignKey } = await openInternsFront(t)
      const [id, gone] = [await intern(), await intern()]
      await call('DELETE', `/interns/${gone}`)
      const body = method === 'PATCH' ? { body: {} } : {}
      const reply = await Promise.all([
        call(method, `/interns/${NOBODY}${rest}`, body),
        call(method, `/interns/${gone}${rest}`, body),
        call(method, `/interns/x%E0%A4${rest}`, body),
        call(method, `/interns/${id}${rest}`, { key: foreignKey, ...body }),
      ])
      const text = (answer: (typeof reply)[number]): unknown =>
        (answer.body['error'] as { message: string }).message
      t.same(
        reply.map((answer) => [answer.status, answer.type, text(answer)]),
        reply.map(() => [404, 'intern_unknown', 'There is no such intern.']),
      )
    },
  )
}

t.test(
  'every operation of an intern gets 404 outside the programme, and the intern is unchanged when the workspace rejoins',
  async (t) => {
    const { call, store, other, intern } = await openInternsFront(t)
    const id = await intern({ workspace_id: 'other' })
    must(await setWorkspace(store, other.id, { isInProgramme: false }))
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/provision'],
      ['POST', '/suspend'],
    ] as const) {
      const answer = await call(
        method,
        `/interns/${id}${path}`,
        method === 'PATCH' ? { body: { name: 'Bob' } } : {},
      )
      t.match(answer, { status: 404, type: 'programme_closed' }, method + path)
    }
    t.match(await call('GET', '/interns?workspace_id=other'), { status: 404, type: 'programme_closed' })
    must(await setWorkspace(store, other.id, { isInProgramme: true }))
    t.match(await call('GET', `/interns/${id}`), { status: 200, body: { name: 'Ada' } })
  },
)

t.test(
  'interns.list 200: pages of the workspace, oldest first, by the cursor of the previous page',
  async (t) => {
    const { call, intern } = await openInternsFront(t)
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.push(await intern({ name: `n${n}` }))
    await intern({ workspace_id: 'other' })
    const seen: unknown[] = []
    let cursor = ''
    for (const size of [2, 2, 1]) {
      const { status, body } = await call('GET', `/interns?limit=2${cursor}`)
      const { data, has_more, next_cursor } = body as {
        data: { id: string }[]
        has_more: boolean
        next_cursor?: string
      }
      const same = (await call('GET', `/interns?limit=2${cursor.replace('cursor', 'starting_after')}`)).body
      t.same(same, body)
      t.same([status, data.length, has_more, next_cursor !== undefined], [200, size, size === 2, size === 2])
      seen.push(...data.map(({ id }) => id))
      cursor = `&cursor=${next_cursor ?? ''}`
    }
    t.same(seen, ids)
    t.match((await call('GET', '/interns?workspace_id=other')).body, {
      data: [{ name: 'Ada' }],
      has_more: false,
    })
    t.same((await call('GET', '/interns?status=running')).body, { data: [], has_more: false })
    for (const list of ['stopped', 'running,stopped', 'stopped%2Cfailed,running'])
      t.equal(((await call('GET', `/interns?status=${list}`)).body['data'] as unknown[]).length, 5, list)
    t.same((await call('GET', '/interns?status=running,queued')).body['data'], [])
  },
)

t.test('a page of interns has a default size', async (t) => {
  const { call, store, organizationId, workspace } = await openInternsFront(t)
  const interns = openInterns(store, () => Promise.resolve())
  const input = {
    organizationId,
    workspace: workspace.id,
    name: 'n',
    attachedVaultId: null,
    description: null,
    instructions: null,
    wantsProvision: false,
  }
  for (let n = 0; n <= INTERNS_PAGE_DEFAULT; n++) must(await interns.create(input, CLI))
  const { data, has_more } = (await call('GET', '/interns')).body as { data: unknown[]; has_more: boolean }
  t.same([data.length, has_more], [INTERNS_PAGE_DEFAULT, true])
})

t.test('a page of interns with long texts ends early, and the next pages contain the rest', async (t) => {
  const { call, intern } = await openInternsFront(t)
  const instructions = 'i'.repeat(LIST_PAGE_BYTES_MAX / 2 - 100)
  const made: string[] = []
  for (let nth = 0; nth < 5; nth++) made.push(await intern({ instructions: nth === 3 ? null : instructions }))
  const pages: (readonly unknown[])[] = []
  for (let cursor: unknown = null; cursor !== undefined;) {
    const { body } = await call('GET', `/interns${cursor === null ? '' : `?cursor=${String(cursor)}`}`)
    pages.push((body['data'] as { id: string }[]).map(({ id }) => id))
    t.equal(body['has_more'], body['next_cursor'] !== undefined)
    cursor = body['next_cursor']
  }
  t.same(pages, [made.slice(0, 3), made.slice(3)])
})

t.test(
  'interns.list 400: an unknown status, a number out of range, and a cursor that was never returned',
  async (t) => {
    const { call } = await openInternsFront(t)
    const forged = Buffer.from("after:'; DROP TABLE interns; --").toString('base64url')
    const wrongStatuses = ['lazy', 'stopped,', ',stopped', 'stopped,lazy', 'stoppedqueued', ''].map(
      (list) => `status=${list}`,
    )
    const others = [
      'limit=0',
      `limit=${INTERNS_PAGE_MAX + 1}`,
      'cursor=',
      'cursor=abc',
      `cursor=${forged}`,
      `cursor=${NOBODY}`,
    ]
    for (const query of [...wrongStatuses, ...others]) {
      t.match(await call('GET', `/interns?${query}`), { status: 400, type: 'query_invalid' }, query)
    }
    t.match(await call('GET', `/interns?limit=${INTERNS_PAGE_MAX}`), { status: 200 })
    for (const name of ['cursor', 'starting_after'])
      t.match((await call('GET', `/interns?${name}=abc`)).body, {
        error: { metadata: { issues: [{ path: `/${name}` }] } },
      })
  },
)

t.test('errors of interns have a reason and whether to retry, as existing clients require', async (t) => {
  const { call } = await openInternsFront(t)
  const metadataOf = async (method: 'GET' | 'POST', path: string, options = {}) => {
    const { error } = (await call(method, path, options)).body as {
      error: { metadata: Record<string, unknown> }
    }
    return error.metadata
  }
  t.match(await metadataOf('GET', `/interns/${NOBODY}`), {
    error_type: 'intern_unknown',
    reason: 'intern_unknown',
    retryable: false,
  })
  t.match(await metadataOf('GET', '/interns?limit=0'), {
    reason: 'query_invalid',
    retryable: false,
    issues: [{ path: '/limit' }],
  })
  t.match(await metadataOf('GET', '/interns', { key: 'sk-sluice-mgmt-v1-none' }), {
    reason: 'key_unknown',
    retryable: false,
  })
})

t.test('interns.list 404: an unknown workspace', async (t) => {
  const { call } = await openInternsFront(t)
  t.match(await call('GET', '/interns?workspace_id=nowhere'), { status: 404, type: 'workspace_unknown' })
})

t.test('interns.update 200: changes given members, removes null ones, and keeps the others', async (t) => {
  const { call, store, workspace, organizationId, intern } = await openInternsFront(t)
  const vaultId = must(
    await createAttachableVault(store, { organizationId, workspaceId: workspace.id, name: 'team' }, CLI),
  ).id
  const id = await intern({ description: 'Reads', instructions: 'Be kind' })
  const before = (await call('GET', `/interns/${id}`)).body
  const change = async (body: object) => (await call('PATCH', `/interns/${id}`, { body })).body
  const { updated_at, ...after } = await change({
    name: 'Bob',
    description: null,
    vault_id: vaultId,
    hostname: 'ignored',
  })
  t.match(after, {
    name: 'Bob',
    description: null,
    instructions: 'Be kind',
    attached_vault_id: vaultId,
    hostname: null,
    vault_id: before['vault_id'],
  })
  t.ok(String(updated_at) >= String(before['updated_at']))
  t.match(await change({}), { name: 'Bob', attached_vault_id: vaultId })
  t.match(await change({ vault_id: null }), { attached_vault_id: null })
  t.match((await auditOf(store)).slice(2), [
    {
      operation: 'interns.update',
      object_id: id,
      before: { name: 'Ada', attached_vault_id: null },
      after: { name: 'Bob', attached_vault_id: vaultId },
    },
    { operation: 'interns.update' },
    { operation: 'interns.update', after: { attached_vault_id: null } },
  ])
})

t.test(
  'interns.update 200: a null name is ignored, and a null description removes the description',
  async (t) => {
    const { call, intern } = await openInternsFront(t)
    const id = await intern()
    const { body: before } = await call('PATCH', `/interns/${id}`, { body: { description: 'd' } })
    const { body: after } = await call('PATCH', `/interns/${id}`, { body: { name: null, description: null } })
    const nameOf = (body: unknown): unknown => (body as Record<string, unknown>)['name']
    t.type(nameOf(before), 'string')
    t.equal(nameOf(after), nameOf(before))
    t.match(JSON.stringify(after), /"description":null/)
  },
)

t.test('interns.update 400: an invalid body', async (t) => {
  const { call, intern } = await openInternsFront(t)
  const id = await intern()
  t.match(await call('PATCH', `/interns/${id}`, { body: { name: 5 } }), { status: 400, type: 'body_invalid' })
  t.match(await call('PATCH', `/interns/${id}`, { body: '[]' }), { status: 400, type: 'body_invalid' })
  t.match(await call('PATCH', `/interns/${id}`, { body: { vault_id: NOBODY } }), {
    status: 404,
    type: 'vault_unknown',
  })
})

t.test(
  'interns.delete 202: deletes the intern with its vault and secrets, ends its keys, and audits all of it',
  async (t) => {
    const front = await openInternsFront(t)
    const { call, store, intern } = front
    const [id, spared] = [await intern(), await intern()]
    const { body } = await call('GET', `/interns/${id}`)
    await plantSecret(front, String(body['vault_id']))
    const [key, sparedKey] = [await internKey(front, id), await internKey(front, spared)]
    t.match(await call('GET', '/interns', { key }), { status: 403, type: 'wrong_key_kind' })
    const removed = await call('DELETE', `/interns/${id}`)
    t.match([removed.status, removed.body], [202, { ...body, status: 'destroying', deleting: true }])
    t.match(await call('GET', '/interns', { key }), { status: 401, type: 'key_unknown' })
    t.match(await call('GET', '/interns', { key: sparedKey }), { status: 403, type: 'wrong_key_kind' })
    t.match(
      await store.sql`SELECT (SELECT count(*)::int FROM secrets) AS secrets, (SELECT count(*)::int FROM vaults) AS vaults`,
      [{ secrets: 0, vaults: 1 }],
    )
    t.match((await auditOf(store)).slice(-2), [
      {
        operation: 'interns.delete',
        object_kind: 'key',
        before: { kind: 'intern', intern_id: id },
        after: null,
      },
      {
        operation: 'interns.delete',
        object_kind: 'intern',
        object_id: id,
        before: { name: 'Ada', secrets: ['token'] },
        after: null,
      },
    ])
  },
)

t.test('an intern with secrets is not deleted while vault writes are disabled', async (t) => {
  const { call, store, workspace, intern } = await openInternsFront(t)
  const id = await intern()
  must(await setWorkspace(store, workspace.id, { mayWriteVault: false }))
  t.match(await call('DELETE', `/interns/${id}`), { status: 503, type: 'vault_writes_disabled' })
  t.match(await call('PATCH', `/interns/${id}`, { body: { name: 'Bob' } }), { status: 200 })
})

t.test('after a removal that races with a new key, no key works', async (t) => {
  const front = await openInternsFront(t)
  const { store, call, intern } = front
  for (let n = 0; n < 10; n++) {
    const id = await intern()
    const input = { internId: id, organizationId: null, name: 'k', rateLimitRpm: null, expiresAt: null }
    await Promise.all([call('DELETE', `/interns/${id}`), createInternKey(store, input, CLI)])
  }
  t.match(
    await store.sql`SELECT count(*)::int AS count FROM api_keys WHERE kind = 'intern' AND revoked_at IS NULL`,
    [{ count: 0 }],
  )
})

for (const title of ['interns.provision 400: /provision', 'interns.suspend 400: /suspend']) {
  t.test(`${title} is not supported, with a message that explains it`, async (t) => {
    const { call, intern } = await openInternsFront(t)
    const refused = await call('POST', `/interns/${await intern()}${title.split(': ')[1] ?? ''}`)
    t.match(refused, {
      status: 400,
      type: 'not_supported',
      body: {
        error: {
          message:
            'Sluice does not support this feature. Sluice keeps records of interns but does not run them.',
        },
      },
    })
    t.equal(refused.headers.get('x-should-retry'), 'false')
  })
}

for (const title of [
  'interns.create 503: POST /interns',
  'interns.list 503: GET /interns',
  'interns.get 503: GET /interns/x',
  'interns.update 503: PATCH /interns/x',
  'interns.delete 503: DELETE /interns/x',
  'interns.provision 503: POST /interns/x/provision',
  'interns.suspend 503: POST /interns/x/suspend',
]) {
  t.test(`${title} while the store is unavailable`, async (t) => {
    const away = openStore({ url: 'postgres://nobody@127.0.0.1:1/none', poolMax: 1, applicationName: 'away' })
    t.teardown(() => away.close())
    const { call } = await openInternsFront(t, { interns: openInterns(away, () => Promise.resolve()) })
    const [method = '', path = ''] = (title.split(': ')[1] ?? '').replace('/x', `/${NOBODY}`).split(' ')
    const answer = await call(
      method,
      path,
      /POST \/interns$|PATCH/.test(title) ? { body: { name: 'Ada', provision: false } } : {},
    )
    t.match(answer, { status: 503, type: 'store_unavailable' })
    t.ok(Number(answer.headers.get('retry-after')) >= 1)
  })
}

async function internKey({ store }: InternsFront, internId: string): Promise<string> {
  return must(
    await createInternKey(
      store,
      { internId, organizationId: null, name: 'k', rateLimitRpm: null, expiresAt: null },
      CLI,
    ),
  ).key
}

/** A row as the vault keeps it. No test decrypts it. */
async function plantSecret({ store }: InternsFront, vaultId: string): Promise<void> {
  await store.sql.begin(async (tx) => {
    const [key] = await tx<{ id: string }[]>`
      INSERT INTO vault_keys (id, vault_id, purpose, root_key_id, wrapped) VALUES (${NOBODY}, ${vaultId}, 'sealing', 'r', '\\x00') RETURNING id`
    await tx`
      INSERT INTO secrets (vault_id, name, hosts, version, key_id, sealed)
      VALUES (${vaultId}, 'token', '{api.example}', nextval('secret_versions'), ${key?.id ?? ''}, '\\x00')`
  })
}
