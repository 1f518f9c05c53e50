import { randomUUID } from 'node:crypto'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { UPLOAD_LEASE_MS } from '../../../../src/schemas/files/file-limits.ts'
import { begun } from '../../../support/files/files.ts'
import { text } from '../../../support/files/sessions.ts'
import { put } from '../../../support/files/storage.ts'
import { openFileVerbs } from '../../../support/files/file-verbs.ts'

t.setTimeout(600_000)

const HOUR_MS = 3_600_000

t.test('sweep removes files without a row that are old enough, and counts them by kind', async (t) => {
  const { upload, object, storage, run, json, census } = await openFileVerbs(t)
  await upload(text(1_000))
  await put(storage, 'file_old', Buffer.from('old'))
  await put(storage, 'file_young', Buffer.from('young'))
  const old = new Date(Date.now() - HOUR_MS)
  utimesSync(object('file_old'), old, old)
  t.same(await json('sweep'), {
    uploads: 0,
    expired: 0,
    objects: 1,
    staging_files: 0,
    containers: 0,
    container_files: 0,
    recounted: 0,
    idempotency: 0,
  })
  const { code, stdout } = await run('sweep', '--min-age', '0')
  t.equal(code, 0)
  t.match(stdout, /^objects +1$/m)
  t.match(stdout, /^container files +0$/m)
  for (const wrong of ['-1', '1h', '1.5', ''])
    t.equal((await run('sweep', '--min-age', wrong)).code, 2, wrong)
  t.match(await census(), { ready: 1, objects: 1 })
})

t.test(
  'sweep removes staged and reserved bytes of dead fronts at once, and none of fronts that may be alive',
  async (t) => {
    const { store, open, workspaceId, objectsFolder, json } = await openFileVerbs(t)
    const [dead, living, silent, leased] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
    for (const frontId of [dead, living, leased])
      await begun(open({ leaseMs: UPLOAD_LEASE_MS, frontId }), workspaceId, 1_000)
    for (const [id, ageMs] of [
      [living, 0],
      [silent, UPLOAD_LEASE_MS + 1_000],
      [leased, UPLOAD_LEASE_MS + 1_000],
    ] as const) {
      await store.sql`
      INSERT INTO fronts (id, node, connections, epoch, heartbeat_at)
      VALUES (${id}, 'other', 1, 0, clock_timestamp() - ${ageMs} * interval '1 ms')`
    }
    const left = [dead, living, silent, leased].map((id) => `${id}.${randomUUID()}`)
    for (const name of left) writeFileSync(join(objectsFolder, 'staging', name), 'staged')
    t.match(await json('sweep'), { uploads: 1, staging_files: 2 })
    t.same(readdirSync(join(objectsFolder, 'staging')).sort(), [left[1], left[3]].sort())
    t.match(await json('files', 'list'), { used_bytes: 0, reserved_bytes: 8_192 })
    // The row that its supervisor takes away when it dies.
    await store.sql`DELETE FROM fronts WHERE id = ${leased}`
    t.match(await json('sweep'), { uploads: 1, staging_files: 1 })
  },
)
