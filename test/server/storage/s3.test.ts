import { randomBytes } from 'node:crypto'
import { access, mkdir, rmdir } from 'node:fs/promises'
import t from 'tap'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { must, present } from '../../support/must.ts'
import type { S3Call, S3Fault } from '../../support/files/s3.ts'
import {
  CONTAINER,
  contentOf,
  drain,
  openS3,
  put,
  putInContainer,
  SHORT_STALL_MS,
  staged,
} from '../../support/files/storage.ts'
import { pause, still, until } from '../../support/wait.ts'

const CONTENT = randomBytes(600_000)

t.test(
  'a wrong secret, key id or bucket is a failure of storage that the server reports, and is not retried',
  async (t) => {
    for (const wrong of [
      { secretAccessKey: new Secret('wrong') },
      { accessKeyId: 'WRONG' },
      { bucket: 'other' },
    ]) {
      const { storage, s3 } = await openS3(t, wrong)
      t.match(await storage.publish('file_a', await staged(storage, CONTENT)), {
        failure: { name: 'storage_unavailable' },
      })
      t.equal(s3.objects.size, 0)
      t.equal(s3.calls.length, 1)
    }
  },
)

t.test('an upload is one request of known length under its prefix, and never replaces objects', async (t) => {
  const { storage, s3 } = await openS3(t)
  await put(storage, 'file_a', CONTENT)
  t.same(s3.calls, ['put node/objects/file_a'])
  t.ok(present(s3.objects.get('node/objects/file_a')).body.equals(CONTENT))
})

t.test('an upload whose staging file cannot be read fails at once, and nothing else fails', async (t) => {
  const { storage, s3 } = await openS3(t, { stallMs: 60_000 })
  const staging = must(await storage.stage(1))
  // It can be opened and looked at, and each read is refused, as by a disk that breaks.
  await mkdir(staging.path)
  t.match(await storage.publish('file_a', staging), {
    failure: { name: 'storage_unavailable', cause: { code: 'EISDIR' } },
  })
  t.equal(s3.objects.size, 0)
  await rmdir(staging.path)
})

const CALLS: readonly (readonly [S3Call, (storage: Storage) => Promise<{ readonly ok: boolean }>])[] = [
  ['put', async (storage) => storage.publish('file_new', await staged(storage, CONTENT))],
  ['head', (storage) => storage.open('file_a')],
  ['list', (storage) => storage.list(null)],
  ['delete', (storage) => storage.remove('file_a')],
  [
    'get',
    async (storage) => {
      const object = must(await storage.open('file_a'))
      const piece = await object.read(0, CONTENT.length).next()
      return piece.ok
        ? { ok: piece.value !== null && CONTENT.subarray(0, piece.value.length).equals(piece.value) }
        : piece
    },
  ],
]

for (const [call, run] of CALLS) {
  for (const fault of ['error', 'reset', 'slow', 'lost'] as const satisfies readonly S3Fault[]) {
    t.test(
      fault === 'slow'
        ? `${call}: a server that always answers slow is retried, and is storage_unavailable`
        : `${call}: a server that answers ${fault} twice is retried, and one that always does is storage_unavailable`,
      async (t) => {
        const { storage, s3 } = await openS3(t, fault === 'slow' ? { stallMs: SHORT_STALL_MS } : {})
        s3.put('node/objects/file_a', CONTENT)
        // A machine that stands still is slow too, in any of the tries.
        if (fault !== 'slow') {
          s3.failNext(call, fault, fault)
          t.equal((await run(storage)).ok, true)
        }
        s3.put('node/objects/file_a', CONTENT)
        s3.objects.delete('node/objects/file_new')
        s3.failNext(call, ...Array<S3Fault>(12).fill(fault))
        const tries = (): number => s3.calls.filter((one) => one.startsWith(`${call} `)).length
        const tried = tries()
        t.match(await run(storage), { ok: false, failure: { name: 'storage_unavailable', retryAfterS: 1 } })
        t.ok(tries() > tried + 1, 'it was tried again')
      },
    )
  }
}

