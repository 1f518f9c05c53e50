import t from 'tap'
import { ok } from '../../../../src/schemas/failures.ts'
import {
  DIRECTORY_CALLS_WAITING_MAX,
  oneAtATime,
  lockDirectory,
} from '../../../../src/server/store/scim/one-at-a-time.ts'
import { openStore } from '../../../../src/server/store/base/open.ts'
import { openTestStore } from '../../../support/stores/postgres.ts'
import { EVERYTHING, openScimStand } from '../../../support/scim/scim.ts'

t.test('an organization whose changes wait for its lock leaves connections to others', async (t) => {
  const { store, groups, group, user, by, organizationId, foreign, users } = await openScimStand(t, 4)
  const [{ id }, ann] = [await group('all'), await user()]
  const beside = openStore({ ...store.options, poolMax: 1 })
  t.teardown(() => beside.close())
  const held = signal()
  const locked = signal()
  const holding = beside.sql.begin(async (tx) => {
    await lockDirectory(tx, organizationId)
    locked.resolve(null)
    await held.promise
  })
  await locked.promise
  const changes = Array.from({ length: 12 }, (_, n) =>
    groups.update(id, [{ kind: n % 2 === 0 ? 'add' : 'remove', userIds: [ann.id] }], null, by),
  )
  // With all connections waiting it would come only when the store's patience with a lock had ended.
  t.ok((await users.list(foreign.organizationId, EVERYTHING)).ok)
  t.ok((await store.sql`SELECT 1`).length)
  held.resolve(null)
  await holding
  t.same(
    (await Promise.all(changes)).map((changed) => changed.ok),
    changes.map(() => true),
  )
})

t.test(
  'calls of one kind and organization run one at a time, failed or not, without delaying other ones',
  async (t) => {
    const store = await openTestStore(t)
    const first = signal()
    const seen: string[] = []
    const call = (
      organizationId: string,
      kind: 'change' | 'read',
      name: string,
      until: Promise<null> | null = null,
    ) =>
      oneAtATime(store, { organizationId, kind }, async () => {
        seen.push(name)
        await until
        seen.push(`${name}.`)
        return ok(null)
      })
    const calls = [call('a', 'change', '1', first.promise), call('a', 'change', '2')]
    const failing = oneAtATime(store, { organizationId: 'a', kind: 'change' }, () =>
      Promise.reject(new Error('a bug')),
    )
    calls.push(call('a', 'change', '3'))
    await Promise.all([call('a', 'read', 'r'), call('b', 'change', 'b')])
    t.same([...seen].sort(), ['1', 'b', 'b.', 'r', 'r.'])
    first.resolve(null)
    await t.rejects(failing, { message: 'a bug' })
    await Promise.all(calls)
    t.same(
      seen.filter((name) => /\d/.test(name)),
      ['1', '1.', '2', '2.', '3', '3.'],
    )
  },
)

t.test('a full queue refuses at once', async (t) => {
  const store = await openTestStore(t)
  const end = signal()
  const call = () =>
    oneAtATime(store, { organizationId: 'a', kind: 'read' }, async () => ok(await end.promise))
  const calls = Array.from({ length: DIRECTORY_CALLS_WAITING_MAX }, call)
  t.match(await call(), { failure: { name: 'store_unavailable', retryAfterS: 1 } })
  end.resolve(null)
  t.ok((await Promise.all(calls)).every((done) => done.ok))
  t.ok((await call()).ok)
})

function signal(): { readonly promise: Promise<null>; resolve(value: null): void } {
  let resolve: (value: null) => void = () => {}
  const promise = new Promise<null>((done) => {
    resolve = done
  })
  return { promise, resolve: (value) => resolve(value) }
}
