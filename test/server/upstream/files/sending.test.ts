/** Uploads that are streamed through to a provider, and all that may break one. C23, C24, §4.7. */
import { createHash, randomBytes } from 'node:crypto'
import t from 'tap'
import { CallEnded } from '../../../../src/schemas/values/call-ended.ts'
import type { Outcome } from '../../../../src/schemas/failures.ts'
import { FILE_BYTES_MAX } from '../../../../src/schemas/files/file-limits.ts'
import type { HostedUpload } from '../../../../src/server/ports/files/file-hosts.ts'
import { must, present } from '../../../support/must.ts'
import { atPace } from '../../../support/load/pace.ts'
import {
  hostAt,
  openFilesStand,
  PROVIDER_KEY,
  send,
  until,
  type FilesStand,
} from '../../../support/files/provider-files.ts'
import { PushedUpload } from '../../../support/files/pushed-upload.ts'
import { text } from '../../../support/files/sessions.ts'
import { pause } from '../../../support/wait.ts'
import {
  PROVIDER_PIECE_BYTES,
  PROVIDER_UPLOAD_BYTES_MAX,
} from '../../../../src/server/upstream/files/send-file.ts'

const MIB = 1024 * 1024
const PIECE = text(64 * 1024)

function* pieces(bytes: number): Generator<Uint8Array> {
  for (let at = 0; at < bytes; at += PIECE.length) yield PIECE.subarray(0, Math.min(PIECE.length, bytes - at))
}

function bytesThenBad(bytes: number): Uint8Array[] {
  return [...pieces(bytes), Buffer.from([0xff, 0xfe, 0])]
}

interface Sending {
  readonly signal?: AbortSignal
  readonly to?: 'openai' | 'anthropic'
}

async function store(
  stand: FilesStand,
  upload: PushedUpload,
  { signal, to = 'openai' }: Sending = {},
): Promise<Outcome<HostedUpload>> {
  const host = await hostAt(stand, to)
  return host.store(upload, {
    workspaceId: 'w',
    idempotency: null,
    signal: signal ?? new AbortController().signal,
  })
}

function nameOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.failure.name
}

/** Resolves when it has been paused for many turns of the loop, and nothing of it moved in them. */
function standstill({ sessions }: FilesStand, upload: PushedUpload): Promise<void> {
  let turns = 0
  let waiting = 0
  return until(() => {
    const isStill = upload.isPaused && sessions.intake.waitingBytes === waiting
    waiting = sessions.intake.waitingBytes
    turns = isStill ? turns + 1 : 0
    return turns > 20_000
  })
}

t.test('a file arrives whole, under its name, with its purpose and the type of its name', async (t) => {
  const stand = await openFilesStand(t)
  const upload = new PushedUpload({
    pieces: pieces(3 * MIB + 17),
    filename: 'notes/für “dich”.md',
    fields: { purpose: 'assistants', extra: 'x' },
  })
  const { file } = must(await store(stand, upload))
  const kept = present([...stand.provider.files.values()][0])
  t.match(kept, {
    filename: 'notes/für “dich”.md',
    type: 'text/markdown',
    fields: { purpose: 'assistants' },
    sizeBytes: 3 * MIB + 17,
  })
  t.same(Object.keys(kept.fields), ['purpose'])
  t.equal(
    kept.sha256,
    createHash('sha256')
      .update(
        text(64 * 1024)
          .toString()
          .repeat(48),
      )
      .update(PIECE.subarray(0, 17))
      .digest('hex'),
  )
  t.match(file, {
    id: kept.id,
    filename: kept.filename,
    sizeBytes: kept.sizeBytes,
    mimeType: 'text/plain',
    purpose: 'assistants',
  })
  t.equal(stand.provider.heads[0]?.authorization, `Bearer ${PROVIDER_KEY}`)
  await stand.rest()
})

