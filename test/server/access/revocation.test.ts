import t from 'tap'
import { createAccess, type Access } from '../../../src/server/access/access.ts'
import { openKeyStore, revokeKey } from '../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../support/keys/make-keys.ts'
import type { Hints } from '../../../src/server/ports/keys/keys.ts'
import { openEpochFeed } from '../../../src/server/store/base/epoch-feed.ts'
import { frontsAt, startHeartbeat } from '../../../src/server/store/nodes/fronts.ts'
import { openStore, type Store } from '../../../src/server/store/base/open.ts'
import {
  createOrganization,
  type NewOrganization,
} from '../../../src/server/store/workspaces/organizations.ts'
import { testHints } from '../../support/stores/hints.ts'
import { newId } from '../../../src/server/store/base/ids.ts'
import { SILENT } from '../../support/log.ts'
import { CLI } from '../../support/audit/audit.ts'
import { must } from '../../support/must.ts'
import { openTestDatabase, waitLong } from '../../support/stores/postgres.ts'

type Tap = Parameters<typeof openTestDatabase>[0]

waitLong()

const TRIES = 20
const POLL_MS = 25

/** All of a front that decides about keys, over connections of its own. */
async function front(t: Tap, url: string, hints: Hints | null): Promise<Access> {
  const store = openStore({ url, poolMax: 3, applicationName: 'front' })
  const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: POLL_MS })
  const heartbeat = startHeartbeat({ frontId: newId(), store, feed, node: 'n', connections: 4, log: SILENT })
  const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 300_000, now: Date.now })
  t.teardown(async () => {
    access.close()
    await heartbeat.close()
    await feed.close()
    await store.close()
  })
  await feed.poll()
  await heartbeat.beat()
  return access
}

/** Asks again and again, so that loads are under way whenever the revocation comes. */
function hammer(access: Access, bearer: string): { stop(): Promise<void> } {
  let isOn = true
  const running = (async () => {
    while (isOn) {
      await access.authenticate(bearer)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  return { stop: () => ((isOn = false), running) }
}

async function revokeUnderLoad(
  operator: Store,
  owner: NewOrganization,
  fronts: readonly Access[],
  hints: Hints | null,
): Promise<boolean[]> {
  const { organization, workspace } = owner
  const input = { organizationId: organization.id, workspaceId: workspace.id } as const
  const { key, apiKey } = must(await createKey(operator, input, CLI))
  const bearer = `Bearer ${key}`
  for (const access of fronts) must(await access.authenticate(bearer))
  const load = fronts.map((access) => hammer(access, bearer))
  const change = must(await revokeKey(operator, apiKey.hash, CLI))
  await hints?.publish(change)
  while ((await frontsAt(operator.sql, change.n)).behind > 0) continue
  const after = await Promise.all(fronts.map((access) => access.authenticate(bearer)))
  for (const { stop } of load) await stop()
  return after.map((outcome) => outcome.ok)
}

for (const [channel, hints] of [
  ['hints', testHints()],
  ['polls alone', null],
] as const) {
  t.test(
    `by ${channel}: no front accepts a revoked key once all fronts have confirmed, ${TRIES} of ${TRIES} times`,
    async (t) => {
      const { url } = await openTestDatabase(t)
      const operator = openStore({ url, poolMax: 2, applicationName: 'operator' })
      t.teardown(() => operator.close())
      const owner = must(await createOrganization(operator, { name: 'o' }))
      const fronts = [await front(t, url, hints), await front(t, url, hints)]
      const accepted: boolean[] = []
      for (let n = 0; n < TRIES; n++)
        accepted.push(...(await revokeUnderLoad(operator, owner, fronts, hints)))
      t.same(accepted, Array(2 * TRIES).fill(false))
    },
  )
}