t.test('a put with a lost answer recognizes its own object, and fails for another one', async (t) => {
  const { storage, s3 } = await openS3(t)
  s3.failNext('put', 'lost')
  t.match(await storage.publish('file_a', await staged(storage, CONTENT)), { ok: true })
  t.same(s3.calls, ['put node/objects/file_a', 'put node/objects/file_a', 'head node/objects/file_a'])
  s3.put('node/objects/file_b', Buffer.from('other'))
  s3.failNext('put', 'reset')
  t.match(await storage.publish('file_b', await staged(storage, CONTENT)), { ok: false })
  t.equal(present(s3.objects.get('node/objects/file_b')).body.toString(), 'other')
})

t.test('a failed publish keeps the staging file for its owner', async (t) => {
  const { storage, s3 } = await openS3(t)
  s3.failNext('put', 'error', 'error', 'error', 'error')
  const staging = await staged(storage, CONTENT)
  t.match(await storage.publish('file_a', staging), { ok: false })
  await access(staging.path)
  t.match(await storage.publish('file_a', staging), { ok: true })
  await t.rejects(access(staging.path))
})

t.test('the read of a body that breaks off or stalls continues where it stopped', async (t) => {
  const { storage, s3 } = await openS3(t, { stallMs: 10 * SHORT_STALL_MS })
  await put(storage, 'file_a', CONTENT)
  const object = must(await storage.open('file_a'))
  s3.failNext('get', 'half', 'stall', 'half')
  t.ok((await drain(object.read(0, CONTENT.length))).equals(CONTENT))
  t.ok(s3.calls.filter((call) => call.startsWith('get')).length >= 4)
})

t.test('a read does not continue with an object that replaced the original', async (t) => {
  const { storage, s3 } = await openS3(t)
  await putInContainer(storage, 'a', CONTENT)
  const file = must(await storage.containers.open(CONTAINER, 'a'))
  s3.failNext('get', 'half')
  const reader = file.read(0, CONTENT.length)
  must(await reader.next())
  await putInContainer(storage, 'a', randomBytes(CONTENT.length))
  t.match(await reader.next(), { failure: { name: 'storage_unavailable', retryAfterS: 1 } })
  t.match(await file.read(0, CONTENT.length).next(), {
    failure: { name: 'storage_unavailable', retryAfterS: 1 },
  })
})

t.test('a server that ignores ranges is refused before any byte is returned', async (t) => {
  const { storage, s3 } = await openS3(t)
  await put(storage, 'file_a', CONTENT)
  s3.ignoresRanges = true
  const object = must(await storage.open('file_a'))
  t.match(await object.read(10, 20).next(), { failure: { name: 'storage_unavailable' } })
})

t.test('nothing is read ahead for a reader that requests nothing', async (t) => {
  const { storage, s3 } = await openS3(t)
  const large = Buffer.alloc(64 << 20, 3)
  s3.put('node/objects/file_a', large)
  const object = must(await storage.open('file_a'))
  const reader = object.read(0, large.length)
  must(await reader.next())
  // Until the sockets between are full and the server is held back.
  await still(() => s3.sentBytes)
  t.ok(s3.sentBytes < 24 << 20, `${s3.sentBytes} bytes were sent for one piece`)
  reader.close()
})

t.test('a reader that is closed ends its request, and the next one works', async (t) => {
  const { storage } = await openS3(t)
  await put(storage, 'file_a', CONTENT)
  for (let round = 0; round < 20; round++) {
    const object = must(await storage.open('file_a'))
    const reader = object.read(0, CONTENT.length)
    must(await reader.next())
    reader.close()
    reader.close()
    await object.close()
  }
  t.ok((await contentOf(storage, 'file_a')).equals(CONTENT))
})

t.test('reads that run to their end share one connection', async (t) => {
  const { storage, s3 } = await openS3(t)
  await put(storage, 'file_a', CONTENT)
  const before = s3.connections
  for (let round = 0; round < 10; round++) {
    t.ok((await contentOf(storage, 'file_a')).equals(CONTENT))
    await pause(20)
  }
  t.ok(s3.connections - before <= 1, `${s3.connections - before} connections for 10 reads`)
})

