import { randomBytes } from 'node:crypto'
import t from 'tap'
import { CallEnded } from '../../../src/schemas/values/call-ended.ts'
import { fail, type FailureName } from '../../../src/schemas/failures.ts'
import { COUNTED_BYTES_MIN, FILE_BYTES_MAX } from '../../../src/schemas/files/file-limits.ts'
import type { FileRecord } from '../../../src/server/ports/files/files.ts'
import { must } from '../../support/must.ts'
import { text } from '../../support/files/sessions.ts'
import { drain, leftOpen, openS3 } from '../../support/files/storage.ts'
import { failing, openTransfers, swept, type TransferStand } from '../../support/files/transfers.ts'
import {
  answerOf,
  beginUpload,
  fieldPart,
  filePart,
  form,
  sendForm,
} from '../../support/files/upload-echo.ts'
import { until } from '../../support/wait.ts'

const NOTHING = { ready: 0, pending: 0, abandoned: 0, objects: 0, reservedBytes: 0, usedBytes: 0 }

async function downloaded({ transfers, files, workspaceId }: TransferStand, id: string): Promise<Buffer> {
  const content = must(
    await transfers.openFile(must(await files.get(workspaceId, id)), new AbortController().signal),
  )
  const bytes = await drain(must(await content.read(0, content.sizeBytes)))
  content.close()
  return bytes
}

for (const driver of ['disk', 'S3'] as const) {
  t.test(`stores the file of a form sealed, and reads it back unchanged (${driver})`, async (t) => {
    const stand = await openTransfers(t, driver === 'S3' ? { storage: (await openS3(t)).storage } : {})
    const content = text(3_000_000)
    const { status, body } = await sendForm(
      stand.port,
      form([fieldPart('purpose', 'assistants'), filePart(content, 'out/ü.txt')]),
    )
    t.equal(status, 200)
    const { file, isReplay } = body as unknown as { file: FileRecord; isReplay: boolean }
    t.notOk(isReplay)
    t.match(file, {
      filename: 'out/ü.txt',
      mimeType: 'text/plain',
      sizeBytes: content.length,
      purpose: 'assistants',
      isDownloadable: false,
    })
    t.ok((await downloaded(stand, file.id)).equals(content))
    t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: content.length })
  })
}

t.test('stores a chunked body, and reserves its quota in steps', async (t) => {
  const stand = await openTransfers(t)
  const content = text(5_500_000)
  t.equal((await sendForm(stand.port, form([filePart(content)]), { declared: null })).status, 200)
  t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: content.length })
})

t.test('a file that is refused for its content leaves nothing', async (t) => {
  const stand = await openTransfers(t)
  t.match(await sendForm(stand.port, form([filePart(randomBytes(200_000))])), {
    status: 400,
    type: 'content_unsupported',
  })
  t.match(await sendForm(stand.port, form([filePart('')])), { status: 400, type: 'file_empty' })
  t.same(await stand.census(), NOTHING)
})

t.test('a malformed form, a truncated one and one with two files leave nothing', async (t) => {
  const stand = await openTransfers(t)
  const body = form([filePart(text(100_000))])
  t.match(await sendForm(stand.port, body.subarray(0, -4)), { status: 400, type: 'form_malformed' })
  t.match(await sendForm(stand.port, form([filePart(text(100_000)), filePart('b')])), {
    status: 400,
    type: 'form_invalid',
  })
  t.same(await stand.census(), NOTHING)
})

t.test('a full workspace refuses by the announced length, and by the bytes that arrive', async (t) => {
  const stand = await openTransfers(t, { files: { quotaBytes: 1_000_000 } })
  const body = form([filePart(text(5_000_000))])
  t.equal((await sendForm(stand.port, body)).type, 'quota_exceeded')
  t.equal((await sendForm(stand.port, body, { declared: null })).type, 'quota_exceeded')
  t.same(await stand.census(), NOTHING)
  t.equal((await sendForm(stand.port, form([filePart(text(900_000))]))).status, 200)
})

