import t from 'tap'
import { KEYS_HANDED_MS_MAX } from '../../../src/schemas/keys/key-limits.ts'
import { openAccess } from '../../../src/server/main/front.ts'
import { testFeed, testKey, testKeyStore } from '../../support/keys/key-store.ts'
import { SILENT } from '../../support/log.ts'

interface Handing {
  readonly keys: Promise<string>
  onKnownKeys(list: () => string): void
  list(): string
}

function handing(keys: Promise<string>): Handing {
  let list = (): string => 'nothing yet'
  return { keys, list: () => list(), onKnownKeys: (lister) => void (list = lister) }
}

function means(...keys: readonly ReturnType<typeof testKey>[]) {
  const store = testKeyStore()
  for (const { record } of keys) store.records.set(record.hash, record)
  return { store, options: { keys: store, feed: testFeed(), graceMs: 300_000, now: () => 0 } }
}

t.test('a front knows handed-over keys before it serves, and hands over its own', async (t) => {
  const keys = [testKey(), testKey(), testKey()]
  const { store, options } = means(...keys)
  const channel = handing(
    Promise.resolve(
      keys
        .slice(1)
        .map(({ record }) => record.hash)
        .join(','),
    ),
  )
  const access = await openAccess(options, { channel, log: SILENT })
  t.equal(store.queries.length, 1)
  for (const { bearer } of keys.slice(1)) t.match(access.authenticate(bearer), { ok: true })
  await access.authenticate(keys[0]?.bearer ?? '')
  t.equal(channel.list(), [keys[0], keys[2], keys[1]].map((key) => key?.record.hash).join(','))
})

t.test('the first front of a node starts with no keys, and requests none', async (t) => {
  const { store, options } = means()
  const channel = handing(Promise.resolve(''))
  await openAccess(options, { channel, log: SILENT })
  t.equal(store.queries.length, 0)
  t.equal(channel.list(), '')
})

for (const [what, keys, isHeld] of [
  ['supervisor says nothing', new Promise<string>(() => undefined), false],
  ['store answers late', Promise.resolve('hash'), true],
] as const) {
  t.test(`a front whose ${what} still serves, after a short wait`, async (t) => {
    const { store, options } = means(testKey())
    if (isHeld) store.hold()
    const began = performance.now()
    const access = await openAccess(options, { channel: handing(keys), log: SILENT })
    t.ok(performance.now() - began >= KEYS_HANDED_MS_MAX - 5)
    t.same(access.knownKeys(), [])
  })
}
