import t from 'tap'
import { LIST_PAGE_BYTES_MAX, LOCK_WAIT_MS_MAX } from '../../../../src/schemas/limits/limits.ts'
import { PRESETS_PAGE_DEFAULT, PRESETS_PAGE_MAX } from '../../../../src/schemas/presets/preset-limits.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import { createInternKey } from '../../../support/keys/make-keys.ts'
import { auditOf } from '../../../support/audit/audit.ts'
import { must } from '../../../support/must.ts'
import { openPresetsFront } from '../../../support/presets/presets-front.ts'
import { heldUntil } from '../../../support/stores/lock-waiters.ts'
import type { Answered } from '../../../support/workspaces/interns-front.ts'
import { PRESETS_OFFSET_MAX } from '../../../../src/schemas/presets/presets.ts'

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** Shared: every test has slugs of its own. */
const front = await openPresetsFront(t, { lockMsMax: LOCK_WAIT_MS_MAX })
const { call, store, organizationId, workspace, other, foreignKey, presets, by, saved, get, post } = front

const dataOf = ({ body }: Answered) => body['data'] as Readonly<Record<string, unknown>>

t.test('presets.get 200: every key that existing clients require, with the designated version', async (t) => {
  const path = await saved('whole', ['a', 'b'], {
    input: { config: { model: 'm', temperature: 0.5, metadata: { a: 'b' } }, systemPrompt: 'Be brief' },
  })
  const { id, designated_version_id, created_at, updated_at, designated_version, ...others } = dataOf(
    await get(path),
  )
  t.same(others, {
    name: 'whole',
    slug: 'whole',
    description: null,
    status: 'active',
    status_updated_at: null,
    creator_user_id: by.actor.id,
    workspace_id: workspace.id,
  })
  t.match([created_at, updated_at], [INSTANT, INSTANT])
  const { created_at: born, ...version } = designated_version as Readonly<Record<string, unknown>>
  t.same(version, {
    id: designated_version_id,
    preset_id: id,
    creator_id: by.actor.id,
    updated_at: born,
    version: 2,
    system_prompt: 'Be brief',
    config: { model: 'm', temperature: 0.5, metadata: { a: 'b' } },
  })
})

t.test('presets.list 200: sorts by slug, with archived presets, in pages, without configs', async (t) => {
  const place = { workspaceId: other.id }
  for (const slug of ['z', 'b', 'Z', 'a.b']) await saved(slug, ['m'], place)
  must(await presets.archive({ ...place, slug: 'b' }, by))
  const list = async (query: string) => {
    const { body } = await get(`/presets?workspace_id=other${query}`)
    return [(body['data'] as { slug: string }[]).map(({ slug }) => slug), body['total_count']]
  }
  t.same(await list(''), [['Z', 'a.b', 'b', 'z'], 4])
  t.same(await list('&limit=2&offset=1'), [['a.b', 'b'], 4])
  t.same(await list('&offset=4'), [[], 4])
  const [first] = (await get(`/presets?workspace_id=${other.id.toUpperCase()}&limit=1`)).body[
    'data'
  ] as object[]
  t.match(first, { slug: 'Z', designated_version_id: String })
  t.notOk('designated_version' in (first ?? {}))
})

t.test('a page has PRESETS_PAGE_DEFAULT presets, and accepts the maximum limit and offset', async (t) => {
  const place = { workspaceId: other.id }
  await Promise.all(
    Array.from({ length: PRESETS_PAGE_DEFAULT + 1 }, (_, n) => saved(`page-${n}`, ['m'], place)),
  )
  t.equal(((await get('/presets?workspace_id=other')).body['data'] as unknown[]).length, PRESETS_PAGE_DEFAULT)
  t.equal((await get(`/presets?limit=${PRESETS_PAGE_MAX}&offset=${PRESETS_OFFSET_MAX}`)).status, 200)
})

t.test('presets.list 400: pages beyond the limits, and workspaces that the key may not read', async (t) => {
  for (const query of [
    `limit=${PRESETS_PAGE_MAX + 1}`,
    'limit=0',
    `offset=${PRESETS_OFFSET_MAX + 1}`,
    'offset=-1',
    'limit=x',
  ]) {
    t.equal((await get(`/presets?${query}`)).status, 400, query)
  }
  t.match(await get('/presets?workspace_id=nowhere'), { status: 400, type: 'workspace_unknown' })
  t.match(await get(`/presets?workspace_id=${workspace.id}`, foreignKey), {
    status: 400,
    type: 'workspace_unknown',
  })
  const key = await front.key('inference')
  for (const reference of ['other', 'nowhere', other.id]) {
    t.match(
      await get(`/presets?workspace_id=${reference}`, key),
      { status: 400, type: 'workspace_forbidden' },
      'alike, or it would learn which there are',
    )
  }
  t.equal((await get('/presets?workspace_id=default', key)).status, 200, 'its own')
})

