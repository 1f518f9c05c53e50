import t from 'tap'
import { PRESETS_MAX } from '../../../../src/schemas/presets/preset-limits.ts'
import { openStore, type Store } from '../../../../src/server/store/base/open.ts'
import { openWorkspaces } from '../../../../src/server/store/lifecycle/open-workspaces.ts'
import { openPresetRows, openPresets } from '../../../../src/server/store/presets/presets.ts'
import { createWorkspace } from '../../../../src/server/store/workspaces/workspaces.ts'
import { auditOf, CLI } from '../../../support/audit/audit.ts'
import { must, present } from '../../../support/must.ts'
import { heldUntil } from '../../../support/stores/lock-waiters.ts'
import { openTestDatabase, openTestStore } from '../../../support/stores/postgres.ts'
import { presetStand, presetInput, type PresetStand } from '../../../support/presets/presets.ts'

const FIRST = { limit: 100, offset: 0 }

async function numbersOf({ presets, ref }: PresetStand, slug: string): Promise<readonly number[]> {
  const total = must(await presets.versions(ref(slug), { limit: 1, offset: 0 })).totalCount
  const pages = Array.from({ length: Math.ceil(total / 100) }, (_, page) =>
    presets.versions(ref(slug), { limit: 100, offset: page * 100 }),
  )
  return (await Promise.all(pages)).flatMap((page) => must(page).rows.map(({ version }) => version))
}

t.test('calls get the fields, the system prompt and the API format of a version', async (t) => {
  const store = await openTestStore(t)
  const { presets, ref, by } = await presetStand(store)
  const rows = openPresetRows(store)
  const more = { systemPrompt: 'Say "é".', source: 'messages' } as const
  must(await presets.put(ref('a'), presetInput('m/1', more), by))
  must(await presets.put(ref('a'), presetInput('m/2'), by))
  const contentOf = async (version: number | null): Promise<unknown> => {
    const content = must(await rows.load(ref('a'), version))?.content ?? null
    return content === null ? null : JSON.parse(content)
  }
  t.same(await contentOf(1), { config: { model: 'm/1' }, ...more })
  t.same(await contentOf(null), { config: { model: 'm/2' }, systemPrompt: null, source: 'responses' })
  t.equal(await contentOf(3), null)
})

t.test(
  '200 concurrent posts of a new slug over two pools make one preset, with versions 1 to n each once',
  async (t) => {
    const { url } = await openTestDatabase(t)
    const [one, two] = [
      openStore({ url, poolMax: 4, applicationName: 'one' }),
      openStore({ url, poolMax: 4, applicationName: 'two' }),
    ]
    t.teardown(() => Promise.all([one.close(), two.close()]))
    const stand = await presetStand(one)
    const fronts = [stand.presets, openPresets(two, () => Promise.resolve())]
    const put = await Promise.all(
      Array.from({ length: 200 }, (_, n) =>
        present(fronts[n % 2]).put(stand.ref('new'), presetInput(`m/${n}`), stand.by),
      ),
    )
    t.same(
      put.filter((outcome) => !outcome.ok && outcome.failure.name !== 'preset_conflict'),
      [],
    )
    const made = put.flatMap((outcome) => (outcome.ok ? [outcome.value] : []))
    t.equal(new Set(made.map(({ id }) => id)).size, 1)
    const expected = Array.from({ length: made.length }, (_, at) => at + 1)
    t.same(
      made.map(({ designated }) => designated.version).sort((a, b) => a - b),
      expected,
    )
    t.same(await numbersOf(stand, 'new'), expected)
    t.match(must(await stand.presets.get(stand.ref('new'))), { designated: { version: made.length } })
    t.equal(must(await stand.presets.list(stand.ref('new').workspaceId, FIRST)).totalCount, 1)
  },
)