t.test('a reader that is closed during its request leaves no body open', async (t) => {
  const { storage, s3 } = await openS3(t, { stallMs: 60_000 })
  await put(storage, 'file_a', CONTENT)
  const object = must(await storage.open('file_a'))
  s3.failNext('get', 'slow')
  const reader = object.read(0, CONTENT.length)
  const next = reader.next()
  await until(() => s3.calls.some((call) => call.startsWith('get')))
  reader.close()
  t.match(await next, { failure: { name: 'client_gone' } })
})

t.test('the removal of a container keeps a file that replaced a listed one', async (t) => {
  const { storage, s3 } = await openS3(t)
  await putInContainer(storage, 'a', 'old')
  await putInContainer(storage, 'b', 'old')
  const key = [...s3.objects.keys()].find((name) => name.endsWith('/a')) ?? ''
  s3.beforeCall = (call, asked) =>
    void (call === 'delete' && asked === key && s3.put(key, Buffer.from('new')))
  t.equal(must(await storage.containers.removeContainer(CONTAINER, new Date(Date.now() + 1_000))), 1)
  t.same([...s3.objects.keys()], [key])
})

t.test('a disconnect of the caller ends a call that hangs', async (t) => {
  const { storage, s3 } = await openS3(t, { stallMs: 60_000 })
  const leaving = new AbortController()
  s3.failNext('put', 'slow')
  const published = storage.publish('file_a', await staged(storage, CONTENT), leaving.signal)
  leaving.abort()
  t.match(await published, { failure: { name: 'client_gone' } })
})

t.test('a listing skips keys that are not valid paths, without shortening its pages', async (t) => {
  const { storage, s3 } = await openS3(t)
  const prefix = `node/containers/${CONTAINER.workspaceId}/${CONTAINER.containerId}/`
  for (const name of ['', 'a/', 'b//c', '../x', 'y/../z', './w']) s3.put(prefix + name, Buffer.from('x'))
  for (const name of ['c', 'd\u0001e', 'f%2Fg']) s3.put(prefix + name, Buffer.from('x'))
  s3.pageMax = 2
  const page = must(await storage.containers.list(CONTAINER, null, 3))
  t.same(
    page.files.map(({ path }) => path),
    ['c', 'd\u0001e', 'f%2Fg'],
  )
  t.equal(page.hasMore, false)
})

t.test('many containers and objects are listed in pages', async (t) => {
  const { storage, s3 } = await openS3(t)
  s3.pageMax = 7
  const ids = Array.from({ length: 30 }, (_, nth) => `c${nth}`)
  for (const id of ids)
    for (let nth = 0; nth < 9; nth++)
      s3.put(`node/containers/${CONTAINER.workspaceId}/${id}/${nth}`, Buffer.alloc(0))
  for (const id of ids) s3.put(`node/objects/${id}`, Buffer.alloc(0))
  const containers: string[] = []
  const objects: string[] = []
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: Awaited<ReturnType<Storage['containers']['listContainers']>> =
      await storage.containers.listContainers(cursor)
    containers.push(...must(page).containers.map(({ containerId }) => containerId))
    cursor = must(page).cursor
  }
  for (let cursor: string | null = null, isFirst = true; isFirst || cursor !== null; isFirst = false) {
    const page: Awaited<ReturnType<Storage['list']>> = await storage.list(cursor)
    objects.push(...must(page).objects.map(({ objectId }) => objectId))
    cursor = must(page).cursor
  }
  t.same([...new Set(containers)].sort(), [...ids].sort())
  t.equal(containers.length, ids.length, 'each once')
  t.same(objects, [...ids].sort())
})

t.test('a full staging disk is storage_full, even if the bucket has space', async (t) => {
  const { storage } = await openS3(t)
  t.equal(storage.failureOf(Object.assign(new Error(), { code: 'ENOSPC' })).name, 'storage_full')
  t.match(await storage.stage(2 ** 50), { failure: { name: 'storage_full' } })
})