t.test('presets.list_versions 200: sorted by number, in pages', async (t) => {
  const path = await saved('many', ['a', 'b', 'c', 'd'])
  const list = async (query: string) => {
    const { body } = await get(`${path}/versions${query}`)
    return [
      (body['data'] as { version: number; config: unknown }[]).map(({ version, config }) => [
        version,
        config,
      ]),
      body['total_count'],
    ]
  }
  t.same(await list(''), [
    [
      [1, { model: 'a' }],
      [2, { model: 'b' }],
      [3, { model: 'c' }],
      [4, { model: 'd' }],
    ],
    4,
  ])
  t.same(await list('?limit=2&offset=1'), [
    [
      [2, { model: 'b' }],
      [3, { model: 'c' }],
    ],
    4,
  ])
  t.same(await list(`?offset=${PRESETS_OFFSET_MAX}`), [[], 4])
})

t.test('a page of large versions ends at a byte limit, and the next page continues after it', async (t) => {
  const path = await saved('large', ['a', 'b', 'c'], {
    input: { systemPrompt: 'x'.repeat(LIST_PAGE_BYTES_MAX / 2) },
  })
  const list = async (query: string) => {
    const { body } = await get(`${path}/versions${query}`)
    return [
      (body['data'] as { version: number }[]).map(({ version }) => version),
      body['total_count'],
      body['has_more'],
    ]
  }
  t.same(await list(''), [[1, 2], 3, true])
  t.same(await list('?offset=2'), [[3], 3, false])
  t.same(await list('?limit=1&offset=1'), [[2], 3, true])
})

t.test('presets.get_version 200: returns the requested version, whichever is designated', async (t) => {
  const path = await saved('one', ['a', 'b'])
  t.match(await get(`${path}/versions/1`), {
    status: 200,
    body: { data: { version: 1, config: { model: 'a' }, system_prompt: null } },
  })
})

t.test('presets.get_version 404: an invalid version number, and an unknown preset', async (t) => {
  const path = await saved('numbers', ['a'])
  for (const version of ['0', '2', '-1', '01', '1.0', '1e0', 'latest', '9'.repeat(30), '%00']) {
    t.match(
      await get(`${path}/versions/${version}`),
      { status: 404, type: 'preset_version_unknown' },
      version,
    )
  }
  t.match(await get('/presets/nothing/versions/1'), { status: 404, type: 'preset_unknown' })
})

t.test('presets.get 404: an unknown preset, and those of other workspaces and organizations', async (t) => {
  const path = await saved('mine', ['a'])
  t.match(await get('/presets/nothing'), { status: 404, type: 'preset_unknown' })
  t.match(await get(`${path}?workspace_id=other`), { status: 404, type: 'preset_unknown' })
  t.match(await get(path, foreignKey), { status: 404, type: 'preset_unknown' })
  t.match(await get(`${path}?workspace_id=${workspace.id}`, foreignKey), {
    status: 404,
    type: 'workspace_unknown',
  })
})

t.test('presets.list_versions 404: an unknown preset', async (t) => {
  t.match(await get('/presets/nothing/versions'), { status: 404, type: 'preset_unknown' })
})

t.test('presets.get 400: an invalid slug', async (t) => {
  for (const slug of ['a%20b', 'a%2Fb', '%00', 'a'.repeat(200)])
    t.match(await get(`/presets/${slug}`), { status: 400 }, slug)
})

t.test('presets.list_versions 400: a page beyond the limits', async (t) => {
  t.equal((await get(`${await saved('paged', ['a'])}/versions?limit=${PRESETS_PAGE_MAX + 1}`)).status, 400)
})

t.test('presets.get_version 400: another workspace than the key’s', async (t) => {
  const path = await saved('forbidden', ['a'])
  t.match(await get(`${path}/versions/1?workspace_id=other`, await front.key('inference')), {
    status: 400,
    type: 'workspace_forbidden',
  })
})

t.test(
  'presets.designate 200: a rollback adds one audit event, and a repetition changes nothing',
  async (t) => {
    const path = await saved('rolled', ['a', 'b', 'c'])
    const count = async () => (await auditOf(store)).length
    const before = await count()
    const rolled = dataOf(await post(`${path}/designate`, { version: 1 }))
    t.match(rolled, { slug: 'rolled', designated_version: { version: 1, config: { model: 'a' } } })
    t.match(dataOf(await get(path)), {
      designated_version_id: rolled['designated_version_id'],
      designated_version: { version: 1 },
    })
    t.match(dataOf(await post(`${path}/designate`, { version: 1 })), { designated_version: { version: 1 } })
    t.equal(await count(), before + 1)
    t.match(
      (await auditOf(store))
        .filter((event) => (event as { operation: string }).operation === 'presets.designate')
        .at(-1),
      {
        object_kind: 'preset',
        object_id: rolled['id'],
        workspace_id: workspace.id,
        before: { designated_version: 3 },
        after: { slug: 'rolled', designated_version: 1 },
      },
    )
  },
)