t.test('a version keeps the order of members, U+0000 and the names of ignored fields', async (t) => {
  const stand = await presetStand(await openTestStore(t))
  const input = presetInput('m', {
    config: { z: 1, model: 'm\0', a: { b: [null] } },
    systemPrompt: 'a\0b\ud800',
    source: 'chat',
    ignored: ['x\0'],
  })
  const put = must(await stand.presets.put(stand.ref('s'), input, stand.by))
  t.match(put, {
    slug: 's',
    name: 's',
    status: 'active',
    statusUpdatedAt: null,
    description: null,
    creatorId: stand.by.actor.id,
  })
  const version = must(await stand.presets.version(stand.ref('s'), 1))
  t.same(version, put.designated)
  t.match(version, { ...input, version: 1, presetId: put.id })
  t.equal(JSON.stringify(version.config), '{"z":1,"model":"m\\u0000","a":{"b":[null]}}')
})

t.test(
  'a rollback selects an older version, is audited and published once, and numbers continue from the newest',
  async (t) => {
    const store = await openTestStore(t)
    const stand = await presetStand(store)
    const { presets, ref, by, reported } = stand
    for (const model of ['a', 'b', 'c']) must(await presets.put(ref('s'), presetInput(model), by))
    t.match(must(await presets.designate(ref('s'), 1, by)), {
      designated: { version: 1, config: { model: 'a' } },
    })
    t.match(must(await presets.designate(ref('s'), 1, by)), { designated: { version: 1 } })
    t.match(must(await presets.put(ref('s'), presetInput('d'), by)), { designated: { version: 4 } })
    const id = `${ref('s').workspaceId}/s`
    t.same(
      reported.map((change) => [change.kind, change.id]),
      Array.from({ length: 5 }, () => ['preset', id]),
    )
    const events = (await auditOf(store)).filter(
      (event) => (event as { object_kind: string }).object_kind === 'preset',
    )
    t.equal(events.length, 5)
    t.match(events[3], {
      before: { designated_version: 3 },
      after: { slug: 's', status: 'active', designated_version: 1, latest_version: 3 },
    })
    t.match(events[0], { before: null, after: { designated_version: 1 } })
  },
)

t.test('an unknown version number cannot be read or designated', async (t) => {
  const { presets, ref, by } = await presetStand(await openTestStore(t))
  must(await presets.put(ref('s'), presetInput('m'), by))
  for (const version of [0, -1, 2, 1.5, 2 ** 31, 2 ** 53, Number.NaN]) {
    t.match(await presets.version(ref('s'), version), { failure: { name: 'preset_version_unknown' } })
    t.match(await presets.designate(ref('s'), version, by), { failure: { name: 'preset_version_unknown' } })
  }
})

t.test('an archived preset cannot be designated, and a post to its slug makes it active again', async (t) => {
  const { presets, ref, by, reported } = await presetStand(await openTestStore(t))
  must(await presets.put(ref('s'), presetInput('a'), by))
  t.match(must(await presets.archive(ref('s'), by)), {
    status: 'archived',
    statusUpdatedAt: Date,
    designated: { version: 1 },
  })
  t.match(must(await presets.archive(ref('s'), by)), { status: 'archived' })
  t.equal(reported.length, 2)
  t.match(await presets.designate(ref('s'), 1, by), { failure: { name: 'preset_archived' } })
  t.match(must(await presets.get(ref('s'))), { status: 'archived' })
  t.match(must(await presets.list(ref('s').workspaceId, FIRST)).rows, [{ status: 'archived' }])
  t.match(must(await presets.put(ref('s'), presetInput('b'), by)), {
    status: 'active',
    designated: { version: 2 },
  })
})

t.test(
  'workspaces can use the same slug independently, and a slug that the store cannot hold is unknown',
  async (t) => {
    const store = await openTestStore(t)
    const { presets, ref, by } = await presetStand(store)
    must(await presets.put(ref('s'), presetInput('a'), by))
    const other = must(
      await createWorkspace(store, { organizationId: by.organizationId, name: 'w', slug: 'other' }),
    )
    const there = { workspaceId: other.id, slug: 's' }
    t.match(await presets.get(there), { failure: { name: 'preset_unknown' } })
    t.match(await presets.archive(there, by), { failure: { name: 'preset_unknown' } })
    t.match(must(await presets.put(there, presetInput('b'), by)), { designated: { version: 1 } })
    t.match(await presets.versions({ workspaceId: other.id, slug: 's\0' }, FIRST), {
      failure: { name: 'preset_unknown' },
    })
  },
)

