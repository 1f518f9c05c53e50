import { randomBytes, randomUUID } from 'node:crypto'
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { UPLOAD_LEASE_MS } from '../../../../src/schemas/files/file-limits.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import type { FileRecord } from '../../../../src/server/ports/files/files.ts'
import { openDiskStorage } from '../../../../src/server/storage/disk.ts'
import { begun, storedFile } from '../../../support/files/files.ts'
import { must } from '../../../support/must.ts'
import { firstKeys, nodeSettings, startNode, type Settings } from '../../../support/nodes/node.ts'
import { text } from '../../../support/files/sessions.ts'
import { openFolder, openS3, put } from '../../../support/files/storage.ts'
import { openTransfers, type TransferStand } from '../../../support/files/transfers.ts'
import { fieldPart, filePart, form, sendForm } from '../../../support/files/upload-echo.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { insertClips, videoId } from '../../../support/videos/video-rows.ts'

t.setTimeout(600_000)

const ROOT_KEY = randomBytes(32).toString('hex')
const HOUR_MS = 3_600_000

interface CliStand extends TransferStand {
  readonly settings: Settings
  readonly objectsFolder: string
  run(
    ...args: readonly string[]
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>
  json(...args: readonly string[]): Promise<Record<string, unknown>>
  upload(content: Buffer, filename?: string): Promise<string>
  /** Path of the sealed object of a file. */
  object(id: string): string
}

async function stand(t: Test): Promise<CliStand> {
  const folder = await openFolder(t)
  const objectsFolder = join(folder, 'files')
  const transfers = await openTransfers(t, {
    storage: await openDiskStorage({ folder: objectsFolder }),
    rootKey: new Secret(ROOT_KEY),
  })
  const settings = {
    DATABASE_URL: transfers.store.options.url,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_OBJECTS: objectsFolder,
    SLUICE_ROOT_KEY: ROOT_KEY,
  }
  const run = (...args: readonly string[]) => runVerb(settings, args)
  return {
    ...transfers,
    settings,
    objectsFolder,
    run,
    json: async (...args) => JSON.parse((await run(...args, '--json')).stdout) as Record<string, unknown>,
    async upload(content, filename = 'a.txt') {
      const { body } = await sendForm(
        transfers.port,
        form([fieldPart('purpose', 'assistants'), filePart(content, filename)]),
      )
      return (body as unknown as { file: FileRecord }).file.id
    },
    object(id) {
      const name = readdirSync(join(objectsFolder, 'objects'), { recursive: true })
        .map(String)
        .find((path) => path.endsWith(id))
      if (name === undefined) throw new Error(`no object ${id}`)
      return join(objectsFolder, 'objects', name)
    },
  }
}

t.test('files list shows every file, oldest first, with what of the quota is used', async (t) => {
  const { upload, run, json, files, workspaceId } = await stand(t)
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
  t.match(stdout, /24096 of 10737418240 bytes are used, 0 reserved\n$/)
  t.notMatch(stdout, /[\u001b\u0007\u009b\u202e]/, 'a name may not write to the terminal')
})

t.test('files list reads all pages', async (t) => {
  const { store, json, run, files, workspaceId } = await stand(t)
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
    new RegExp(`there are more: --after ${at(1)}\n`),
  )
  t.match(await run('files', 'list', '--limit', '0'), { code: 2 })
  t.match(await run('files', 'list', '--after', 'x'), { code: 1, stderr: /not the id of a file/ })
})