t.test('presets.designate 400: a version that is not a whole number above 0', async (t) => {
  const path = await saved('wrong', ['a'])
  for (const body of [{}, { version: 0 }, { version: '1' }, { version: 1.5 }, { version: null }, []]) {
    t.match(await post(`${path}/designate`, body), { status: 400, type: 'body_invalid' })
  }
})

t.test('presets.designate 404: an unknown version, and a preset of another organization', async (t) => {
  const path = await saved('short', ['a'])
  t.match(await post(`${path}/designate`, { version: 2 }), { status: 404, type: 'preset_version_unknown' })
  t.match(await post(`${path}/designate`, { version: Number.MAX_SAFE_INTEGER }), {
    status: 404,
    type: 'preset_version_unknown',
  })
  t.match(await call('POST', `${path}/designate`, { body: { version: 1 }, key: foreignKey }), {
    status: 404,
    type: 'preset_unknown',
  })
})

t.test('presets.designate 409: an archived preset', async (t) => {
  const path = await saved('stored', ['a', 'b'])
  t.equal((await post(`${path}/archive`)).status, 200)
  t.match(await post(`${path}/designate`, { version: 1 }), { status: 409, type: 'preset_archived' })
})

t.test('presets.archive 200: keeps a preset readable, and its next version makes it active', async (t) => {
  const path = await saved('old', ['a'])
  t.match(dataOf(await post(`${path}/archive`)), {
    status: 'archived',
    status_updated_at: INSTANT,
    designated_version: { version: 1 },
  })
  t.match(dataOf(await post(`${path}/archive`)), { status: 'archived' })
  t.match(dataOf(await get(path)), { status: 'archived' })
  await saved('old', ['b'])
  t.match(dataOf(await get(path)), { status: 'active', designated_version: { version: 2 } })
  const events = (await auditOf(store)).filter(
    (event) => (event as { operation: string }).operation === 'presets.archive',
  )
  t.equal(events.filter((event) => (event as { after: { slug: string } }).after.slug === 'old').length, 1)
})

t.test('presets.archive 404: an unknown preset', async (t) => {
  t.match(await post('/presets/nothing/archive'), { status: 404, type: 'preset_unknown' })
})

t.test('presets.archive 400: an invalid slug', async (t) => {
  t.equal((await post('/presets/a%20b/archive')).status, 400)
})

t.test('presets.archive 409: another transaction holds the preset too long', async (t) => {
  const path = await saved('held', ['a'])
  await store.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM presets WHERE slug = 'held' FOR UPDATE`
    t.match(await heldUntil(tx, post(`${path}/archive`)), { status: 409, type: 'preset_conflict' })
  })
})

t.test('inference and intern keys can read, but not change, presets of their own workspace', async (t) => {
  const path = await saved('readable', ['a', 'b'])
  const intern = await front.intern()
  const internKey = must(
    await createInternKey(
      store,
      { name: 'k', rateLimitRpm: null, expiresAt: null, internId: intern, organizationId },
      by,
    ),
  )
  for (const key of [await front.key('inference'), internKey.key]) {
    for (const read of ['', '/versions', '/versions/1', '/diff'])
      t.equal((await get(path + read, key)).status, 200, read)
    t.equal((await get('/presets', key)).status, 200)
    t.equal((await get(`/presets?workspace_id=${workspace.id}`, key)).status, 200, 'their own by its name')
    t.match(await call('POST', `${path}/archive`, { key }), { status: 403, type: 'wrong_key_kind' })
    t.match(await call('POST', `${path}/designate`, { key, body: { version: 1 } }), {
      status: 403,
      type: 'wrong_key_kind',
    })
  }
})

t.test('reads of presets and refused calls add nothing to the audit log', async (t) => {
  const path = await saved('quiet', ['a'])
  const before = (await auditOf(store)).length
  for (const read of ['', '/versions', '/versions/1', '/versions/7', '/diff']) await get(path + read)
  await get('/presets')
  await post(`${path}/designate`, { version: 9 })
  await post('/presets/nothing/archive')
  t.equal((await auditOf(store)).length, before)
  t.equal(OPERATIONS.filter(({ id, method }) => id.startsWith('presets.') && method === 'get').length, 5)
})