t.test('a file that just fits is stored although its form is larger than the free room', async (t) => {
  const stand = await openTransfers(t, { files: { quotaBytes: 1_000_000 } })
  const large = fieldPart('large', 'x'.repeat(60_000))
  t.equal((await sendForm(stand.port, form([large, filePart(text(1_000_001))]))).type, 'quota_exceeded')
  t.equal((await sendForm(stand.port, form([large, filePart(text(1_000_000))]))).status, 200)
  t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: 1_000_000 })
})

t.test('concurrent uploads are stored exactly until the quota is used up', async (t) => {
  const stand = await openTransfers(t, { files: { quotaBytes: 1_000_000, quotaWaitMs: 300_000 } })
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      sendForm(stand.port, form([filePart(text(100_000))]), index % 2 === 0 ? { declared: null } : {}),
    ),
  )
  t.equal(answers.filter(({ status }) => status === 200).length, 10)
  t.same(await stand.census(), { ...NOTHING, ready: 10, objects: 10, usedBytes: 1_000_000 })
})

t.test(
  'an upload without a free slot in the thread pool is refused before its body is read, and leaves nothing',
  async (t) => {
    let isFull = true
    const stand = await openTransfers(t, {
      wrap: (parts) => ({
        ...parts,
        intake: { open: (input) => (isFull ? fail('busy') : parts.intake.open(input)) },
      }),
    })
    // Its body never comes.
    t.match(await answerOf(beginUpload(stand.port, 1_000)), { status: 503, type: 'busy' })
    t.same(await stand.census(), NOTHING)
    isFull = false
    t.equal((await sendForm(stand.port, form([filePart('a')]))).status, 200)
  },
)

const FAULTS = [
  ['storage', 'stage', 'storage_full', 'before'],
  ['storage', 'publish', 'storage_unavailable', 'before'],
  ['storage', 'publish', 'storage_unavailable', 'after'],
  ['keyRing', 'current', 'data_key_unavailable', 'before'],
  ['files', 'commit', 'store_unavailable', 'before'],
  ['files', 'commit', 'upload_lost', 'before'],
  ['files', 'begin', 'store_unavailable', 'before'],
] as const satisfies readonly (readonly [string, string, FailureName, 'before' | 'after'])[]

for (const [part, method, name, when] of FAULTS) {
  t.test(
    `when ${part}.${method} fails ${when} its work, the sweep leaves nothing, and uploads work`,
    async (t) => {
      let isBroken = true
      const stand = await openTransfers(t, {
        wrap: (parts) => ({
          ...parts,
          get [part]() {
            return isBroken ? failing(parts[part] as never, method as never, { name }, when) : parts[part]
          },
        }),
      })
      t.equal((await sendForm(stand.port, form([filePart(text(200_000))]))).type, name)
      isBroken = false
      await swept(stand)
      t.same(await stand.census(), NOTHING)
      t.same(await leftOpen(), [])
      t.equal((await sendForm(stand.port, form([filePart('a')]))).status, 200)
    },
  )
}

t.test('a commit whose answer is lost keeps the file', async (t) => {
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      files: failing(parts.files, 'commit', { name: 'store_unavailable' }, 'after'),
    }),
  })
  t.equal((await sendForm(stand.port, form([filePart(text(1_000))]))).status, 503)
  await swept(stand)
  t.same(await stand.census(), { ...NOTHING, ready: 1, objects: 1, usedBytes: COUNTED_BYTES_MIN })
})

for (const way of ['end', 'reset'] as const) {
  t.test(`a client that disconnects during the upload (${way}) leaves nothing`, async (t) => {
    const stand = await openTransfers(t)
    const client = beginUpload(stand.port, 20_000_000)
    client.send(form([filePart(text(15_000_000))]).subarray(0, 14_000_000))
    await until(async () => stand.sessions.load.intakes === 1)
    if (way === 'end') client.destroy()
    else client.socket.resetAndDestroy()
    await stand.front.untilSettled(1)
    t.same(await stand.census(), NOTHING)
    t.equal(stand.sessions.load.intakes, 0)
    t.equal((await sendForm(stand.port, form([filePart('a')]))).status, 200)
  })
}

