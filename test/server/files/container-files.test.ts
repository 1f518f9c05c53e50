import { createHash, randomBytes } from 'node:crypto'
import { rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { COUNTED_BYTES_MIN, FILE_BYTES_MAX } from '../../../src/schemas/files/file-limits.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { StoredObject } from '../../../src/server/ports/files/storage.ts'
import { must } from '../../support/must.ts'
import { text } from '../../support/files/sessions.ts'
import {
  drain,
  leftOpen,
  openDisk,
  openS3,
  openStoredFiles,
  putInContainer,
} from '../../support/files/storage.ts'
import {
  failing,
  inContainer,
  openTransfers,
  inputOf,
  type TransferStand,
} from '../../support/files/transfers.ts'
import { answerOf, beginUpload, type Answer } from '../../support/files/upload-echo.ts'
import { until } from '../../support/wait.ts'

const NOTHING = { ready: 0, pending: 0, abandoned: 0, objects: 0, reservedBytes: 0, usedBytes: 0 }
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

async function put(
  { storage, workspaceId }: TransferStand,
  path: string,
  content: string | Buffer,
): Promise<void> {
  await putInContainer(storage, path, content, inContainer(workspaceId, path).container)
}

function promote(
  { transfers, workspaceId }: TransferStand,
  path: string,
  key?: string,
  signal = new AbortController().signal,
) {
  const idempotency = key === undefined ? null : inputOf(key)
  return transfers.promote(inContainer(workspaceId, path), { workspaceId, idempotency, signal })
}

async function written(stand: TransferStand, content: Buffer): Promise<Answer> {
  const client = beginUpload(stand.port, content.length, { method: 'PUT', path: '/write/a' })
  client.send(content)
  return answerOf(client)
}

async function read({ transfers, workspaceId }: TransferStand, path: string): Promise<Buffer> {
  const { content } = must(
    await transfers.openContainerFile(inContainer(workspaceId, path), new AbortController().signal),
  )
  const bytes = await drain(must(await content.read(0, content.sizeBytes)))
  content.close()
  return bytes
}

for (const driver of ['disk', 'S3'] as const) {
  t.test(`a container file is written plain, replaced, and read (${driver})`, async (t) => {
    const stand = await openTransfers(t, driver === 'S3' ? { storage: (await openS3(t)).storage } : {})
    for (const content of [randomBytes(2_000_000), randomBytes(10), Buffer.alloc(0)]) {
      t.match(await written(stand, content), {
        status: 200,
        body: { path: 'out/a.txt', sizeBytes: content.length },
      })
      t.ok((await read(stand, 'out/a.txt')).equals(content))
    }
    t.same(
      await stand.census(),
      { ...NOTHING, usedBytes: 3 * COUNTED_BYTES_MIN },
      'the file, its folder and that of the container',
    )
  })

  t.test(
    `a promoted container file is sealed, downloadable and independent of the container (${driver})`,
    async (t) => {
      const stand = await openTransfers(t, driver === 'S3' ? { storage: (await openS3(t)).storage } : {})
      const content = randomBytes(3_000_000)
      await put(stand, 'out/data.bin', content)
      const { file, isReplay } = must(await promote(stand, 'out/data.bin'))
      await put(stand, 'out/data.bin', 'other')
      t.notOk(isReplay)
      t.match(file, {
        filename: 'out/data.bin',
        mimeType: 'application/octet-stream',
        isDownloadable: true,
        sizeBytes: content.length,
        sha256: sha256(content),
      })
      const opened = must(await stand.transfers.openFile(file, new AbortController().signal))
      t.ok((await drain(must(await opened.read(0, opened.sizeBytes)))).equals(content))
      opened.close()
      t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: content.length })
    },
  )
}

t.test('a promoted file has the type of its content', async (t) => {
  const stand = await openTransfers(t)
  await put(stand, 'a.bin', '{"a": 1}')
  t.equal(must(await promote(stand, 'a.bin')).file.mimeType, 'application/json')
})

