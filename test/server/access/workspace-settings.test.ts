import t from 'tap'
import { createAccess } from '../../../src/server/access/access.ts'
import { defaultOutputTokens } from '../../../src/schemas/limits/model-calls.ts'
import { openKeyStore } from '../../../src/server/store/keys/api-keys.ts'
import { createKey } from '../../support/keys/make-keys.ts'
import { openEpochFeed } from '../../../src/server/store/base/epoch-feed.ts'
import { createOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { updateWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import { CLI } from '../../support/audit/audit.ts'
import { testHints } from '../../support/stores/hints.ts'
import { SILENT } from '../../support/log.ts'
import { must } from '../../support/must.ts'
import { openTestStore, waitLong } from '../../support/stores/postgres.ts'

waitLong()

const BY = { ...CLI, operation: 'cli.workspaces-update' }

for (const [channel, hints] of [
  ['hints', testHints()],
  ['polls alone', null],
] as const) {
  t.test(
    `by ${channel}: a front gets changed settings of a workspace, for organization keys too`,
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
        const { isInProgramme, mayWriteVault, callLimits } = must(await access.authenticate(`Bearer ${key}`))
        return { isInProgramme, mayWriteVault, tokens: defaultOutputTokens(callLimits) }
      }
      for (const { key } of [inference, management])
        t.same(await factsOf(key), { isInProgramme: true, mayWriteVault: true, tokens: null })
      const steps = [
        { isInProgramme: false },
        { mayWriteVault: false },
        { isInProgramme: true, callLimits: { default_max_output_tokens: 50 } },
        { callLimits: { default_max_output_tokens: null } },
      ]
      for (const settings of steps) {
        const { change, workspace: after } = must(
          await updateWorkspace(store, { organizationId: null, reference: workspace.id }, settings, BY),
        )
        await hints?.publish(change)
        while (hints === null && feed.epoch < change.n) await new Promise((resolve) => setImmediate(resolve))
        const { isInProgramme, mayWriteVault, callLimits } = after
        const logged = { isInProgramme, mayWriteVault, tokens: callLimits.default_max_output_tokens }
        for (const { key } of [inference, management]) t.same(await factsOf(key), logged)
      }
    },
  )
}