t.test(
  'a workspace has a maximum of presets, including archived ones, even for concurrent calls',
  async (t) => {
    const store = await openTestStore(t)
    const stand = await presetStand(store)
    await fill(store, stand, PRESETS_MAX - 2)
    const put = await Promise.all(
      Array.from({ length: 6 }, (_, n) => stand.presets.put(stand.ref(`s${n}`), presetInput('m'), stand.by)),
    )
    t.equal(put.filter((outcome) => outcome.ok).length, 2)
    t.match(
      put.find((outcome) => !outcome.ok),
      { failure: { name: 'presets_full', fields: { limit: PRESETS_MAX } } },
    )
    t.match(must(await stand.presets.put(stand.ref('full-1'), presetInput('m'), stand.by)), {
      designated: { version: 2 },
    })
  },
)

async function fill(store: Store, { by, ref }: PresetStand, count: number): Promise<void> {
  const { workspaceId } = ref('')
  await store.sql`
    WITH made AS (
      INSERT INTO presets (id, organization_id, workspace_id, slug, name, status, latest_version, designated_version, creator_id)
      SELECT gen_random_uuid(), ${by.organizationId}, ${workspaceId}, 'full-' || n, '', 'archived', 1, 1, '' FROM generate_series(1, ${count}::int) n
      RETURNING id)
    INSERT INTO preset_versions (id, preset_id, version, config, system_prompt, source, ignored, creator_id)
    SELECT gen_random_uuid(), id, 1, '{}', 'null', 'chat', '[]', '' FROM made`
}

t.test('removing a workspace removes its presets, even those that are just being saved', async (t) => {
  const store = await openTestStore(t, 8)
  const { presets, by } = await presetStand(store)
  const workspaces = openWorkspaces(store, () => Promise.resolve())
  for (let round = 0; round < 10; round++) {
    const { id } = must(
      await createWorkspace(store, { organizationId: by.organizationId, name: 'w', slug: `w${round}` }),
    )
    const puts = Array.from({ length: 6 }, (_, n) =>
      presets.put({ workspaceId: id, slug: `s${n % 2}` }, presetInput('m'), by),
    )
    const removed = workspaces.remove({ organizationId: by.organizationId, reference: id }, false, {
      ...CLI,
      operation: 'test',
    })
    const put = await Promise.all(puts)
    t.ok((await removed).ok)
    t.same(
      put.filter((outcome) => !outcome.ok && outcome.failure.name !== 'workspace_unknown'),
      [],
    )
    t.match(await presets.put({ workspaceId: id, slug: 's1' }, presetInput('m'), by), {
      failure: { name: 'workspace_unknown' },
    })
  }
  t.match(await store.sql`SELECT count(*)::int AS count FROM presets`, [{ count: 0 }])
  t.match(await store.sql`SELECT count(*)::int AS count FROM preset_versions`, [{ count: 0 }])
})

t.test('a writer that waits too long for the lock of a preset gets the conflict', async (t) => {
  const { url } = await openTestDatabase(t)
  const store = openStore({ url, poolMax: 4, applicationName: 'test' })
  t.teardown(() => store.close())
  const { presets, ref, by } = await presetStand(store)
  must(await presets.put(ref('s'), presetInput('a'), by))
  await store.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM presets WHERE slug = 's' FOR UPDATE`
    t.match(await heldUntil(tx, presets.put(ref('s'), presetInput('b'), by)), {
      failure: { name: 'preset_conflict', retryAfterS: 1 },
    })
  })
  t.match(must(await presets.put(ref('s'), presetInput('b'), by)), { designated: { version: 2 } })
})
