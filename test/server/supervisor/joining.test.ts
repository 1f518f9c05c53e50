import t from 'tap'
import type { PlaceMark } from '../../../src/server/ports/installation.ts'
import {
  joinInstallation,
  leaveInstallation,
  readInstallation,
} from '../../../src/server/store/nodes/installation.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { joinNodes, keepRedisMark, type JoinInput } from '../../../src/server/supervisor/joining.ts'
import type { Log } from '../../../src/server/ports/observe.ts'
import { keptLog, SILENT } from '../../support/log.ts'
import { openTestStore } from '../../support/stores/postgres.ts'

/** A place in memory; `away` makes it reject. */
class Place implements PlaceMark {
  text: string | null = null
  isAway = false

  read(): Promise<string | null> {
    return this.isAway ? Promise.reject(new Error('away')) : Promise.resolve(this.text)
  }

  write(mark: string): Promise<void> {
    if (this.isAway) return Promise.reject(new Error('away'))
    this.text = mark
    return Promise.resolve()
  }
}

interface Settings {
  readonly node: string
  /** Absent: an embedded Redis. */
  readonly redis?: Place
  readonly bucket?: Place
  readonly folder?: Place
}

function join(store: Store, { node, redis, bucket, folder }: Settings, log: Log = SILENT): Promise<string> {
  const input: JoinInput = {
    store: {
      installation: () => readInstallation(store.sql, node),
      join: (seen, places) => joinInstallation(store.sql, { node, seen, places }),
    },
    redis: {
      isUp: () => Promise.resolve(redis?.isAway === false),
      mark: redis ?? new Place(),
    },
    redisMode: redis === undefined ? 'child' : 'external',
    objects:
      bucket === undefined
        ? {
            kind: 'folder',
            place: '/srv/files',
            markAt: '/srv/files/installation',
            mark: folder ?? new Place(),
          }
        : { kind: 'bucket', place: 's3://b/p/', markAt: 's3://b/p/installation', mark: bucket },
    log,
  }
  return joinNodes(input)
}

/** A front of another node sends heartbeats, as that of an older version does too. */
async function lives(store: Store, node: string): Promise<void> {
  await store.sql`
    INSERT INTO fronts (id, node, connections, epoch, heartbeat_at) VALUES (${newId()}, ${node}, 1, 0, clock_timestamp())`
}

async function shared(t: Parameters<typeof openTestStore>[0]) {
  const store = await openTestStore(t)
  const [redis, bucket] = [new Place(), new Place()]
  const mark = await join(store, { node: 'one', redis, bucket })
  return { store, redis, bucket, mark }
}

t.test('the first node writes the mark of its installation, and the second one finds it', async (t) => {
  const { store, redis, bucket, mark } = await shared(t)
  t.match(mark, /^[0-9a-f-]{36}$/)
  t.same([redis.text, bucket.text], [mark, mark])
  const log = keptLog()
  t.equal(await join(store, { node: 'two', redis, bucket }, log), mark)
  t.same(log.events, [])
})

t.test('while another node lives, refuses a node with its own stores, and names the setting', async (t) => {
  const { store, redis, bucket, mark } = await shared(t)
  const other = Object.assign(new Place(), { text: newId() })
  for (const [settings, reason] of [
    [{ bucket }, /^REDIS_URL is not set, but the other nodes share a Redis/],
    [{ redis }, /^SLUICE_OBJECTS is the folder \/srv\/files, but the other nodes keep files in a bucket/],
    [{ redis: other, bucket }, /^REDIS_URL and DATABASE_URL belong to different installations/],
    [
      { redis, bucket: other },
      /^SLUICE_OBJECTS, s3:\/\/b\/p\/, contains files from an installation with a different database; use the same value/,
    ],
    [{ redis, bucket: new Place() }, /^SLUICE_OBJECTS, s3:\/\/b\/p\/, has no file `installation`/],
    [
      {},
      /^REDIS_URL .*\nSLUICE_OBJECTS .*; use the same value as the other nodes, or stop those nodes first$/,
    ],
  ] as const)
    await t.rejects(join(store, { node: 'two', ...settings }), { message: reason })
  t.not(other.text, mark, 'the mark of the other installation is left')
  t.match(await readInstallation(store.sql, 'two'), { redis: 'outside', objects: 'bucket', joins: '1' })
})