t.test('files rm removes rows, bytes and quota; an id that fails keeps no other', async (t) => {
  const { upload, run, census } = await stand(t)
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

t.test('files verify is content with what is whole, whichever size it has', async (t) => {
  const { upload, run, json } = await stand(t)
  for (const size of [1, 65_535, 65_536, 65_537, 1_000_000]) await upload(text(size))
  t.same(await json('files', 'verify'), { checked: 5, findings: [] })
  t.match(await run('files', 'verify'), { code: 0, stdout: '5 files verified, 0 problems\n' })
})

t.test('files verify reads the clips of video jobs too, and takes none for an orphan', async (t) => {
  const { store, upload, json, run, object, workspaceId } = await stand(t)
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

t.test(
  'files verify tells what is missing, damaged, unreadable or without a row, and ends with 1',
  async (t) => {
    const { upload, run, object, storage, files, workspaceId } = await stand(t)
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
      new RegExp(`^missing +${missing}  there is no object$`, 'm'),
    )
  },
)

t.test('files verify under another root key says so, and makes none of its own', async (t) => {
  const { upload, settings } = await stand(t)
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

t.test('sweep removes what is old enough, and tells it by kind', async (t) => {
  const { upload, object, storage, run, json, census } = await stand(t)
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
  'sweep removes at once what a front has staged and reserved that is gone, and nothing of one that may live',
  async (t) => {
    const { store, open, workspaceId, objectsFolder, json } = await stand(t)
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

t.test('a verb that a slip of the pen leads elsewhere makes nothing there and removes nothing', async (t) => {
  const { upload, settings, census } = await stand(t)
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

t.test('the verbs work on a bucket, and wrong secrets end them with 1 and without a secret', async (t) => {
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

t.test('doctor looks at storage and the root key, and makes neither', async (t) => {
  const folder = await openFolder(t)
  const { storage: _unused, s3 } = await openS3(t)
  const dataDir = join(folder, 'data')
  const bucket = {
    SLUICE_DATA: dataDir,
    SLUICE_OBJECTS: `s3://${s3.bucket}/a`,
    SLUICE_S3_ENDPOINT: s3.endpoint,
    AWS_REGION: s3.region,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
  }
  const file = join(folder, 'keys')
  writeFileSync(file, 'not a key')
  writeFileSync(join(folder, 'plain'), '')
  const cases: readonly (readonly [Settings, Record<string, unknown>, Record<string, unknown>])[] = [
    [
      { SLUICE_DATA: dataDir },
      { level: 'ok', detail: /\/data\/files, not made yet, \d+ MiB free$/ },
      { level: 'ok', detail: 'made by the first start' },
    ],
    [
      bucket,
      { level: 'ok', detail: /^s3:\/\/test-bucket\/a\/, answers in [\d.]+ ms, \d+ MiB free for staging$/ },
      { level: 'ok' },
    ],
    [
      { ...bucket, SLUICE_OBJECTS: 's3://another-bucket' },
      { level: 'problem', detail: /^s3:\/\/another-bucket\/: / },
      { level: 'ok' },
    ],
    [
      { ...bucket, AWS_SECRET_ACCESS_KEY: 'canary' },
      { level: 'problem', fix: /access key/ },
      { level: 'ok' },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_ROOT_KEY: ROOT_KEY },
      { level: 'ok' },
      { level: 'ok', detail: 'given by SLUICE_ROOT_KEY' },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_ROOT_KEY_FILE: file },
      { level: 'ok' },
      { level: 'problem', fix: /SLUICE_ROOT_KEY_FILE/ },
    ],
    [
      { SLUICE_DATA: dataDir, SLUICE_OBJECTS: join(folder, 'plain') },
      { level: 'problem', fix: /SLUICE_OBJECTS/ },
      { level: 'ok' },
    ],
  ]
  for (const [settings, storage, rootKey] of cases) {
    const { stdout } = await runVerb(settings, ['doctor', '--json'])
    const { findings } = JSON.parse(stdout) as { findings: { check: string }[] }
    t.match(
      findings.find(({ check }) => check === 'storage'),
      storage,
    )
    t.match(
      findings.find(({ check }) => check === 'root_key'),
      rootKey,
    )
    t.notMatch(stdout, /canary|not a key/)
  }
  t.notOk(existsSync(dataDir))
})

t.test(
  'beside a running node the verbs read its files and its root key, and its banner says where both are',
  async (t) => {
    const settings = await nodeSettings(t)
    const node = await startNode(t, settings)
    const dataDir = settings['SLUICE_DATA'] ?? ''
    t.equal(node.ready.objects, join(dataDir, 'files'))
    t.match(node.output(), new RegExp(`Files +${dataDir}/files\\n`))
    t.match(node.output(), new RegExp(`Root key +made in ${dataDir}/root-key: back it up`))
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
      { level: 'warning', detail: new RegExp(`^${dataDir}/root-key; nobody has backed up`) },
    )
    await node.stop()
    t.notMatch((await startNode(t, settings)).output(), /Root key/, 'an old key is not called new')
  },
)
