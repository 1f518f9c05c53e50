/** Session threads opened for a test, and what tests do with intake and unsealing. */
import { randomBytes } from 'node:crypto'
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { createIntake, type IntakePart } from '../../../src/workers/sessions/intake.ts'
import { SessionPool, type SessionPoolOptions } from '../../../src/workers/sessions/session-pool.ts'
import { createUnsealing } from '../../../src/workers/sessions/unsealing.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import type {
  IntakeSession,
  IntakeVerdict,
  IntakeInput,
  Unsealing,
} from '../../../src/server/ports/files/intake.ts'
import type { DataKey } from '../../../src/server/ports/vault/key-ring.ts'
import { openDiskStorage } from '../../../src/server/storage/disk.ts'
import { diskFailure } from '../../../src/server/storage/disk-failure.ts'
import { SILENT } from '../log.ts'
import { must } from '../must.ts'
import { drain, openFolder } from './storage.ts'

type Teardown = Parameters<typeof openFolder>[0]

export interface SessionStand {
  readonly sessions: SessionPool
  readonly intake: IntakePart
  readonly unsealing: Unsealing
  readonly folder: string
}

export const DATA_KEY_ID = '0190a1b2-c3d4-4e5f-8a6b-7c8d9e0f1a2b'
const DATA_KEY = randomBytes(32)
/** Milliseconds that a thread may be silent where a hanging thread is not what a test is about. */
const SILENT_MS_MAX = 60_000

/** A copy each time: it is moved away. */
export function dataKey(): DataKey {
  return { id: DATA_KEY_ID, key: Uint8Array.from(DATA_KEY) }
}

export async function openSessions(
  t: Teardown,
  options: Partial<SessionPoolOptions> = {},
): Promise<SessionStand> {
  const folder = await openFolder(t)
  const sessions = new SessionPool({ threadCount: 1, log: SILENT, silentMs: SILENT_MS_MAX, ...options })
  t.teardown(() => sessions.close())
  const failureOf = diskFailure
  return {
    sessions,
    intake: createIntake({ sessions, failureOf }),
    unsealing: createUnsealing({ sessions, failureOf }),
    folder,
  }
}

/** A session that writes a sealed file of its own. */
export function openSealed(
  { intake, folder }: SessionStand,
  objectId: string,
  more: Partial<IntakeInput> = {},
): IntakeSession {
  const target = { path: join(folder, objectId), seal: { dataKey: dataKey(), objectId } }
  return must(intake.open({ holder: 'w', target, content: 'refuse', bytesMax: 2 ** 40, ...more }))
}

/** Pushes all of it with regard to the window; @returns what `finish` says, or the failure before it. */
export async function pushAll(
  session: IntakeSession,
  pieces: Iterable<Uint8Array>,
): Promise<Outcome<IntakeVerdict>> {
  let wake = (): void => {}
  session.onRoom(() => wake())
  let hasFailed = false
  session.onFailure(() => {
    hasFailed = true
    wake()
  })
  for (const piece of pieces) {
    if (session.push(piece)) continue
    if (hasFailed) break
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  return session.finish()
}

export function recordOf(objectId: string, { mimeType, sizeBytes, sha256 }: IntakeVerdict): FileRecord {
  return {
    id: objectId,
    workspaceId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
    filename: 'f',
    mimeType,
    sizeBytes,
    sha256,
    dataKeyId: DATA_KEY_ID,
    isDownloadable: true,
    purpose: null,
    createdAt: new Date(0),
  }
}

export function text(bytes: number): Buffer {
  return Buffer.from('a line of text, and nothing else\n'.repeat(Math.ceil(bytes / 33))).subarray(0, bytes)
}

/** Publishes what was staged on a disk and reads it back through a session. */
export async function reopened(
  stand: SessionStand,
  objectId: string,
  verdict: IntakeVerdict,
): Promise<Buffer> {
  const storage = await openDiskStorage({ folder: join(stand.folder, 'store') })
  must(
    await storage.publish(objectId, { path: join(stand.folder, objectId), discard: () => Promise.resolve() }),
  )
  const object = must(await storage.open(objectId))
  const file = recordOf(objectId, verdict)
  const bytes = await drain(
    must(await stand.unsealing.open({ file, object, dataKey: dataKey(), from: 0, to: file.sizeBytes })),
  )
  await object.close()
  await storage.close()
  return bytes
}

/** Files of the stand that this process has open. */
export async function openFiles({ folder }: SessionStand): Promise<readonly string[]> {
  const links = (await readdir('/proc/self/fd')).map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => ''))
  return (await Promise.all(links)).filter((path) => path.startsWith(folder))
}
