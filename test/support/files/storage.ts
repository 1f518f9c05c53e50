/** Both drivers of storage, opened for a test, and what tests do with either. */
import { readdir, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { ByteReader } from '../../../src/server/ports/byte-streams.ts'
import type { ContainerRef, Staging, Storage } from '../../../src/server/ports/files/storage.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import { openS3Storage } from '../../../src/server/storage/s3.ts'
import type { S3Options } from '../../../src/server/storage/s3-client.ts'
import { must } from '../must.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { FakeS3 } from './s3.ts'
import { until } from '../wait.ts'

interface Teardown {
  teardown(done: () => unknown): unknown
}

/** For a bucket that stalls on purpose; elsewhere a slow machine is waited for. */
export const SHORT_STALL_MS = 300

export const CONTAINER: ContainerRef = {
  workspaceId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  containerId: 'sess_abc',
}

/** Name of the folders of `openFolder`. */
const FOLDER_NAME = 'storage'

export async function openFolder(t: Teardown): Promise<string> {
  return temporaryFolder(t, FOLDER_NAME)
}

export async function openDisk(t: Teardown): Promise<{ storage: Storage; folder: string }> {
  const folder = await openFolder(t)
  return { storage: await openDiskStorage({ folder }), folder }
}

export async function openS3(
  t: Teardown,
  more: Partial<S3Options> = {},
): Promise<{ storage: Storage; s3: FakeS3; folder: string }> {
  const s3 = await FakeS3.start(t)
  const folder = await openFolder(t)
  const storage = await openS3Storage({
    bucket: s3.bucket,
    prefix: 'node/',
    region: s3.region,
    endpoint: s3.endpoint,
    accessKeyId: s3.accessKeyId,
    secretAccessKey: new Secret(s3.secretAccessKey),
    isPathStyle: true,
    checksums: 'WHEN_REQUIRED',
    stagingFolder: join(folder, 'staging'),
    stallMs: 20_000,
    backoffMs: 1,
    ...more,
  })
  t.teardown(() => storage.close())
  return { storage, s3, folder }
}

/** Stages these bytes as a worker would. */
export async function staged(storage: Storage, content: Buffer): Promise<Staging> {
  const staging = must(await storage.stage(content.length))
  await writeFile(staging.path, content, { flag: 'wx', mode: 0o600 })
  return staging
}

export async function put(storage: Storage, objectId: string, content: Buffer): Promise<void> {
  must(await storage.publish(objectId, await staged(storage, content)))
}

export async function putInContainer(
  storage: Storage,
  path: string,
  content: string | Buffer,
  container = CONTAINER,
): Promise<void> {
  must(await storage.containers.publish(container, path, await staged(storage, Buffer.from(content))))
}

/** Reads to the end; throws at a failure. */
export async function drain(reader: ByteReader): Promise<Buffer> {
  const pieces: Buffer[] = []
  for (;;) {
    const piece = must(await reader.next())
    if (piece === null) break
    pieces.push(Buffer.from(piece))
  }
  reader.close()
  return Buffer.concat(pieces)
}

export async function contentOf(storage: Storage, objectId: string): Promise<Buffer> {
  const object = must(await storage.open(objectId))
  const content = await drain(object.read(0, object.sizeBytes))
  await object.close()
  return content
}

export async function openDescriptors(): Promise<number> {
  return (await readdir('/proc/self/fd')).length
}

/** Paths of the files below folders of `openFolder` that this process holds open. */
export async function openStoredFiles(): Promise<readonly string[]> {
  const numbers = await readdir('/proc/self/fd')
  const paths = await Promise.all(
    numbers.map((number) => readlink(`/proc/self/fd/${number}`).catch(() => '')),
  )
  return paths.filter((path) => path.includes(`/sluice-${FOLDER_NAME}-`))
}

/**
 * Those that stay open and were not `before`: some are closed a moment after the event that a test waits for.
 */
export async function leftOpen(before: readonly string[] = []): Promise<readonly string[]> {
  const left = async (): Promise<readonly string[]> =>
    (await openStoredFiles()).filter((path) => !before.includes(path))
  await until(async () => (await left()).length === 0).catch(() => undefined)
  return left()
}
