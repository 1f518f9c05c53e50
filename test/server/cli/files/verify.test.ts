import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { must } from '../../../support/must.ts'
import { text } from '../../../support/files/sessions.ts'
import { put } from '../../../support/files/storage.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { insertClips, videoId } from '../../../support/videos/video-rows.ts'
import { openFileVerbs, ROOT_KEY } from '../../../support/files/file-verbs.ts'

t.setTimeout(600_000)

t.test('files verify reports no problem for intact files of any size', async (t) => {
  const { upload, run, json } = await openFileVerbs(t)
  for (const size of [1, 65_535, 65_536, 65_537, 1_000_000]) await upload(text(size))
  t.same(await json('files', 'verify'), { checked: 5, findings: [] })
  t.match(await run('files', 'verify'), { code: 0, stdout: '5 files verified, 0 problems\n' })
})

t.test('files verify reads the clips of video jobs too, and does not report them as orphans', async (t) => {
  const { store, upload, json, run, object, workspaceId } = await openFileVerbs(t)
  const ids = [await upload(text(100_000)), await upload(text(100_000))]
  const rows = await store.sql<
    { id: string; data_key_id: string; sha256: string }[]
  >`DELETE FROM files RETURNING id, data_key_id, sha256`
  const clips = rows.map((row) => ({
    objectId: row.id,
    dataKeyId: row.data_key_id,
    sizeBytes: 100_000,
    sha256: row.sha256,
  }))
  await insertClips(
    store,
    { organizationId: workspaceId, workspaceId, keyHash: 'h', keyAccountId: 'kh' },
    videoId(1),
    clips,
  )
  t.same(await json('files', 'verify'), { checked: 2, findings: [] })
  writeFileSync(object(ids[0] ?? ''), 'x')
  t.match(await run('files', 'verify'), { code: 1, stdout: new RegExp(`^damaged +${ids[0] ?? ''}`, 'm') })
})

t.test('files verify reports missing, damaged, unreadable and orphaned files, and exits 1', async (t) => {
  const { upload, run, object, storage, files, workspaceId } = await openFileVerbs(t)
  const [whole, missing, flipped, short, empty, swapped, unreadable] = [
    await upload(text(100_000)),
    await upload(text(100_000)),
    await upload(text(100_000)),
    await upload(text(100_000)),
    await upload(text(10)),
    await upload(text(100_000)),
    await upload(text(100_000)),
  ]
  rmSync(object(missing))
  const bytes = readFileSync(object(flipped))
  bytes[70_000] = (bytes[70_000] ?? 0) ^ 1
  writeFileSync(object(flipped), bytes)
  writeFileSync(object(short), readFileSync(object(short)).subarray(0, -1))
  writeFileSync(object(empty), '')
  writeFileSync(object(swapped), readFileSync(object(whole)))
  const path = object(unreadable)
  rmSync(path)
  symlinkSync(path, path)
  await put(storage, 'file_orphan', Buffer.from('orphan'))
  const pending = must(await files.begin({ workspaceId, reserveBytes: 1, idempotency: null }))
  if (pending.kind === 'new') await put(storage, pending.upload.id, Buffer.from('under way'))
  const { code, stdout, stderr } = await run('files', 'verify', '--json')
  t.equal(code, 1)
  t.match(JSON.parse(stderr), { error: 'failed', message: '7 files verified, 7 problems' })
  const { findings } = JSON.parse(stdout) as { findings: { problem: string; id: string }[] }
  t.same(
    new Set(findings.map(({ problem, id }) => `${problem} ${id}`)),
    new Set([
      `missing ${missing}`,
      `damaged ${flipped}`,
      `damaged ${short}`,
      `damaged ${empty}`,
      `damaged ${swapped}`,
      `unreadable ${unreadable}`,
      'orphan file_orphan',
    ]),
  )
  t.match(
    (await run('files', 'verify')).stdout,
    new RegExp(`^missing +${missing}  the object is missing$`, 'm'),
  )
})

t.test('files verify with another root key reports the mismatch, and creates no root key', async (t) => {
  const { upload, settings } = await openFileVerbs(t)
  await upload(text(1_000))
  const other = await runVerb({ ...settings, SLUICE_ROOT_KEY: randomBytes(32).toString('hex') }, [
    'files',
    'verify',
  ])
  t.equal(other.code, 1)
  t.notMatch(other.stdout + other.stderr, new RegExp(ROOT_KEY))
  const { SLUICE_ROOT_KEY: _given, ...without } = settings
  const none = await runVerb(without, ['files', 'verify'])
  t.match(none, { code: 1, stderr: /there is no root key in .*: set SLUICE_ROOT_KEY/ })
  t.notOk(existsSync(join(settings['SLUICE_DATA'] ?? '', 'root-key')))
})