t.test('a client that disconnects while its file is published leaves nothing', async (t) => {
  let leave = (): void => undefined
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      storage: {
        ...parts.storage,
        async publish(...args) {
          leave()
          await until(async () => args[2]?.aborted === true)
          return parts.storage.publish(args[0], args[1])
        },
      },
    }),
  })
  const body = form([filePart(text(1_000))])
  const client = beginUpload(stand.port, body.length)
  leave = () => client.destroy()
  client.send(body)
  await stand.front.untilSettled(1)
  await swept(stand)
  t.same(await stand.census(), NOTHING)
})

t.test('a client that disconnects while its key is unwrapped leaves no key in memory', async (t) => {
  const leaving = new AbortController()
  const keys: Uint8Array[] = []
  const stand = await openTransfers(t, {
    wrap: (parts) => ({
      ...parts,
      keyRing: {
        ...parts.keyRing,
        async current(...args) {
          const dataKey = await parts.keyRing.current(...args)
          if (dataKey.ok) keys.push(dataKey.value.key)
          leaving.abort(new CallEnded('client_gone'))
          return dataKey
        },
      },
    }),
  })
  const upload = {
    bytesAtMost: 10,
    slackBytes: 0,
    receive: () => t.fail('it is over'),
    resume() {},
    stop() {},
  }
  const stored = await stand.transfers.store(upload, {
    workspaceId: stand.workspaceId,
    idempotency: null,
    signal: leaving.signal,
  })
  t.match(stored, { failure: { name: 'client_gone' } })
  t.same(keys, [new Uint8Array(32)])
  t.same(await stand.census(), NOTHING)
})

t.test('a file above the limit is 413 even when its length was not announced', async (t) => {
  const stand = await openTransfers(t)
  const body = form([filePart(text(FILE_BYTES_MAX + 1))])
  t.match(await sendForm(stand.port, body), { status: 413, type: 'file_too_large' })
  t.same(await stand.census(), NOTHING)
})

t.test('a file of exactly the limit is stored', async (t) => {
  const stand = await openTransfers(t)
  const client = beginUpload(stand.port, null)
  client.destroy()
  const answer = await sendForm(stand.port, form([filePart(text(FILE_BYTES_MAX))]))
  t.match(answer, { status: 200, body: { file: { sizeBytes: FILE_BYTES_MAX } } })
})

t.test('the same key and bytes get the first answer again, other bytes are a mismatch', async (t) => {
  const stand = await openTransfers(t)
  const send = (content: string, key = 'k') =>
    sendForm(stand.port, form([filePart(content)]), { headers: { 'idempotency-key': key } })
  const [first, again, other, otherKey] = [
    await send('one'),
    await send('one'),
    await send('two'),
    await send('one', 'l'),
  ]
  t.match(again, {
    status: 200,
    body: { isReplay: true, file: { id: (first.body['file'] as FileRecord).id } },
  })
  t.match(other, { status: 400, type: 'idempotency_mismatch' })
  t.match(otherKey, { status: 200, body: { isReplay: false } })
  t.same(await stand.census(), { ...NOTHING, ready: 2, objects: 2, usedBytes: 2 * COUNTED_BYTES_MIN })
})

t.test('concurrent repetitions store one file, and all get it', async (t) => {
  const stand = await openTransfers(t, { files: { idempotencyWaitMs: 60_000 } })
  const answers = await Promise.all(
    Array.from({ length: 8 }, () =>
      sendForm(stand.port, form([filePart(text(50_000))]), { headers: { 'idempotency-key': 'k' } }),
    ),
  )
  t.same(
    answers.map(({ status }) => status),
    Array(8).fill(200),
  )
  t.equal(new Set(answers.map(({ body }) => (body['file'] as FileRecord).id)).size, 1)
})

t.test('removing a file frees its bytes', async (t) => {
  const stand = await openTransfers(t)
  const { body } = await sendForm(stand.port, form([filePart('abc')]))
  must(await stand.transfers.remove(stand.workspaceId, (body['file'] as FileRecord).id))
  t.same(await stand.census(), NOTHING)
})
