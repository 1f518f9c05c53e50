import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { BackupWriter, openBackup } from '../../../../src/server/cli/operator/backup-folder.ts'
import {
  firstKeys,
  nodeSettings,
  startNode,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import { lastBackup } from '../../../../src/server/store/nodes/installation.ts'
import { openBooks, type Books } from '../../../support/money/ledger.ts'
import { openJournal, setLimit } from '../../../support/money/money.ts'
import { openTestDatabase } from '../../../support/stores/postgres.ts'
import { FakeS3, s3Settings } from '../../../support/files/s3.ts'
import { openFolder } from '../../../support/files/storage.ts'
import { runVerb } from '../../../support/operator/verbs.ts'
import { clip, insertClips, insertVideo, videoId } from '../../../support/videos/video-rows.ts'

t.setTimeout(600_000)

const CONTENT = 'a,b\n1,2\n'
const FILE = `/api/v1/containers/sess_a/files/cfile_${Buffer.from('out/a.csv').toString('base64url')}/content`

interface Stand {
  readonly settings: Settings
  readonly folder: string
  readonly books: Books
  run(...args: readonly string[]): ReturnType<typeof runVerb>
}

/** An installation without a node: books in a database of the test cluster, an object and a root key. */
async function stand(t: Test): Promise<Stand> {
  const books = await openBooks(t)
  await books.book({ cost: 3 }, { cost: 5, kind: 'forfeit' })
  await setLimit(books.store.sql, books.accounts.key, 'daily', 100)
  await (await openJournal(books.store)).lend({ [books.accounts.key]: 11 })
  const folder = await openFolder(t)
  const settings = {
    DATABASE_URL: books.store.options.url,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_OBJECTS: join(folder, 'objects'),
    SLUICE_ROOT_KEY: '5'.repeat(64),
  }
  return { settings, folder, books, run: (...args) => runVerb(settings, args) }
}

async function emptySettings(t: Test, folder: string): Promise<Settings> {
  const { url } = await openTestDatabase(t, 'empty')
  return { DATABASE_URL: url, SLUICE_DATA: join(folder, 'new'), SLUICE_OBJECTS: join(folder, 'new-objects') }
}

async function send(node: TestNode, method: string, path: string, body: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${firstKeys(node.dataDir)['inference_key'] ?? ''}`,
    'content-type': 'application/json',
    connection: 'close',
  }
  return (await fetch(node.ready.url + path, { method, headers, body })).status
}

async function written(folder: string): Promise<void> {
  const to = new BackupWriter(folder)
  await to.add('tables/a.copy', [Buffer.from('1\n')])
  await to.add('objects/_1/file_1', [Buffer.from('x')])
  to.end({
    sluice: '1',
    made_at: 'now',
    migrations: ['foundation'],
    tables: [{ name: 'a', columns: ['n'] }],
    sequences: [],
    ledger_months: [],
    objects: 1,
    container_files: 0,
    missing_objects: [],
    has_root_keys: false,
    root_key_ids: [],
  })
}

t.test('a restore recovers keys, files, secrets, books and the audit log of a running node', async (t) => {
  const folder = await openFolder(t)
  const [from, to] = [await nodeSettings(t), await nodeSettings(t, { isEmbedded: true })]
  const node = await startNode(t, from)
  t.equal(await send(node, 'PUT', '/api/v1/containers/sess_a/files/out/a.csv', CONTENT), 200)
  t.equal(await send(node, 'POST', FILE.replace('/content', '/promote'), '{}'), 200)
  t.equal(
    await send(node, 'PUT', '/api/v1/vault/secrets/token', '{"value":"v","hosts":["api.example.com"]}'),
    200,
  )
  t.match(await runVerb(from, ['backup', join(folder, 'b')]), {
    code: 0,
    stdout: /WARNING: this folder contains the root keys/,
  })
  await node.stop()
  const restored = await runVerb(to, ['restore', join(folder, 'b')])
  t.match(
    restored,
    { code: 0, stdout: /1 objects, 1 container files\n0 differences .* 0 broken chains/ },
    restored.stderr,
  )
  t.match(
    Object.values(
      JSON.parse(readFileSync(join(to['SLUICE_DATA'] ?? '', 'root-key-copies.json'), 'utf8')) as object,
    ),
    [{ by: 'backup' }],
  )
  const again = await startNode(t, to)
  const authorization = `Bearer ${firstKeys(node.dataDir)['inference_key'] ?? ''}`
  const answer = await fetch(again.ready.url + FILE, { headers: { authorization, connection: 'close' } })
  t.equal(await answer.text(), CONTENT)
  t.match(await runVerb(to, ['files', 'verify']), { code: 0 })
  // Every secret is decrypted and sealed again. One that cannot be decrypted would end the verb with 1.
  t.match(await runVerb(to, ['vault', 'rotate-data', '--json']), {
    code: 0,
    stdout: /"resealed":1,.*"broken":\[\]/,
  })
})

t.test('a restore recovers the rows, months and forfeits of the ledger unchanged', async (t) => {
  const { folder, run, books } = await stand(t)
  t.match(await run('backup', join(folder, 'b'), '--without-root-key'), {
    code: 0,
    stdout: /root keys are not included/,
  })
  t.ok(await lastBackup(books.store.sql), 'its end is there for the metrics')
  const settings = await emptySettings(t, folder)
  const restored = await runVerb(settings, ['restore', join(folder, 'b')])
  t.match(restored, {
    code: 0,
    stdout: /0 differences in the ledger of 3 rows[^]*0\.000000011 USD that 1 fronts/,
  })
  const before = (await run('ledger', 'export', '--csv')).stdout
  t.ok((await runVerb(settings, ['ledger', 'export', '--csv'])).stdout.startsWith(before))
  t.match(await runVerb(settings, ['ledger', 'forfeits']), { stdout: /0.000000005/ })
})

t.test(
  'a backup contains the video jobs and names a clip without bytes, and a restore counts the open jobs',
  async (t) => {
    const { folder, run, books } = await stand(t)
    const owners = { ...books, keyAccountId: books.accounts.key }
    await insertClips(books.store, owners, videoId(1), [clip('vid_clip')])
    await insertVideo(books.store, owners, { id: videoId(2), heldNano: 7 })
    t.match(JSON.parse((await run('backup', join(folder, 'b'), '--json')).stdout), {
      missing_objects: ['vid_clip'],
    })
    const settings = await emptySettings(t, folder)
    const restored = await runVerb(settings, ['restore', join(folder, 'b')])
    t.match(restored, { code: 0, stdout: /\n0 differences [^]*1 video jobs were open/ }, restored.stderr)
  },
)

t.test(
  'a restore refuses a database, a data directory or a folder of objects that is not empty',
  async (t) => {
    const { settings, folder, run } = await stand(t)
    await run('backup', join(folder, 'b'))
    t.match(await run('restore', join(folder, 'b')), { code: 1, stderr: /the database is not empty/ })
    const empty = await emptySettings(t, folder)
    mkdirSync(join(folder, 'new-objects', 'objects'), { recursive: true })
    writeFileSync(join(folder, 'new-objects', 'objects', 'x'), '')
    t.match(await runVerb(empty, ['restore', join(folder, 'b')]), { code: 1, stderr: /is not empty/ })
    mkdirSync(join(folder, 'keyed'))
    writeFileSync(join(folder, 'keyed', 'root-key'), '')
    const keyed = { ...settings, SLUICE_DATA: join(folder, 'keyed') }
    t.match(await runVerb(keyed, ['restore', join(folder, 'b')]), {
      code: 1,
      stderr: /already contains a root key/,
    })
  },
)

t.test('a restore refuses a bucket that holds files, and changes nothing', async (t) => {
  const { folder, run } = await stand(t)
  await run('backup', join(folder, 'b'))
  const s3 = await FakeS3.start(t)
  const settings = { ...(await emptySettings(t, folder)), ...s3Settings(s3) }
  const { SLUICE_OBJECTS: place = '' } = settings
  const prefix = place
    .split('/')
    .slice(3)
    .map((part) => `${part}/`)
    .join('')
  s3.put(`${prefix}objects/file_other`, Buffer.from('x'))
  t.match(await runVerb(settings, ['restore', join(folder, 'b')]), {
    code: 1,
    stderr: /s3:.* is not empty: set SLUICE_OBJECTS/,
  })
  t.equal(s3.objects.size, 1)
  s3.objects.clear()
  s3.put(`${prefix}installation`, Buffer.from(randomUUID()))
  t.match(await runVerb(settings, ['restore', join(folder, 'b')]), {
    code: 1,
    stderr: /belongs to another installation: set SLUICE_OBJECTS .*delete its id file s3:.*installation/,
  })
  t.notOk(existsSync(join(settings['SLUICE_DATA'] ?? '', 'root-key')))
})

t.test('refuses a backup with a damaged file, changed checksums, or a path outside the backup', async (t) => {
  const folder = join(await openFolder(t), 'b')
  await written(folder)
  t.same((await openBackup(folder)).paths, ['tables/a.copy', 'objects/_1/file_1'])
  appendFileSync(join(folder, 'objects/_1/file_1'), ' ')
  await t.rejects(openBackup(folder), { message: /objects\/_1\/file_1 is damaged/ })
  const sums = join(folder, 'SHA256SUMS')
  const changed = readFileSync(sums, 'utf8').replace('objects/_1', '../../x')
  writeFileSync(sums, changed)
  await t.rejects(openBackup(folder), { message: /SHA256SUMS differs from the manifest/ })
  const manifest = join(folder, 'manifest.json')
  const value = JSON.parse(readFileSync(manifest, 'utf8')) as object
  writeFileSync(
    manifest,
    JSON.stringify({ ...value, sums_sha256: createHash('sha256').update(changed).digest('hex') }),
  )
  await t.rejects(openBackup(folder), { message: /which is not a valid path in a backup/ })
})

t.test('a backup needs an empty folder, and an interrupted backup is refused', async (t) => {
  const folder = join(await openFolder(t), 'b')
  await written(folder)
  t.throws(() => new BackupWriter(folder), { message: /is not empty/ })
  rmSync(join(folder, 'manifest.json'))
  await t.rejects(openBackup(folder), { message: /is not a complete backup/ })
})

t.test('a backup of a newer schema is refused', async (t) => {
  const { folder, run } = await stand(t)
  await run('backup', join(folder, 'b'))
  const file = join(folder, 'b', 'manifest.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as { migrations: string[] }
  manifest.migrations.push('of tomorrow')
  writeFileSync(file, JSON.stringify(manifest))
  t.match(await runVerb(await emptySettings(t, folder), ['restore', join(folder, 'b')]), {
    code: 1,
    stderr: /use that version or a newer one/,
  })
})
