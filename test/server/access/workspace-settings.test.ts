import t from 'tap'
import { createAccess } from '../../../src/server/access/access.ts'
import { createKey, openKeyStore } from '../../../src/server/store/keys/api-keys.ts'
import { openEpochFeed } from '../../../src/server/store/base/epoch-feed.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { setWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import { CLI } from '../../support/audit/audit.ts'
import { testHints } from '../../support/stores/hints.ts'
import { SILENT } from '../../support/log.ts'
import { must } from '../../support/must.ts'
import { openTestStore, waitLong } from '../../support/stores/postgres.ts'

waitLong()

for (const [channel, hints] of [
  ['hints', testHints()],
  ['polls alone', null],
] as const) {
  t.test(
    `by ${channel}: a front learns of a workspace's programme and vault writes, for the keys of the organization too`,
    async (t) => {
      const store = await openTestStore(t)
      const { organization, workspace } = must(await createOrganization(store, { name: 'o' }))
      const feed = openEpochFeed({ store, hints, log: SILENT, pollMs: hints === null ? 10 : 60_000 })
      const access = createAccess({ keys: openKeyStore(store), feed, graceMs: 300_000, now: Date.now })
      t.teardown(async () => {
        access.close()
        await feed.close()
      })
      await feed.poll()
      const input = { name: 'k', organizationId: organization.id, rateLimitRpm: null, expiresAt: null }
      const inference = must(
        await createKey(store, { ...input, kind: 'inference', workspaceId: workspace.id }, CLI),
      )
      const management = must(
        await createKey(store, { ...input, kind: 'management', workspaceId: null }, CLI),
      )
      const factsOf = async (key: string): Promise<object> => {
        const { isInProgramme, mayWriteVault } = must(await access.authenticate(`Bearer ${key}`))
        return { isInProgramme, mayWriteVault }
      }
      for (const { key } of [inference, management])
        t.same(await factsOf(key), { isInProgramme: true, mayWriteVault: true })
      for (const settings of [{ isInProgramme: false }, { mayWriteVault: false }, { isInProgramme: true }]) {
        const { change, workspace: after } = must(await setWorkspace(store, workspace.id, settings, CLI))
        await hints?.publish(change)
        while (hints === null && feed.epoch < change.n) await new Promise((resolve) => setImmediate(resolve))
        const told = { isInProgramme: after.isInProgramme, mayWriteVault: after.mayWriteVault }
        for (const { key } of [inference, management]) t.same(await factsOf(key), told)
      }
    },
  )
}