t.test('an upload without a purpose gets one at OpenAI and none at Anthropic', async (t) => {
  const stand = await openFilesStand(t)
  must(await store(stand, new PushedUpload({ pieces: pieces(10) })))
  must(await store(stand, new PushedUpload({ pieces: pieces(10), filename: null }), { to: 'anthropic' }))
  const [openai, anthropic] = [...stand.provider.files.values()]
  t.same(openai?.fields, { purpose: 'user_data' })
  t.match(anthropic, { fields: {}, filename: 'file', type: 'application/octet-stream' })
  t.match(stand.provider.heads[1], {
    'x-api-key': PROVIDER_KEY,
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'files-api-2025-04-14',
    authorization: undefined,
  })
})

t.test(
  'sends the expiry of a file to OpenAI, and refuses a file with an expiry for Anthropic, which has none',
  async (t) => {
    const stand = await openFilesStand(t)
    const fields = {
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '7200',
      'expires_after[other]': 'x',
    }
    const { file } = must(await store(stand, new PushedUpload({ pieces: pieces(10), fields })))
    const [kept] = [...stand.provider.files.values()]
    t.same(kept?.fields, {
      purpose: 'user_data',
      'expires_after[anchor]': 'created_at',
      'expires_after[seconds]': '7200',
    })
    t.equal((file.expiresAt?.getTime() ?? 0) - file.createdAt.getTime(), 7_200_000)
    t.equal(must(await store(stand, new PushedUpload({ pieces: pieces(10) }))).file.expiresAt, null)
    const refused = await store(stand, new PushedUpload({ pieces: pieces(2 * MIB), fields }), {
      to: 'anthropic',
    })
    t.match(refused, {
      failure: { name: 'form_invalid', metadata: { issues: [{ path: '/expires_after' }] } },
    })
    await until(() => stand.provider.seen.broken === 1)
    t.equal(stand.provider.files.size, 2)
    await stand.rest()
  },
)

t.test('whatever the pieces, the provider gets the same file', async (t) => {
  const stand = await openFilesStand(t)
  const whole = text(200_000)
  for (const size of [
    1_009,
    PROVIDER_PIECE_BYTES,
    PROVIDER_PIECE_BYTES + 1,
    2 * PROVIDER_PIECE_BYTES,
    200_000,
  ]) {
    const cut = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    )
    must(await store(stand, new PushedUpload({ pieces: cut })))
  }
  const hash = createHash('sha256').update(whole).digest('hex')
  t.same(
    [...stand.provider.files.values()].map((file) => file.sha256),
    Array.from({ length: 5 }, () => hash),
  )
})

t.test('content that is refused at its last byte never completes at the provider', async (t) => {
  const stand = await openFilesStand(t)
  const outcome = await store(stand, new PushedUpload({ pieces: bytesThenBad(2 * MIB) }))
  t.equal(nameOf(outcome), 'content_unsupported')
  await until(() => stand.provider.seen.broken === 1)
  t.equal(stand.provider.files.size, 0)
  t.ok(stand.provider.seen.fileBytes <= 2 * MIB + 3 - 1)
  await stand.rest()
})

t.test('a small refused file and an empty file are not sent to the provider', async (t) => {
  const stand = await openFilesStand(t)
  t.equal(
    nameOf(await store(stand, new PushedUpload({ pieces: [Buffer.from([0x4d, 0x5a, 0, 1, 2, 3])] }))),
    'content_unsupported',
  )
  t.equal(nameOf(await store(stand, new PushedUpload({ pieces: [] }))), 'file_empty')
  t.same(stand.provider.calls, [])
})

t.test('a file one byte above the limit is refused, and nothing is stored at the provider', async (t) => {
  const stand = await openFilesStand(t)
  const upload = new PushedUpload({ pieces: pieces(FILE_BYTES_MAX + 1) })
  t.equal(nameOf(await store(stand, upload)), 'file_too_large')
  t.ok(upload.isStopped)
  await until(() => stand.provider.seen.broken === 1)
  t.equal(stand.provider.files.size, 0)
  await stand.rest()
})