t.test('unknown, empty and oversized container files are not promoted', async (t) => {
  const stand = await openTransfers(t)
  await put(stand, 'empty', '')
  await put(stand, 'large', Buffer.alloc(FILE_BYTES_MAX + 1))
  t.match(await promote(stand, 'missing'), { failure: { name: 'container_file_unknown' } })
  t.match(await promote(stand, 'missing', 'k'), { failure: { name: 'container_file_unknown' } })
  t.match(await promote(stand, 'empty'), { failure: { name: 'file_empty' } })
  t.match(await promote(stand, 'large'), { failure: { name: 'file_too_large' } })
  t.same(await stand.census(), NOTHING)
  t.same(await leftOpen(), [])
})

t.test(
  'a repeated promotion returns the first file, also when the container file has changed or was removed',
  async (t) => {
    const stand = await openTransfers(t)
    await put(stand, 'a', 'one')
    const { file } = must(await promote(stand, 'a', 'k'))
    await put(stand, 'a', 'another')
    t.match(must(await promote(stand, 'a', 'k')), { isReplay: true, file: { id: file.id } })
    must(await stand.storage.containers.removeContainer(inContainer(stand.workspaceId, 'a').container))
    t.match(must(await promote(stand, 'a', 'k')), { isReplay: true, file: { id: file.id } })
    t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: COUNTED_BYTES_MIN })
  },
)

t.test('a promotion into a full workspace is refused and leaves nothing', async (t) => {
  const stand = await openTransfers(t, { files: { quotaBytes: 10 } })
  await put(stand, 'a', text(11))
  t.match(await promote(stand, 'a'), { failure: { name: 'quota_exceeded' } })
  t.same(await stand.census(), NOTHING)
})

t.test('a promotion whose caller disconnects, or whose source fails, leaves nothing', async (t) => {
  const leaving = new AbortController()
  let isBroken = false
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        containers: {
          ...parts.storage.containers,
          open: async (...args) => {
            const opened = await parts.storage.containers.open(...args)
            return opened.ok
              ? { ok: true, value: spoiled(opened.value, () => (isBroken ? 'fail' : leaving.abort())) }
              : opened
          },
        },
      },
    }),
  })
  await put(stand, 'a', text(2_000_000))
  t.match(await promote(stand, 'a', undefined, leaving.signal), { failure: { name: 'client_gone' } })
  isBroken = true
  t.match(await promote(stand, 'a'), { failure: { name: 'storage_unavailable' } })
  t.same(await stand.census(), NOTHING)
  t.same(await leftOpen(), [])
})

t.test('a published write succeeds, even when the check after it fails', async (t) => {
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        containers: failing(parts.storage.containers, 'stat', { name: 'storage_unavailable' }),
      },
    }),
  })
  t.match(await written(stand, text(1_000)), { status: 200, body: { path: 'out/a.txt', sizeBytes: 1_000 } })
  t.equal((await read(stand, 'out/a.txt')).length, 1_000)
})

t.test(
  'the promotion of a container file that is written to meanwhile must be retried, and leaves nothing',
  async (t) => {
    let rewrite: () => void = () => undefined
    const { storage, folder } = await openDisk(t)
    const stand = await openTransfers(t, {
      storage,
      wrap: (parts) => ({
        ...parts,
        storage: {
          ...parts.storage,
          containers: {
            ...parts.storage.containers,
            open: async (...args) => {
              const opened = await parts.storage.containers.open(...args)
              return opened.ok ? { ok: true, value: spoiled(opened.value, () => rewrite()) } : opened
            },
          },
        },
      }),
    })
    const { container } = inContainer(stand.workspaceId, 'a')
    const path = join(folder, 'containers', container.workspaceId, container.containerId, 'a')
    for (const sizeBytes of [2_000_000, 300_000]) {
      await put(stand, 'a', text(2_000_000))
      utimesSync(path, new Date(0), new Date(0))
      rewrite = () => writeFileSync(path, Buffer.alloc(sizeBytes))
      t.match(
        await promote(stand, 'a'),
        { failure: { name: 'storage_unavailable', retryAfterS: 1 } },
        `${sizeBytes} bytes`,
      )
    }
    rewrite = () => rmSync(path)
    await put(stand, 'a', text(2_000_000))
    t.match(
      must(await promote(stand, 'a')).file,
      { sizeBytes: 2_000_000, sha256: sha256(text(2_000_000)) },
      'one that is removed meanwhile is whole',
    )
  },
)

