import { randomUUID } from 'node:crypto'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { FileRecord } from '../../../../src/server/ports/files/files.ts'
import { storedFile } from '../../../support/files/files.ts'
import { firstKeys, nodeSettings, startNode } from '../../../support/nodes/node.ts'
import { text } from '../../../support/files/sessions.ts'
import { openFolder, openS3, put } from '../../../support/files/storage.ts'
import { openTransfers } from '../../../support/files/transfers.ts'
import { filePart, form, sendForm } from '../../../support/files/upload-echo.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { must } from '../../../support/must.ts'
import { openFileVerbs, ROOT_KEY } from '../../../support/files/file-verbs.ts'

t.setTimeout(600_000)

t.test('files list shows every file, oldest first, and the used share of the quota', async (t) => {
  const { upload, run, json, files, workspaceId } = await openFileVerbs(t)
  t.match(await json('files', 'list'), {
    data: [],
    used_bytes: 0,
    reserved_bytes: 0,
    quota_bytes: 10 * 2 ** 30,
  })
  const filename = 'b\u001b]0;x\u0007\u009b2J\u202e.txt'
  const ids = [
    await upload(text(1_000)),
    await storedFile(files, workspaceId, { filename, sizeBytes: 20_000 }),
  ]
  const listed = await json('files', 'list')
  t.match(listed, { data: [{ id: ids[0] }, { id: ids[1], filename }], used_bytes: 24_096 })
  const { code, stdout } = await run('files', 'list', '--workspace', 'default')
  t.equal(code, 0)
  t.match(stdout, new RegExp(`^${ids[0] ?? ''}  1000 +text/plain`, 'm'))
  t.match(stdout, /24096 of 10737418240 bytes used, 0 reserved\n$/)
  t.notMatch(stdout, /[\u001b\u0007\u009b\u202e]/, 'a name may not write to the terminal')
})

t.test('files list reads all pages', async (t) => {
  const { store, json, run, files, workspaceId } = await openFileVerbs(t)
  const id = await storedFile(files, workspaceId)
  await store.sql`
    INSERT INTO files (id, workspace_id, state, attempt, lease_until, reserved_bytes, filename, mime_type, size_bytes,
      sha256, data_key_id, is_downloadable, ready_at)
    SELECT 'file_' || lpad(to_hex(n), 32, '0'), workspace_id, state, attempt, lease_until, reserved_bytes, filename, mime_type, size_bytes, sha256,
      data_key_id, is_downloadable, ready_at FROM files, generate_series(1, 1000) n WHERE id = ${id}`
  t.equal(((await json('files', 'list'))['data'] as unknown[]).length, 1_001)
  const at = (n: number): string => `file_${n.toString(16).padStart(32, '0')}`
  t.match(await json('files', 'list', '--limit', '2', '--after', at(10)), {
    data: [{ id: at(11) }, { id: at(12) }],
    has_more: true,
  })
  t.match(await json('files', 'list', '--after', at(999)), {
    data: [{ id: at(1_000) }, { id }],
    has_more: false,
  })
  t.match(
    (await run('files', 'list', '--limit', '1')).stdout,
    new RegExp(`there are more files: continue with --after ${at(1)}\n`),
  )
  t.match(await run('files', 'list', '--limit', '0'), { code: 2 })
  t.match(await run('files', 'list', '--after', 'x'), { code: 1, stderr: /must be the id of a file/ })
})

t.test('files rm frees rows, bytes and quota, and a failing id does not stop the others', async (t) => {
  const { upload, run, census } = await openFileVerbs(t)
  const ids = [await upload(text(1_000)), await upload(text(2_000)), await upload(text(5_000))]
  t.match(await run('files', 'rm', ids[0] ?? ''), { code: 0, stdout: `${ids[0] ?? ''} removed\n` })
  const { code, stdout, stderr } = await run('files', 'rm', 'file_none', ids[1] ?? '', ids[1] ?? '', '--json')
  t.equal(code, 1)
  t.same(JSON.parse(stdout), { removed: [ids[1]], missing: ['file_none'] })
  t.match((JSON.parse(stderr) as { message: string }).message, /"file_none": /)
  t.match(await run('files', 'rm', ids[2] ?? '', '--workspace', 'other'), {
    code: 1,
    stdout: `"${ids[2] ?? ''}" is missing\n`,
  })
  t.match(await run('files', 'rm'), { code: 2 })
  t.match(await run('files', 'rm', 'x', '--workspace', 'nowhere'), { code: 1, stderr: /no such workspace/ })
  t.match(await census(), { ready: 1, objects: 1, usedBytes: 5_000 })
})