t.test('when the client disconnects, the request to the provider is aborted', async (t) => {
  const stand = await openFilesStand(t)
  const upload = new PushedUpload({ pieces: pieces(MIB), isEndless: true })
  const storing = store(stand, upload)
  await until(() => stand.provider.seen.fileBytes > 0)
  upload.break()
  t.equal(nameOf(await storing), 'client_gone')
  await until(() => stand.provider.seen.broken === 1)
  t.equal(stand.provider.files.size, 0)
  await stand.rest()
})

t.test('when a call ends while its bytes wait, the request to the provider is aborted too', async (t) => {
  const stand = await openFilesStand(t)
  let read = (): void => {}
  stand.provider.behave(({ honest }) => (read = honest))
  const call = new AbortController()
  const upload = new PushedUpload({ pieces: pieces(FILE_BYTES_MAX) })
  const storing = store(stand, upload, { signal: call.signal })
  await until(() => stand.provider.calls.length === 1)
  await standstill(stand, upload)
  call.abort(new CallEnded('deadline'))
  t.equal(nameOf(await storing), 'deadline_exceeded')
  t.ok(upload.isStopped)
  read()
  await until(() => stand.provider.seen.broken === 1)
  t.equal(stand.provider.files.size, 0)
  await stand.rest()
})

t.test('a client that disconnects after its last byte leaves no file at the provider', async (t) => {
  const stand = await openFilesStand(t)
  const call = new AbortController()
  stand.provider.behave(({ req, honest }) => {
    if (req.method === 'POST') req.on('end', () => call.abort(new CallEnded('client_gone')))
    honest()
  })
  t.equal(
    nameOf(await store(stand, new PushedUpload({ pieces: pieces(MIB) }), { signal: call.signal })),
    'client_gone',
  )
  t.equal(stand.provider.files.size, 0)
  t.same(stand.provider.calls, ['POST /v1/files', 'DELETE /v1/files/file-1'])
  await stand.rest()
})

t.test('a provider that closes the connection during an upload counts as failed', async (t) => {
  const stand = await openFilesStand(t)
  stand.provider.behave(({ req }) => void req.once('data', () => req.socket.destroy()))
  const upload = new PushedUpload({ pieces: pieces(FILE_BYTES_MAX) })
  const outcome = await store(stand, upload)
  t.match(outcome, { failure: { name: 'upstream_failed', metadata: { provider_name: 'OpenAI' } } })
  t.ok(upload.isStopped)
  await stand.rest()
})

t.test('a refusal that comes before the body was read is passed on with its reason', async (t) => {
  const stand = await openFilesStand(t)
  stand.provider.behave(({ res }) =>
    send(res, 413, { error: { message: `Too large for ${PROVIDER_KEY}`, code: 'too_large' } }),
  )
  const upload = new PushedUpload({ pieces: pieces(MIB), isEndless: true })
  const outcome = await store(stand, upload)
  t.match(outcome, {
    failure: { name: 'upstream_refused', detail: 'The provider answered 413: Too large for […]' },
  })
  t.notMatch(JSON.stringify(outcome), PROVIDER_KEY)
  t.ok(upload.isStopped)
  await stand.rest()
})

t.test('a success that arrives before the provider has the whole file is treated as invalid', async (t) => {
  const stand = await openFilesStand(t)
  stand.provider.behave(({ res }) => send(res, 200, { id: 'file-1', filename: 'a', created_at: 1, bytes: 5 }))
  const outcome = await store(stand, new PushedUpload({ pieces: pieces(MIB), isEndless: true }))
  t.equal(nameOf(outcome), 'upstream_invalid')
  await stand.rest()
})

t.test('a provider that stored another number of bytes is asked to delete the file', async (t) => {
  const stand = await openFilesStand(t)
  stand.provider.behave(({ req, res, honest }) => {
    if (req.method !== 'POST') return honest()
    req.resume().on('end', () => send(res, 200, { id: 'file-9', filename: 'a', created_at: 1, bytes: 5 }))
  })
  t.equal(nameOf(await store(stand, new PushedUpload({ pieces: pieces(100) }))), 'upstream_invalid')
  t.same(stand.provider.calls, ['POST /v1/files', 'DELETE /v1/files/file-9'])
})

