import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readdir, rm, stat, statfs, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { FSYNCS_MAX } from '../../../src/schemas/files/file-limits.ts'
import { diskFailure } from '../../../src/server/storage/disk-failure.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import { Semaphore } from '../../../src/server/structures/semaphore.ts'
import { must, present } from '../../support/must.ts'
import { leftOpen, openDisk, openStoredFiles, put, staged } from '../../support/files/storage.ts'
import { NO_MOUNT, tinyDisk } from '../../support/files/tiny-disk.ts'
import { STORAGE_SPARE_BYTES, STORAGE_SPARE_INODES } from '../../../src/server/storage/staging.ts'

t.test('a full disk is storage_full, and a smaller upload is stored later', { skip: NO_MOUNT }, async (t) => {
  const folder = await tinyDisk(t)
  const storage = await openDiskStorage({ folder })
  t.match(
    await storage.stage(1),
    { failure: { name: 'storage_full' } },
    'the spare room is larger than this disk',
  )
  const staging = { path: join(folder, 'staging', 'left'), discard: () => Promise.resolve() }
  await writeFile(staging.path, Buffer.alloc(1))
  const noBytes = await writeFile(join(folder, 'filler'), Buffer.alloc(8 << 20)).catch(
    (cause: unknown) => cause,
  )
  t.equal(storage.failureOf(noBytes).name, 'storage_full')
  await rm(join(folder, 'filler'))
  // The disk runs out of names: the folder of the object cannot be made.
  for (let nth = 0, isFull = false; !isFull; nth++)
    isFull = await writeFile(join(folder, `filler-${nth}`), '').then(
      () => false,
      () => true,
    )
  t.match(await storage.publish('file_a', staging), { failure: { name: 'storage_full' } })
  t.equal(must(await storage.stat('file_a')), null)
  for (let nth = 0; nth < 5; nth++) await rm(join(folder, `filler-${nth}`))
  t.match(await storage.publish('file_a', staging), { ok: true })
})

t.test('errors of system calls become named failures', async (t) => {
  const named = (code: string) => diskFailure(Object.assign(new Error(code), { code })).name
  t.equal(named('ENOSPC'), 'storage_full')
  t.equal(named('EDQUOT'), 'storage_full')
  for (const code of ['EIO', 'EMFILE', 'ENFILE', 'EROFS', 'EACCES', 'ESTALE'])
    t.equal(named(code), 'storage_unavailable', code)
})

t.test('a missing staging file and unusable folders are returned as failures, not thrown', async (t) => {
  const { storage, folder } = await openDisk(t)
  const staging = must(await storage.stage(1))
  t.match(await storage.publish('file_a', staging), { failure: { name: 'storage_unavailable' } })
  await put(storage, 'file_b', Buffer.from('b'))
  const objects = join(folder, 'objects')
  const [fan = ''] = await readdir(objects)
  execFileSync('rm', ['-rf', join(objects, fan)])
  await writeFile(join(objects, fan), 'a file in the way')
  t.match(await storage.stat('file_b'), { failure: { name: 'storage_unavailable' } })
  t.match(await storage.open('file_b'), { failure: { name: 'storage_unavailable' } })
})

t.test('only the owner can read objects and staging files', async (t) => {
  const { storage, folder } = await openDisk(t)
  await put(storage, 'file_a', Buffer.from('a'))
  const [fan = ''] = await readdir(join(folder, 'objects'))
  for (const name of ['staging', 'objects', `objects/${fan}`])
    t.equal((await stat(join(folder, name))).mode & 0o777, 0o700, name)
  t.equal((await stat(join(folder, 'objects', fan, 'file_a'))).mode & 0o777, 0o600)
})

t.test('other files and folders are not listed as objects', async (t) => {
  const { storage, folder } = await openDisk(t)
  await put(storage, 'file_a', Buffer.from('a'))
  const [fan = ''] = await readdir(join(folder, 'objects'))
  await mkdir(join(folder, 'objects', fan, 'folder'))
  await writeFile(join(folder, 'objects', fan, 'no.object'), '')
  await mkdir(join(folder, 'objects', 'lost+found'))
  t.same(
    must(await storage.list(null)).objects.map(({ objectId }) => objectId),
    ['file_a'],
  )
})

t.test('a listing continues where the last page ended, whatever was removed in between', async (t) => {
  const { storage, folder } = await openDisk(t)
  for (const fan of ['0aa', '1bb']) {
    await mkdir(join(folder, 'objects', fan))
    for (let nth = 0; nth < 700; nth++)
      await writeFile(join(folder, 'objects', fan, `f${String(nth).padStart(3, '0')}${fan}`), '')
  }
  const first = must(await storage.list(null))
  t.equal(first.objects.length, 1_000)
  await chmod(folder, 0o700)
  const second = must(await storage.list(first.cursor))
  t.equal(second.objects.length, 400)
  t.equal(second.cursor, null)
  t.equal(new Set([...first.objects, ...second.objects].map(({ objectId }) => objectId)).size, 1_400)
})

