import t from 'tap'
import { CAPS_DEFAULT } from '../../../src/schemas/operator/caps.ts'
import { openStores, type FrontStores } from '../../../src/server/main/front.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import { openKeyStore } from '../../../src/server/store/keys/api-keys.ts'
import { watchAdminPorts } from '../../../src/server/store/nodes/admin-ports.ts'
import { startHeartbeat } from '../../../src/server/store/nodes/fronts.ts'
import { gate } from '../../support/gate.ts'
import { SILENT } from '../../support/log.ts'
import { openTestDatabase } from '../../support/stores/postgres.ts'
import { untilWaiting } from '../../support/stores/lock-waiters.ts'

const NEVER_MS = 2 ** 30

t.test('keys are loaded although the rows of the fronts table are locked', async (t) => {
  const { url: databaseUrl } = await openTestDatabase(t)
  const stores = openStores({ caps: CAPS_DEFAULT }, { databaseUrl, slot: 0 })
  const other = openStore({ url: databaseUrl, poolMax: 2, applicationName: 'sluice-test' })
  t.teardown(() => Promise.all([stores.store, stores.keyLane, other].map((one) => one.close())))
  await stores.keyLane.warm()
  const [locked, unlock] = [gate(), gate()]
  const held = other.sql.begin(async (tx) => {
    await tx`LOCK TABLE fronts IN ACCESS EXCLUSIVE MODE`
    locked.open()
    await unlock.opened
  })
  await locked.opened
  const heartbeat = usersOf(stores)
  t.teardown(() => heartbeat.close())
  await untilWaiting(other.sql)
  t.same(await openKeyStore(stores.keyLane).load(['0'.repeat(64)]), { ok: true, value: [] })
  unlock.open()
  await held
  t.equal(await heartbeat.beat(), true)
})

/** What shares the connection with the loads of keys. */
function usersOf({ keyLane: store }: FrontStores) {
  const feed = { epoch: 1, lastGoodPollAtMs: 0, subscribe: () => () => undefined }
  const ports = watchAdminPorts(store, 9_090, NEVER_MS)
  const heartbeat = startHeartbeat({
    frontId: newId(),
    store,
    feed,
    node: 'here',
    connections: 1,
    log: SILENT,
    everyMs: NEVER_MS,
  })
  return {
    beat: () => heartbeat.beat(),
    close: () => Promise.all([heartbeat.close(), ports.close()]),
  }
}
