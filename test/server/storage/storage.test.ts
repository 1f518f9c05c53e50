import { randomBytes, randomInt, randomUUID } from 'node:crypto'
import { access, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import t from 'tap'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { STORAGE_PIECE_BYTES } from '../../../src/schemas/files/file-limits.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { must, present } from '../../support/must.ts'
import {
  CONTAINER,
  contentOf,
  drain,
  openDisk,
  openS3,
  put,
  putInContainer,
  staged,
} from '../../support/files/storage.ts'

type Tap = Parameters<typeof openDisk>[0]
type Open = (t: Tap) => Promise<{ storage: Storage; folder: string }>

for (const [driver, open] of [
  ['disk', openDisk],
  ['S3', (t: Tap) => openS3(t)],
] as const satisfies readonly (readonly [string, Open])[]) {
  t.test(`${driver}: a published object can be read, and its staging file is deleted`, async (t) => {
    const { storage } = await open(t)
    for (const size of [0, 1, STORAGE_PIECE_BYTES, STORAGE_PIECE_BYTES + 1, 1_000_000]) {
      const content = randomBytes(size)
      const staging = await staged(storage, content)
      must(await storage.publish(`file_${size}`, staging))
      t.ok((await contentOf(storage, `file_${size}`)).equals(content), `${size} bytes`)
      t.equal(present(must(await storage.stat(`file_${size}`))).sizeBytes, size)
      await t.rejects(access(staging.path))
    }
  })

  t.test(`${driver}: a range reads exactly its bytes in bounded pieces`, async (t) => {
    const { storage } = await open(t)
    const content = randomBytes(700_000)
    await put(storage, 'file_a', content)
    const object = must(await storage.open('file_a'))
    for (let round = 0; round < 20; round++) {
      const [from = 0, to = 0] = [randomInt(content.length + 1), randomInt(content.length + 1)].sort(
        (a, b) => a - b,
      )
      if (
        !(await drain(object.read(from, to, { mayTransfer: round % 2 === 0 }))).equals(
          content.subarray(from, to),
        )
      )
        t.fail(`${from} to ${to}`)
    }
    const first = must(await object.read(0, content.length).next())
    t.equal(first?.length, STORAGE_PIECE_BYTES)
    await object.close()
  })

  t.test(`${driver}: pieces that may be transferred have buffers of their own`, async (t) => {
    const { storage } = await open(t)
    await put(storage, 'file_a', randomBytes(2 * STORAGE_PIECE_BYTES))
    const object = must(await storage.open('file_a'))
    const reader = object.read(0, object.sizeBytes, { mayTransfer: true })
    const [one, two] = [present(must(await reader.next())), present(must(await reader.next()))]
    t.not(one.buffer, two.buffer)
    t.equal(one.buffer.byteLength, one.length)
    t.equal(
      structuredClone(one.buffer, { transfer: [one.buffer as ArrayBuffer] }).byteLength,
      STORAGE_PIECE_BYTES,
    )
    reader.close()
    await object.close()
  })

  t.test(`${driver}: an object is never replaced`, async (t) => {
    const { storage } = await open(t)
    await put(storage, 'file_a', Buffer.from('first'))
    const again = await storage.publish('file_a', await staged(storage, Buffer.from('second')))
    t.match(again, { ok: false, failure: { name: 'storage_unavailable' } })
    t.equal((await contentOf(storage, 'file_a')).toString(), 'first')
  })

  t.test(`${driver}: an unknown object is missing, without facts, and can be removed`, async (t) => {
    const { storage } = await open(t)
    t.match(await storage.open('file_a'), { ok: false, failure: { name: 'content_missing' } })
    t.equal(must(await storage.stat('file_a')), null)
    await put(storage, 'file_a', Buffer.from('a'))
    t.equal(must(await storage.remove('file_a')), true)
    t.equal(must(await storage.remove('file_a')), false)
    t.equal(must(await storage.stat('file_a')), null)
  })

  t.test(`${driver}: the listing gives every object once`, async (t) => {
    const { storage } = await open(t)
    const ids = Array.from({ length: 25 }, (_, nth) => `file_${nth}`)
    for (const id of ids) await put(storage, id, Buffer.alloc(3))
    await putInContainer(storage, 'not/an/object', 'x')
    const found = new Set<string>()
    for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
      const page: { objects: readonly { objectId: string; sizeBytes: number }[]; cursor: string | null } =
        must(await storage.list(cursor))
      for (const { objectId, sizeBytes } of page.objects) if (sizeBytes === 3) found.add(objectId)
      cursor = page.cursor
    }
    t.same([...found].sort(), [...ids].sort())
  })

  t.test(`${driver}: names that are not object ids are treated as bugs`, async (t) => {
    const { storage } = await open(t)
    for (const id of ['', '..', 'a/b', '../../etc/passwd', 'a.b', 'x'.repeat(129)])
      await t.rejects(async () => storage.stat(id), id)
  })

  t.test(`${driver}: refuses an upload beyond the free space, and accepts one within it`, async (t) => {
    const { storage } = await open(t)
    t.match(await storage.stage(2 ** 50), { ok: false, failure: { name: 'storage_full' } })
    const staging = must(await storage.stage(1_000))
    t.match(await storage.stage(2 ** 50), { ok: false })
    await staging.discard()
    await staging.discard()
  })

  t.test(`${driver}: a call that has ended publishes and opens nothing, and reports its cause`, async (t) => {
    const { storage } = await open(t)
    const gone = AbortSignal.abort(new CallEnded('deadline'))
    t.match(await storage.publish('file_a', await staged(storage, Buffer.from('a')), gone), {
      failure: { name: 'deadline_exceeded' },
    })
    t.equal(must(await storage.stat('file_a')), null)
    await putInContainer(storage, 'a', 'a')
    t.match(await storage.containers.open(CONTAINER, 'a', gone), { failure: { name: 'deadline_exceeded' } })
    await put(storage, 'file_b', Buffer.from('b'))
    const object = must(await storage.open('file_b'))
    t.match(await object.read(0, 1, { signal: gone }).next(), { failure: { name: 'deadline_exceeded' } })
    await object.close()
  })

  t.test(`${driver}: abandoned staging files are swept, and those of running uploads are not`, async (t) => {
    const { storage, folder } = await open(t)
    const active = await staged(storage, Buffer.from('active'))
    await writeFile(`${folder}/staging/left-by-a-crash`, 'left')
    t.equal(must(await storage.sweepStaging(60_000, new Set())), 0)
    t.equal(must(await storage.sweepStaging(-1, new Set())), 1)
    await access(active.path)
    await t.rejects(access(`${folder}/staging/left-by-a-crash`))
  })

  t.test(`${driver}: staging files of a dead front are swept at once, and no others`, async (t) => {
    const { storage, folder } = await open(t)
    const active = await staged(storage, Buffer.from('active'))
    const [gone, living] = [randomUUID(), randomUUID()]
    const left = [`${gone}.a`, `${living}.b`, `x${gone}.c`, gone, 'd']
    for (const name of left) await writeFile(`${folder}/staging/${name}`, 'left')
    await mkdir(`${folder}/staging/${gone}.folder`)
    t.same([...must(await storage.stagingOwners())].sort(), [gone, living].sort())
    t.equal(must(await storage.sweepStaging(60_000, new Set([gone]))), 1)
    t.same(
      (await readdir(`${folder}/staging`)).sort(),
      [basename(active.path), ...left.slice(1), `${gone}.folder`].sort(),
    )
  })

  t.test(`${driver}: container files are listed in byte order, in pages`, async (t) => {
    const { storage } = await open(t)
    const paths = [
      'a',
      'a.b',
      'a-b/c',
      'a0',
      'b/c/d',
      'b/c.d',
      'b/c',
      'é',
      '\u{1f600}',
      '\uffee',
      '\ufeffa',
      'z z+%',
      'Z',
    ].filter((path) => path !== 'b/c')
    for (const path of paths) await putInContainer(storage, path, path)
    const sorted = paths
      .map((path) => Buffer.from(path))
      .sort((a, b) => a.compare(b))
      .map(String)
    for (const countMax of [1, 2, 5, 100]) {
      const listed: string[] = []
      for (let after: string | null = null, hasMore = true; hasMore; after = listed.at(-1) ?? null) {
        const page: { files: readonly { path: string }[]; hasMore: boolean } = must(
          await storage.containers.list(CONTAINER, after, countMax),
        )
        listed.push(...page.files.map(({ path }) => path))
        hasMore = page.hasMore
      }
      t.same(listed, sorted, `pages of ${countMax}`)
    }
    t.same(
      must(await storage.containers.list(CONTAINER, 'b/zzz', 2)).files.map(({ path }) => path),
      ['z z+%', 'é'],
    )
  })

  t.test(`${driver}: a container file is written, replaced, read and has versions`, async (t) => {
    const {
      storage: { containers },
      storage,
    } = await open(t)
    await putInContainer(storage, 'out/a.txt', 'one')
    const before = must(await containers.stat(CONTAINER, 'out/a.txt'))
    await putInContainer(storage, 'out/a.txt', 'other')
    const after = must(await containers.stat(CONTAINER, 'out/a.txt'))
    t.match(after, { path: 'out/a.txt', sizeBytes: 5 })
    t.not(before.version, after.version)
    t.match(after.version, /^[A-Za-z0-9-]+$/)
    const file = must(await containers.open(CONTAINER, 'out/a.txt'))
    t.equal((await drain(file.read(1, 4))).toString(), 'the')
    await file.close()
  })

  t.test(
    `${driver}: the same id in two workspaces is two containers, and an unknown one is empty`,
    async (t) => {
      const { storage } = await open(t)
      const other = { ...CONTAINER, workspaceId: CONTAINER.workspaceId.replace('0190', '0191') }
      await putInContainer(storage, 'a', 'a')
      t.match(await storage.containers.stat(other, 'a'), { failure: { name: 'container_file_unknown' } })
      t.same(must(await storage.containers.list(other, null, 10)), { files: [], hasMore: false })
      t.equal(must(await storage.containers.newestChange(other)), null)
    },
  )

  t.test(
    `${driver}: a path that leads out of the container is unknown to reads and invalid for writes`,
    async (t) => {
      const { storage } = await open(t)
      await putInContainer(storage, 'a', 'a')
      for (const path of ['../a', '/etc/passwd', 'a/../a', './a', 'a\0', '', '..', 'a//b']) {
        t.match(
          await storage.containers.stat(CONTAINER, path),
          { failure: { name: 'container_file_unknown' } },
          JSON.stringify(path),
        )
        t.match(
          await storage.containers.open(CONTAINER, path),
          { failure: { name: 'container_file_unknown' } },
          JSON.stringify(path),
        )
        const staging = await staged(storage, Buffer.from('x'))
        t.match(
          await storage.containers.publish(CONTAINER, path, staging),
          { failure: { name: 'container_path_invalid' } },
          JSON.stringify(path),
        )
        await staging.discard()
      }
    },
  )

  t.test(`${driver}: containers can be listed, dated and removed completely`, async (t) => {
    const {
      storage: { containers },
      storage,
    } = await open(t)
    const other = { ...CONTAINER, containerId: 'gen_x' }
    for (const path of ['a', 'b/c', 'b/d/e']) await putInContainer(storage, path, path)
    await putInContainer(storage, 'kept', 'kept', other)
    t.same(must(await containers.listContainers(null)).containers, [other, CONTAINER])
    const newest = present(must(await containers.newestChange(CONTAINER)))
    t.ok(Math.abs(newest.getTime() - Date.now()) < 60_000)
    t.equal(must(await containers.removeContainer(CONTAINER)), 3)
    t.equal(must(await containers.removeContainer(CONTAINER)), null)
    t.same(must(await containers.listContainers(null)).containers, [other])
    t.equal(must(await containers.list(other, null, 9)).files.length, 1)
  })
}