t.test('each error status of a provider maps to its failure', async (t) => {
  const stand = await openFilesStand(t)
  const statuses: readonly (readonly [number, string])[] = [
    [400, 'upstream_refused'],
    [401, 'upstream_credential'],
    [403, 'upstream_credential'],
    [404, 'upstream_failed'],
    [415, 'upstream_refused'],
    [422, 'upstream_refused'],
    [429, 'upstream_overloaded'],
    [500, 'upstream_failed'],
    [302, 'upstream_failed'],
    [529, 'upstream_overloaded'],
  ]
  for (const [status, name] of statuses) {
    stand.provider.behave(
      ({ req, res }) => void req.resume().on('end', () => send(res, status, { error: { message: 'no' } })),
    )
    t.equal(nameOf(await store(stand, new PushedUpload({ pieces: pieces(100) }))), name, String(status))
  }
  stand.provider.behave(({ req, res }) => void req.resume().on('end', () => res.end('<html>')))
  t.equal(nameOf(await store(stand, new PushedUpload({ pieces: pieces(100) }))), 'upstream_invalid')
  await stand.rest()
})

t.test('a 100 MB upload pauses while the provider does not read, and arrives once it reads', async (t) => {
  const stand = await openFilesStand(t)
  let read = (): void => {}
  stand.provider.behave(({ honest }) => (read = honest))
  const upload = new PushedUpload({ pieces: pieces(FILE_BYTES_MAX) })
  const storing = store(stand, upload)
  await until(() => stand.provider.calls.length === 1)
  await standstill(stand, upload)
  // The sockets of both sides hold some megabytes; we hold our windows.
  t.ok(upload.givenBytes < PROVIDER_UPLOAD_BYTES_MAX + 12 * MIB, `${upload.givenBytes} bytes were taken`)
  let most = 0
  const watch = setInterval(
    () => (most = Math.max(most, upload.givenBytes - stand.provider.seen.fileBytes)),
    5,
  )
  read()
  must(await storing)
  clearInterval(watch)
  t.equal(present(stand.provider.files.get('file-1')).sizeBytes, FILE_BYTES_MAX)
  t.ok(most < 16 * MIB, `${most} bytes were on their way`)
  await stand.rest()
})

t.test('a multipart boundary inside the file is treated as content', async (t) => {
  const stand = await openFilesStand(t)
  const content = Buffer.from(`--sluice-${randomBytes(24).toString('hex')}--\r\n--sluice\r\n`.repeat(100))
  must(await store(stand, new PushedUpload({ pieces: [content] })))
  t.ok(present(stand.provider.files.get('file-1')).content.equals(content))
})

t.test('a provider that does not read or does not answer counts as slow', async (t) => {
  const stand = await openFilesStand(t, { times: { stallMs: 300, answerMs: 300 } })
  stand.provider.behave(() => undefined)
  const upload = new PushedUpload({ pieces: pieces(FILE_BYTES_MAX) })
  t.equal(nameOf(await store(stand, upload)), 'upstream_slow')
  t.ok(upload.isStopped)
  t.equal(nameOf(await store(stand, new PushedUpload({ pieces: pieces(10) }))), 'upstream_slow')
  await stand.rest()
})

t.test('a long pause of the client does not count as a slow provider', async (t) => {
  await atPace(600, async (stallMs) => {
    const stand = await openFilesStand(t, { times: { stallMs, answerMs: 30_000 } })
    const upload = new PushedUpload({ pieces: pieces(MIB), isEndless: true })
    const storing = store(stand, upload)
    await until(() => stand.provider.seen.fileBytes > 0 || upload.isStopped)
    await pause(stallMs + 200)
    upload.finish()
    // A busy machine stands still for a while with a form that is full.
    return (await storing).ok
  })
})