t.test('an object stays open until the thread that reads it releases it', async (t) => {
  let letPass: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    letPass = resolve
  })
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      unsealing: {
        open: (input) =>
          parts.unsealing.open({ ...input, onLent: (released) => input.onLent?.(released.then(() => gate)) }),
      },
    }),
  })
  await put(stand, 'a', text(2_000_000))
  const { file } = must(await promote(stand, 'a'))
  t.same(await leftOpen(), [])
  const content = must(await stand.transfers.openFile(file, new AbortController().signal))
  const reader = must(await content.read(0, content.sizeBytes))
  reader.close()
  content.close()
  await until(() => stand.sessions.load.unsealings === 0)
  t.equal((await openStoredFiles()).length, 1)
  letPass()
  t.same(await leftOpen(), [])
})

t.test('a write beyond the limit, or into a folder, is refused and changes no files', async (t) => {
  const stand = await openTransfers(t)
  await put(stand, 'out/a.txt/b', 'below')
  t.match(await written(stand, Buffer.from('x')), { status: 400, type: 'container_path_invalid' })
  t.match(await answerOf(beginUpload(stand.port, FILE_BYTES_MAX + 1, { method: 'PUT', path: '/write/a' })), {
    status: 413,
  })
  t.equal((await read(stand, 'out/a.txt/b')).toString(), 'below')
})

t.test('a write records the use of its container before the file is visible, or fails', async (t) => {
  let uses: readonly unknown[] | null = null
  let isAway = false
  const stand: TransferStand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      get files() {
        return isAway ? failing(parts.files, 'claimPath', { name: 'store_unavailable' }) : parts.files
      },
      storage: {
        ...parts.storage,
        containers: {
          ...parts.storage.containers,
          publish: async (...args) => {
            uses = await stand.store.sql`SELECT container_id FROM container_uses`
            return parts.storage.containers.publish(...args)
          },
        },
      },
    }),
  })
  t.match(await written(stand, Buffer.from('one')), { status: 200 })
  t.match(uses, [{ container_id: 'sess_abc' }])
  isAway = true
  t.match(await written(stand, Buffer.from('other')), { status: 503, type: 'store_unavailable' })
  t.equal((await read(stand, 'out/a.txt')).toString(), 'one')
})

t.test('a write whose container is removed meanwhile does not succeed', async (t) => {
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        containers: {
          ...parts.storage.containers,
          publish: async (container, ...args) => {
            const published = await parts.storage.containers.publish(container, ...args)
            must(await parts.storage.containers.removeContainer(container))
            return published
          },
        },
      },
    }),
  })
  t.match(await written(stand, Buffer.from('x')), { status: 503, type: 'storage_unavailable' })
})

t.test('a writer that disconnects changes nothing', async (t) => {
  const stand = await openTransfers(t)
  await put(stand, 'out/a.txt', 'before')
  const client = beginUpload(stand.port, 10_000_000, { method: 'PUT', path: '/write/a' })
  client.send(Buffer.alloc(5_000_000))
  await until(() => stand.sessions.load.intakes !== 0)
  client.destroy()
  await stand.front.untilSettled(1)
  t.equal((await read(stand, 'out/a.txt')).toString(), 'before')
  t.equal(stand.sessions.load.intakes, 0)
  t.same(await leftOpen(), [])
})

/** Calls back at the second piece; it fails when that says so. */
function spoiled(object: StoredObject, atSecond: () => 'fail' | void): StoredObject {
  return {
    ...object,
    close: () => object.close(),
    read(from, to, options): ByteReader {
      const reader = object.read(from, to, options)
      let count = 0
      return {
        next: async () =>
          ++count === 2 && atSecond() === 'fail'
            ? { ok: false, failure: { name: 'storage_unavailable' } }
            : reader.next(),
        close: () => reader.close(),
      }
    },
  }
}