t.test('a verb with a mistyped folder creates and removes nothing there', async (t) => {
  const { upload, settings, census } = await openFileVerbs(t)
  const id = await upload(text(1_000))
  const elsewhere = join(settings['SLUICE_DATA'] ?? '', 'elsewhere')
  for (const args of [['files', 'rm', id], ['files', 'verify'], ['sweep']]) {
    t.match(await runVerb({ ...settings, SLUICE_OBJECTS: elsewhere }, args), {
      code: 1,
      stderr: /there is no folder .*elsewhere/,
    })
  }
  t.notOk(existsSync(elsewhere))
  t.match(await census(), { ready: 1, objects: 1 })
})

t.test('the verbs work on a bucket; with wrong secrets they exit 1 and print no secret', async (t) => {
  const { storage, s3 } = await openS3(t)
  const transfers = await openTransfers(t, { storage, rootKey: new Secret(ROOT_KEY) })
  const { body } = await sendForm(transfers.port, form([filePart(text(200_000))]))
  const { id } = (body as unknown as { file: FileRecord }).file
  await put(storage, 'file_orphan', Buffer.from('orphan'))
  const settings = {
    DATABASE_URL: transfers.store.options.url,
    SLUICE_DATA: join(await openFolder(t), 'data'),
    SLUICE_ROOT_KEY: ROOT_KEY,
    SLUICE_OBJECTS: `s3://${s3.bucket}/node`,
    SLUICE_S3_ENDPOINT: s3.endpoint,
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
  const wrong = { ...settings, AWS_SECRET_ACCESS_KEY: 'wrong-canary-secret' }
  for (const args of [['files', 'verify'], ['sweep', '--min-age', '0'], ['doctor']]) {
    const refused = await runVerb(wrong, [...args, '--json'])
    t.equal(refused.code, 1, args.join(' '))
    t.notMatch(refused.stdout + refused.stderr, /canary|at Object|node_modules/)
  }
  const verified = await runVerb(settings, ['files', 'verify', '--json'])
  t.match(JSON.parse(verified.stdout), { checked: 1, findings: [{ problem: 'orphan', id: 'file_orphan' }] })
  t.match(JSON.parse((await runVerb(settings, ['sweep', '--min-age', '0', '--json'])).stdout), { objects: 1 })
  t.match(await runVerb(settings, ['files', 'rm', id]), { code: 0 })
  t.equal(s3.objects.size, 0)
})

t.test('a sweep removes no files without a row in the folder of another installation', async (t) => {
  const { storage, objectsFolder, run } = await openFileVerbs(t)
  await put(storage, 'file_other', Buffer.from('theirs'))
  const mark = join(objectsFolder, 'installation')
  writeFileSync(mark, randomUUID())
  const refused = await run('sweep', '--min-age', '0')
  t.match(refused, { code: 1, stderr: /SLUICE_OBJECTS, .* installation with a different database/ })
  t.match(refused.stderr, new RegExp(`delete its id file ${mark}`))
  t.ok(must(await storage.stat('file_other')))
  const another =
    /problem +storage +SLUICE_OBJECTS, .* contains files from an installation with a different database/
  t.match((await run('doctor')).stdout, another)
  rmSync(mark)
  t.notMatch((await run('doctor')).stdout, another)
  t.match(await run('sweep', '--min-age', '0'), { code: 0, stdout: /^objects +1$/m })
})

t.test(
  'next to a running node the verbs use its files and root key, and the node prints where both are',
  async (t) => {
    const settings = await nodeSettings(t)
    const node = await startNode(t, settings)
    const dataDir = settings['SLUICE_DATA'] ?? ''
    t.equal(node.ready.objects, join(dataDir, 'files'))
    t.match(node.output(), new RegExp(`Files +${dataDir}/files\\n`))
    t.match(node.output(), new RegExp(`Root key +created in ${dataDir}/root-key; back it up`))
    const body = new FormData()
    body.append('file', new Blob([text(200_000)]), 'a.txt')
    const authorization = `Bearer ${firstKeys(dataDir)['inference_key'] ?? ''}`
    const made = await fetch(`${node.ready.url}/api/v1/files`, {
      method: 'POST',
      body,
      headers: { authorization, connection: 'close' },
    })
    t.equal(made.status, 200)
    const { id } = (await made.json()) as { id: string }
    t.match(JSON.parse((await runVerb(settings, ['files', 'list', '--json'])).stdout), { data: [{ id }] })
    t.same(JSON.parse((await runVerb(settings, ['files', 'verify', '--json'])).stdout), {
      checked: 1,
      findings: [],
    })
    t.match(await runVerb(settings, ['files', 'rm', id]), { code: 0 })
    t.match((await node.get(`/api/v1/files/${id}`)).status, 404)
    t.equal((await runVerb(settings, ['sweep'])).code, 0)
    const { findings } = JSON.parse((await runVerb(settings, ['doctor', '--json'])).stdout) as {
      findings: { check: string }[]
    }
    t.match(
      findings.find(({ check }) => check === 'root_key'),
      { level: 'warning', detail: new RegExp(`^${dataDir}/root-key; no backup of`) },
    )
    await node.stop()
    t.notMatch((await startNode(t, settings)).output(), /Root key/, 'an old key is not called new')
  },
)
