/** Uploads that something ends in their midst. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { ok } from '../../../src/schemas/failures.ts'
import type { Storage } from '../../../src/server/ports/files/storage.ts'
import { text } from '../../support/files/sessions.ts'
import { leftOpen, openDisk, openS3, openStoredFiles, SHORT_STALL_MS } from '../../support/files/storage.ts'
import { openTransfers, swept, type TransferStand } from '../../support/files/transfers.ts'
import { answerOf, beginUpload, filePart, form, sendForm } from '../../support/files/upload-echo.ts'
import type { S3Fault } from '../../support/files/s3.ts'
import { pause, until } from '../../support/wait.ts'
import { THREAD_SILENT_MS_MAX } from '../../../src/schemas/files/file-limits.ts'

/** Starting and ending threads is slow on a machine that does ten other things. */
t.setTimeout(600_000)

const NOTHING = { ready: 0, pending: 0, abandoned: 0, objects: 0, reservedBytes: 0, usedBytes: 0 }
const HANGING = new URL('../../support/files/hanging-thread.js', import.meta.url)

/** Nothing is left of what failed, and the next upload works. */
async function recovers(t: Test, stand: TransferStand, folder: string): Promise<void> {
  await swept(stand)
  t.same(await readdir(join(folder, 'staging')), [])
  t.same(await stand.census(), NOTHING)
  t.same(await leftOpen(), [])
  // The place of a thread that is ended comes back with its end, which the client does not wait for.
  await until('no session is left', () => {
    const { intakes, waiting } = stand.sessions.load
    return intakes === 0 && waiting === 0
  })
  t.equal((await sendForm(stand.port, form([filePart('next')]))).status, 200)
}

async function underWay(stand: TransferStand) {
  const client = beginUpload(stand.port, 30_000_000)
  client.send(form([filePart(text(20_000_000))]).subarray(0, 19_000_000))
  await until(async () => (await openStoredFiles()).length !== 0)
  return client
}

t.test('an upload whose thread dies answers 503 and leaves nothing', async (t) => {
  const threads: Worker[] = []
  const born = (thread: Worker): void => void threads.push(thread)
  process.on('worker', born)
  t.teardown(() => process.off('worker', born))
  const { storage, folder } = await openDisk(t)
  const stand = await openTransfers(t, { storage, sessions: {} })
  const client = await underWay(stand)
  await Promise.all(threads.map((thread) => thread.terminate()))
  t.match(await answerOf(client), { status: 503, type: 'busy' })
  await recovers(t, stand, folder)
})

t.test('an upload whose thread hangs answers 503 and leaves nothing', async (t) => {
  let isFirst = true
  const { storage, folder } = await openDisk(t)
  const stand = await openTransfers(t, {
    storage,
    sessions: { entry: HANGING, silentMs: THREAD_SILENT_MS_MAX },
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        stage: async (bytes) => {
          const staged = await parts.storage.stage(bytes)
          if (!staged.ok || !isFirst) return staged
          isFirst = false
          const path = `${staged.value.path}hangs`
          return ok({ path, discard: () => rm(path, { force: true }).then(() => staged.value.discard()) })
        },
      },
    }),
  })
  const client = await underWay(stand)
  t.match(await answerOf(client), { status: 503, type: 'busy' })
  await recovers(t, stand, folder)
})

for (const fault of ['error', 'reset', 'lost', 'slow'] as const satisfies readonly S3Fault[]) {
  t.test(
    `with a bucket that fails every time (${fault}) an upload is stored or answers 503, and leaves nothing else`,
    async (t) => {
      const { storage, s3 } = await openS3(t, fault === 'slow' ? { stallMs: SHORT_STALL_MS } : {})
      const stand = await openTransfers(t, { storage })
      s3.failNext('put', ...Array<S3Fault>(20).fill(fault))
      const { status } = await sendForm(stand.port, form([filePart(text(100_000))]))
      if (status !== 200) t.equal(status, 503)
      for (const call of ['put', 'head', 'delete'] as const) s3.clear(call)
      await swept(stand)
      const { ready, objects, pending, abandoned } = await stand.census()
      t.same([ready, objects, pending, abandoned], status === 200 ? [1, 1, 0, 0] : [0, 0, 0, 0])
      t.equal((await sendForm(stand.port, form([filePart('next')]))).status, 200)
    },
  )
}

t.test('after random disconnects only complete files remain, and the used bytes match them', async (t) => {
  const stand = await openTransfers(t)
  const body = form([filePart(text(400_000))])
  await Promise.all(
    Array.from({ length: 40 }, async (_, index) => {
      const client = beginUpload(stand.port, body.length)
      client.send(body.subarray(0, Math.floor((body.length * (index % 8)) / 7)))
      await pause(Math.random() * 120)
      if (index % 2 === 0) client.destroy()
      else client.socket.resetAndDestroy()
    }),
  )
  // Some left before the front saw a request of theirs. One more call comes after all the others.
  t.equal((await sendForm(stand.port, form([filePart('')]))).type, 'file_empty')
  await until(() => stand.front.front.load.calls === 0)
  await swept(stand)
  const { ready, objects, ...rest } = await stand.census()
  t.equal(ready, objects)
  t.same(rest, { pending: 0, abandoned: 0, reservedBytes: 0, usedBytes: ready * 400_000 })
  t.same(
    [await leftOpen(), stand.sessions.load.intakes, stand.front.front.load],
    [[], 0, { calls: 0, timers: 0, bodyBytes: 0 }],
  )
})

t.test('an upload that the sweep removes before its commit answers 500 and leaves nothing', async (t) => {
  let sweep = async (): Promise<void> => undefined
  const stand = await openTransfers(t, {
    files: { leaseMs: 1, renewMs: 1_000_000 },
    wrap: (parts) => ({ ...parts, storage: overtaken(parts.storage, () => sweep()) }),
  })
  sweep = () => swept(stand)
  t.match(await sendForm(stand.port, form([filePart(text(1_000))])), { status: 500, type: 'upload_lost' })
  t.same(await stand.census(), NOTHING)
})

/** The sweep looks for the bytes just before they are there. */
function overtaken(storage: Storage, sweep: () => Promise<void>): Storage {
  return {
    ...storage,
    async publish(...args) {
      await sweep()
      return storage.publish(...args)
    },
  }
}