t.test('a file that shrank while it was read is damaged, and never padded', async (t) => {
  const { storage, folder } = await openDisk(t)
  await put(storage, 'file_a', Buffer.alloc(600_000, 1))
  const [fan = ''] = await readdir(join(folder, 'objects'))
  const object = must(await storage.open('file_a'))
  const reader = object.read(0, object.sizeBytes)
  must(await reader.next())
  await truncate(join(folder, 'objects', fan, 'file_a'), 300_000)
  t.equal(present(must(await reader.next())).length, 300_000 - 262_144)
  t.match(await reader.next(), { failure: { name: 'content_damaged' } })
  reader.close()
  await object.close()
})

t.test('a running read ends before its descriptor is closed, and all descriptors are closed', async (t) => {
  const { storage } = await openDisk(t)
  await put(storage, 'file_a', Buffer.alloc(1_000_000, 7))
  const before = await openStoredFiles()
  for (let round = 0; round < 100; round++) {
    const object = must(await storage.open('file_a'))
    const reader = object.read(0, object.sizeBytes)
    const piece = reader.next()
    reader.close()
    await object.close()
    await object.close()
    t.match(await piece, { failure: { name: 'client_gone' } })
  }
  t.same(await leftOpen(before), [])
})

t.test('two readers at once never share a buffer', async (t) => {
  const { storage } = await openDisk(t)
  await put(storage, 'file_a', Buffer.alloc(600_000, 1))
  await put(storage, 'file_b', Buffer.alloc(600_000, 2))
  for (let round = 0; round < 20; round++) {
    const objects = [must(await storage.open('file_a')), must(await storage.open('file_b'))]
    const readers = objects.map((object) => object.read(0, object.sizeBytes))
    const pieces = await Promise.all(readers.map((reader) => reader.next()))
    pieces.forEach((piece, nth) => t.ok(present(must(piece)).every((byte) => byte === nth + 1)))
    readers.forEach((reader) => {
      reader.close()
      reader.close()
    })
    for (const object of objects) await object.close()
  }
})

t.test(
  `no more than ${FSYNCS_MAX} tasks run at once, all of them run, and a failed one frees its turn`,
  async (t) => {
    const turns = new Semaphore(FSYNCS_MAX)
    let running = 0
    let most = 0
    const ends: (() => void)[] = []
    const work = Array.from({ length: 60 }, (_, nth) =>
      turns
        .run(async () => {
          most = Math.max(most, ++running)
          await new Promise<void>((resolve) => ends.push(resolve))
          running--
          if (nth % 3 === 0) throw new Error('failed')
        })
        .catch(() => undefined),
    )
    for (let done = 0; done < 60; done++) {
      ends.shift()?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    await Promise.all(work)
    t.equal(most, FSYNCS_MAX)
    t.equal(running, 0)
  },
)

t.test('uploads leave STORAGE_SPARE_BYTES free on the disk', { skip: NO_MOUNT }, async (t) => {
  const folder = await tinyDisk(t)
  execFileSync('mount', ['-o', `remount,size=${STORAGE_SPARE_BYTES + (16 << 20)}`, folder])
  const storage = await openDiskStorage({ folder })
  const { bavail, bsize } = await statfs(folder)
  const room = bavail * bsize - STORAGE_SPARE_BYTES
  t.match(await storage.stage(room + 1), { failure: { name: 'storage_full' } })
  const all = must(await storage.stage(room))
  t.match(
    await storage.stage(1),
    { failure: { name: 'storage_full' } },
    'two that come together share the room',
  )
  await all.discard()
})

t.test(
  'uploads leave inodes free: a hundredth of them, STORAGE_SPARE_INODES at most',
  { skip: NO_MOUNT },
  async (t) => {
    const folder = await tinyDisk(t)
    const inodes = 1_000
    execFileSync('mount', ['-o', `remount,size=200m,nr_inodes=${inodes}`, folder])
    const storage = await openDiskStorage({ folder })
    const spare = Math.min(STORAGE_SPARE_INODES, inodes / 100)
    const { ffree } = await statfs(folder)
    for (let nth = ffree; nth > spare + 1; nth--) await writeFile(join(folder, `n${nth}`), '')
    const last = must(await storage.stage(1))
    t.match(
      await storage.stage(1),
      { failure: { name: 'storage_full' } },
      'two that come together share what is left',
    )
    await last.discard()
    await writeFile(join(folder, 'one more'), '')
    t.match(await storage.stage(1), { failure: { name: 'storage_full' } }, 'with all of its bytes free')
  },
)

t.test(
  'free space is counted once: bytes that an upload has written are no longer reserved',
  { skip: NO_MOUNT },
  async (t) => {
    const folder = await tinyDisk(t)
    execFileSync('mount', ['-o', 'remount,size=80m', folder])
    const storage = await openDiskStorage({ folder })
    const first = await staged(storage, Buffer.alloc(10 << 20))
    t.match(
      await storage.stage(8 << 20),
      { failure: { name: 'storage_full' } },
      'room for 6 MiB is left besides the spare 64',
    )
    const second = must(await storage.stage(5 << 20))
    await second.discard()
    await first.discard()
    t.match(await storage.stage(15 << 20), { ok: true }, 'a discarded upload gives its room back')
  },
)