t.test(
  'a node that still lives after its join counts as another node, and one that left does not',
  async (t) => {
    const { store } = await shared(t)
    await leaveInstallation(store.sql, 'one')
    t.equal((await readInstallation(store.sql, 'two')).isShared, false)
    await lives(store, 'one')
    t.equal((await readInstallation(store.sql, 'two')).isShared, true)
    t.equal((await readInstallation(store.sql, 'one')).isShared, false, 'a node is no other to itself')
  },
)

t.test('a node accepts a new Redis of its installation and marks it', async (t) => {
  const { store, bucket, mark } = await shared(t)
  const redis = new Place()
  const log = keptLog()
  await join(store, { node: 'two', redis, bucket }, log)
  t.equal(redis.text, mark)
  t.match(log.events, [{ event: 'places_taken', fields: { redis: 'outside', redis_mark: 'written' } }])
})

t.test('a single node adopts and logs other stores, even the Redis of another installation', async (t) => {
  const { store, mark } = await shared(t)
  const [redis, folder] = [Object.assign(new Place(), { text: newId() }), new Place()]
  await leaveInstallation(store.sql, 'one')
  const log = keptLog()
  await join(store, { node: 'two', redis, folder }, log)
  t.same([redis.text, folder.text], [mark, mark])
  t.match(log.events, [
    {
      event: 'places_taken',
      fields: { objects: 'folder', redis_mark: 'replaced', objects_mark: 'written' },
    },
  ])
})

t.test(
  'a single node is refused the files of another installation, until their mark is removed',
  async (t) => {
    const store = await openTestStore(t)
    const other = newId()
    for (const [kind, at] of [
      ['folder', '/srv/files/installation'],
      ['bucket', 's3://b/p/installation'],
    ] as const) {
      const place = Object.assign(new Place(), { text: other })
      await t.rejects(join(store, { node: 'one', [kind]: place }), {
        message: new RegExp(
          `^SLUICE_OBJECTS, .* contains files from an installation with a different database.* delete its id file ${at}$`,
        ),
      })
      t.equal(place.text, other, 'the mark of the other installation is left')
      const cleared = new Place()
      const mark = await join(store, { node: 'one', [kind]: cleared })
      t.equal(cleared.text, mark)
    }
  },
)

t.test('accepts a node next to older nodes, which report no file store or Redis', async (t) => {
  const store = await openTestStore(t)
  await lives(store, 'old')
  const [redis, bucket] = [new Place(), new Place()]
  const mark = await join(store, { node: 'new', redis, bucket })
  t.same([redis.text, bucket.text], [mark, mark])
})

t.test('nodes that do not share rates or files are logged with the settings to share them', async (t) => {
  const store = await openTestStore(t)
  await join(store, { node: 'one' })
  const log = keptLog()
  await join(store, { node: 'two' }, log)
  const warned = log.events.map(({ event }) => event).filter((event) => event !== 'places_taken')
  t.same(warned, ['rates_not_shared', 'files_not_shared'])
})

t.test('a bucket that could not be marked does not decide which bucket the next node may use', async (t) => {
  const store = await openTestStore(t)
  const [redis, away, bucket] = [new Place(), Object.assign(new Place(), { isAway: true }), new Place()]
  const log = keptLog()
  await join(store, { node: 'one', redis, bucket: away }, log)
  t.match(log.events, [{ event: 'objects_not_marked' }])
  await join(store, { node: 'two', redis, bucket })
  t.match(await readInstallation(store.sql, 'three'), { objects: 'bucket' })
})

t.test('the second of two nodes joining at once must match the stores of the first', async (t) => {
  const store = await openTestStore(t)
  const late = new Place()
  late.read = async () => {
    late.read = () => Promise.resolve(late.text)
    await join(store, { node: 'one', redis: new Place(), bucket: new Place() })
    return null
  }
  await t.rejects(join(store, { node: 'two', redis: new Place(), folder: late }), {
    message: /^SLUICE_OBJECTS is the folder/,
  })
})

t.test('a Redis that returns without the mark gets it again, and a different mark is logged', async (t) => {
  const redis = new Place()
  const log = keptLog()
  const look = () =>
    keepRedisMark({ isUp: () => Promise.resolve(!redis.isAway), mark: redis }, { mark: 'm', log })
  await look()
  t.equal(redis.text, 'm')
  redis.text = 'other'
  await look()
  t.equal(redis.text, 'other')
  t.match(log.events, [{ event: 'redis_of_another_installation' }])
})
