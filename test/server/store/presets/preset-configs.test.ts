import t from 'tap'
import { fail, ok } from '../../../../src/schemas/failures.ts'
import type { Change } from '../../../../src/server/ports/keys/keys.ts'
import type { PresetHead, PresetRows } from '../../../../src/server/ports/presets/presets.ts'
import {
  PRESET_CHARS_CACHED_MAX,
  PRESET_LOADS_MAX,
  PRESET_LOADS_WORKSPACE_MAX,
  PRESET_MISSES_CACHED_MAX,
  PRESET_VERSIONS_CACHED_MAX,
  PRESETS_CACHED_MAX,
  createPresetConfigs,
} from '../../../../src/server/store/presets/preset-configs.ts'
import { gate } from '../../../support/gate.ts'
import { BLIND_LOADS_MAX, RELOADS_MS_MAX } from '../../../../src/server/caches/live-loads.ts'

const WORKSPACE = 'w'

function stand(head: Partial<PresetHead> = {}) {
  const rows = {
    /** Null: no slug is there. */
    head: { id: 'p', isArchived: false, designated: 2, latest: 3, ...head } as PresetHead | null,
    asked: [] as string[],
    isAway: false,
    config: (slug: string, version: number): string => JSON.stringify({ model: `${slug}@${version}` }),
    during: (): Promise<void> => Promise.resolve(),
  }
  const load: PresetRows['load'] = async ({ workspaceId, slug }, version) => {
    rows.asked.push(`${workspaceId}/${slug}@${version ?? ''}`)
    const { head: read } = rows
    await rows.during()
    if (rows.isAway) return fail('store_unavailable')
    if (read === null) return ok(null)
    const wished = version ?? read.designated
    return ok({
      head: { ...read, id: `${read.id}-${slug}` },
      content: wished >= 1 && wished <= read.latest ? rows.config(slug, wished) : null,
    })
  }
  const listeners = new Set<(change: Change) => void>()
  const feed = {
    epoch: 0,
    lastGoodPollAtMs: 0,
    subscribe(listener: (change: Change) => void) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
  const clock = { now: 0 }
  const configs = createPresetConfigs({
    rows: { load, unknown: async () => fail('preset_unknown') },
    feed,
    graceMs: 1_000,
    now: () => clock.now,
  })
  const tell = (change: Change): void => listeners.forEach((listener) => listener(change))
  return {
    rows,
    configs,
    clock,
    tell,
    listeners,
    changed: (slug: string, workspaceId = WORKSPACE) =>
      tell({ kind: 'preset', n: 1, id: `${workspaceId}/${slug}` }),
    find: (slug: string, version: number | null = null, workspaceId = WORKSPACE) =>
      configs.find(workspaceId, { slug, version }),
  }
}

t.test('a preset is read at its first use, and served from the cache after that', async (t) => {
  const { find, rows } = stand()
  t.same(await find('s'), ok({ model: 's@2' }))
  const again = find('s')
  t.notOk(again instanceof Promise)
  t.same(again, ok({ model: 's@2' }))
  t.same(find('s', 2), ok({ model: 's@2' }), 'the designated one by its number')
  t.same(await find('s', 3), ok({ model: 's@3' }))
  t.same(rows.asked, ['w/s@', 'w/s@3'])
})

t.test(
  'refuses a version above the latest without a query, and finds a new version after its change',
  async (t) => {
    const { find, rows, changed } = stand()
    await find('s')
    t.match(find('s', 4), { failure: { name: 'preset_version_unknown' } })
    t.match(find('s', 0), { failure: { name: 'preset_version_unknown' } })
    t.equal(rows.asked.length, 1)
    rows.head = { id: 'p', isArchived: false, designated: 4, latest: 4 }
    changed('s')
    t.same(await find('s', 4), ok({ model: 's@4' }))
    t.same(find('s'), ok({ model: 's@4' }))
  },
)

t.test('a rollback and an archive take effect at once, and other changes evict nothing', async (t) => {
  const { find, rows, changed, tell } = stand()
  await find('s')
  changed('other')
  changed('s', 'another')
  for (const kind of ['key', 'workspace', 'organization', 'catalogue', 'vault', 'private_endpoint'] as const)
    tell({ kind, n: 2, id: 'w' })
  t.same(find('s'), ok({ model: 's@2' }))
  rows.head = { id: 'p', isArchived: false, designated: 1, latest: 3 }
  changed('s')
  t.same(await find('s'), ok({ model: 's@1' }))
  rows.head = { id: 'p', isArchived: true, designated: 1, latest: 3 }
  tell({ kind: 'everything' })
  t.match(await find('s', 2), { failure: { name: 'preset_unknown' } })
  t.match(find('s'), { failure: { name: 'preset_unknown' } })
})

t.test('asks for an unknown slug once, until it changes', async (t) => {
  const { find, rows, changed } = stand()
  const there = rows.head
  rows.head = null
  for (let round = 0; round < 50; round++)
    t.match(await find('s', round % 2 === 0 ? null : 1), { failure: { name: 'preset_unknown' } })
  t.equal(rows.asked.length, 1)
  rows.head = there
  changed('s')
  t.same(await find('s'), ok({ model: 's@2' }))
  rows.head = null
  changed('s')
  t.match(await find('s'), { failure: { name: 'preset_unknown' } })
})

t.test('a load is repeated for each change of its preset that arrives while it runs', async (t) => {
  const { find, rows, changed, tell } = stand()
  rows.during = async () => {
    rows.head = { id: 'p', isArchived: false, designated: 3, latest: 3 + rows.asked.length }
    if (rows.asked.length <= 10) changed('s')
    changed('other')
    tell({ kind: 'workspace', n: 1, id: WORKSPACE })
  }
  t.same(await find('s'), ok({ model: 's@3' }))
  t.equal(rows.asked.length, 11)
  t.notOk(find('s') instanceof Promise)
})

t.test(
  'a preset that changes during every read until the deadline fails with busy, and is not cached',
  async (t) => {
    const { find, rows, changed, clock } = stand()
    rows.during = async () => {
      changed('s')
      clock.now += RELOADS_MS_MAX / 10
    }
    t.match(await find('s'), { failure: { name: 'busy' } })
    t.equal(rows.asked.length, 10)
    rows.during = () => Promise.resolve()
    clock.now = 0
    t.ok(find('s') instanceof Promise)
  },
)

t.test('a caller that arrives during the last read of a load gets the newer value', async (t) => {
  const { find, rows, tell } = stand()
  const [reads, last] = [gate(), gate()]
  rows.during = async () => {
    tell({ kind: 'everything' })
    if (rows.asked.length <= BLIND_LOADS_MAX) return
    reads.open()
    await last.opened
  }
  const first = find('s')
  await reads.opened
  rows.during = () => Promise.resolve()
  rows.head = { id: 'p', isArchived: false, designated: 3, latest: 3 }
  tell({ kind: 'everything' })
  t.same(await find('s'), ok({ model: 's@3' }))
  last.open()
  t.same(await first, ok({ model: 's@2' }), 'which was so when it came')
  t.same(find('s'), ok({ model: 's@3' }), 'and does not replace what is known since')
})

t.test(
  'when everything may have changed, unknown slugs are queried again, and running loads are repeated',
  async (t) => {
    const { find, rows, tell } = stand()
    const there = rows.head
    rows.head = null
    t.match(await find('s'), { failure: { name: 'preset_unknown' } })
    rows.head = there
    tell({ kind: 'everything' })
    t.same(await find('s'), ok({ model: 's@2' }))
    rows.during = async () => {
      rows.during = () => Promise.resolve()
      rows.head = { id: 'p', isArchived: false, designated: 3, latest: 3 }
      tell({ kind: 'everything' })
    }
    t.same(await find('other'), ok({ model: 'other@3' }))
  },
)

t.test('after the grace period each call queries the store, and fails when the store does', async (t) => {
  const { find, rows, clock } = stand()
  await find('s')
  clock.now = 1_001
  t.same(await find('s'), ok({ model: 's@2' }))
  t.equal(rows.asked.length, 2)
  rows.isAway = true
  t.match(await find('s'), { failure: { name: 'store_unavailable' } })
  clock.now = 1_000
  t.same(find('s'), ok({ model: 's@2' }), 'within it what is known is served')
})

t.test('concurrent callers of one version share one query, and those above the limit fail', async (t) => {
  const { find, rows } = stand()
  const held = gate()
  rows.during = () => held.opened
  const same = Array.from({ length: 10 }, () => find('s'))
  t.equal(rows.asked.length, 1)
  const more = Array.from({ length: PRESET_LOADS_MAX - 1 }, (_, n) =>
    find(`s${n}`, null, `w${n % (PRESET_LOADS_MAX / PRESET_LOADS_WORKSPACE_MAX)}`),
  )
  t.match(await find('one-more'), { failure: { name: 'busy' } })
  held.open()
  const all = await Promise.all([...same, ...more])
  t.ok(all.every((outcome) => outcome.ok))
  t.same(await find('one-more'), ok({ model: 'one-more@2' }))
})

t.test('a workspace that asks for many at once leaves room to others', async (t) => {
  const { find, rows } = stand()
  const held = gate()
  rows.during = () => held.opened
  const own = Array.from({ length: PRESET_LOADS_WORKSPACE_MAX }, (_, n) => find(`s${n}`))
  t.match(await find('one-more'), { failure: { name: 'busy' } })
  const other = find('s', null, 'other')
  held.open()
  t.ok((await Promise.all([...own, other])).every((outcome) => outcome.ok))
  t.same(await find('one-more'), ok({ model: 'one-more@2' }))
})

t.test('unknown slugs do not evict presets, and have a cache limit of their own', async (t) => {
  const { find, rows } = stand()
  await find('s')
  rows.head = null
  for (let n = 0; n < PRESET_MISSES_CACHED_MAX + 1; n++) await find(`none-${n}`)
  t.same(find('s'), ok({ model: 's@2' }))
  const { length } = rows.asked
  await find('none-0')
  t.equal(rows.asked.length, length + 1, 'the oldest was forgotten')
})

t.test('the cache limits presets and versions by number and by size', async (t) => {
  const { find, rows } = stand()
  for (let n = 0; n < Math.max(PRESETS_CACHED_MAX, PRESET_VERSIONS_CACHED_MAX) + 1; n++) await find(`s${n}`)
  t.ok(find('s0') instanceof Promise)
  rows.config = () => JSON.stringify({ model: 'a'.repeat(PRESET_CHARS_CACHED_MAX / 2) })
  for (const slug of ['x', 'y']) await find(slug)
  t.ok(find('x') instanceof Promise, 'two of them are more than there is room for')
  t.notOk(find('y') instanceof Promise)
})

t.test('a closed cache no longer listens', async (t) => {
  const { configs, listeners } = stand()
  t.equal(listeners.size, 1)
  configs.close()
  t.equal(listeners.size, 0)
})
