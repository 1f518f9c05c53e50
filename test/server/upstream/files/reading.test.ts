/** Files that are read, listed, downloaded and deleted at a provider. B2.7, C23. */
import t from 'tap'
import { textOf, type Outcome } from '../../../../src/schemas/failures.ts'
import {
  UPSTREAM_STREAMS_MAX,
  UPSTREAM_STREAM_BYTES_MAX,
} from '../../../../src/schemas/models/provider-limits.ts'
import type { ByteReader } from '../../../../src/server/ports/byte-streams.ts'
import type { FileHost, HostedPageInput } from '../../../../src/server/ports/files/file-hosts.ts'
import { must } from '../../../support/must.ts'
import {
  CALLER,
  hostAt,
  openFilesStand,
  send,
  until,
  type FilesBehaviour,
  type FilesStand,
  type KeptFile,
  type StandOptions,
} from '../../../support/files/provider-files.ts'
import { text } from '../../../support/files/sessions.ts'
import { PROVIDER_FILES_ANSWER_BYTES_MAX } from '../../../../src/server/upstream/files/files-link.ts'
import { PROVIDER_FILE_ID_CHARS_MAX } from '../../../../src/server/upstream/files/provider-files.ts'

const CONTENT = text(300_000)
const SIGNAL = new AbortController().signal
const WISH: HostedPageInput = {
  after: null,
  before: null,
  placeName: 'after',
  ids: null,
  order: null,
  purpose: null,
  limit: 2,
  signal: SIGNAL,
}

function keep({ provider }: FilesStand, id: string, content = CONTENT): void {
  const file: KeptFile = {
    id,
    filename: 'a.txt',
    type: 'text/plain',
    fields: { purpose: 'batch' },
    sizeBytes: content.length,
    sha256: '',
    content,
  }
  provider.files.set(id, file)
}

type Opened = Promise<{ readonly stand: FilesStand; readonly host: FileHost }>

async function open(
  t: Parameters<typeof openFilesStand>[0],
  to: 'openai' | 'anthropic' = 'openai',
  options: StandOptions = {},
): Opened {
  const stand = await openFilesStand(t, options)
  for (const id of ['file-a', 'file-b', 'file-c']) keep(stand, id)
  return { stand, host: await hostAt(stand, to) }
}

/** An honest provider but for the content of its files. */
function contentBy(answer: FilesBehaviour): FilesBehaviour {
  return (exchange) =>
    exchange.req.url?.includes('/content') === true ? answer(exchange) : exchange.honest()
}

function nameOf(outcome: Outcome<unknown>): string {
  return outcome.ok ? 'ok' : outcome.failure.name
}

async function drain(reader: ByteReader): Promise<Outcome<Buffer>> {
  const pieces: Uint8Array[] = []
  for (;;) {
    const piece = await reader.next()
    if (!piece.ok) return piece
    if (piece.value === null) return { ok: true, value: Buffer.concat(pieces) }
    pieces.push(Buffer.from(piece.value))
  }
}

async function download(host: FileHost, from = 0, to = CONTENT.length): Promise<Outcome<Buffer>> {
  const opened = must(await host.open('file-a', SIGNAL))
  const reader = await opened.content.read(from, to)
  if (!reader.ok) return reader
  const read = await drain(reader.value)
  reader.value.close()
  opened.content.close()
  return read
}

t.test('a workspace without a key gets both ways to set it', async (t) => {
  const { providerFiles } = await openFilesStand(t, { key: null })
  const answer = await providerFiles.of(CALLER, 'anthropic')
  t.match(answer, { failure: { name: 'provider_key_missing', fields: { provider: 'Anthropic' } } })
  const text = answer.ok ? '' : textOf(answer.failure)
  t.match(
    text,
    'as `anthropic_api_key`, bound to the host localhost (`PUT /api/v1/vault/secrets/anthropic_api_key`)',
  )
  t.match(text, /`sluice workspaces set <workspace> --provider-key anthropic=-`\.$/)
})

t.test('a key that the provider refuses is a failure of the credential, and is not shown', async (t) => {
  const stand = await openFilesStand(t, { key: 'sk-revoked-0123456789' })
  const outcome = await (await hostAt(stand, 'openai')).get('file-a', SIGNAL)
  t.equal(nameOf(outcome), 'upstream_credential')
  t.notMatch(JSON.stringify(outcome), 'sk-revoked')
})

t.test('pages continue after the last id, in both protocols', async (t) => {
  for (const to of ['openai', 'anthropic'] as const) {
    const { stand, host } = await open(t, to)
    const first = must(await host.list(WISH))
    const second = must(await host.list({ ...WISH, after: 'file-b' }))
    t.same([first.files.map(({ id }) => id), first.hasMore], [['file-a', 'file-b'], true])
    t.same([second.files.map(({ id }) => id), second.hasMore], [['file-c'], false])
    t.match(first.files[0], { filename: 'a.txt', sizeBytes: CONTENT.length, isDownloadable: to === 'openai' })
    t.equal(stand.provider.calls[1], `GET /v1/files?limit=2&${to === 'openai' ? 'after' : 'after_id'}=file-b`)
  }
})

t.test('sends `order` to OpenAI and `before_id` to Anthropic, and refuses the reverse', async (t) => {
  const { stand, host } = await open(t)
  const other = await hostAt(stand, 'anthropic')
  must(await host.list({ ...WISH, order: 'desc' }))
  must(await other.list({ ...WISH, before: 'file-c' }))
  t.same(stand.provider.calls, ['GET /v1/files?limit=2&order=desc', 'GET /v1/files?limit=2&before_id=file-c'])
  t.equal(nameOf(await host.list({ ...WISH, before: 'file-c' })), 'query_invalid')
  t.equal(nameOf(await other.list({ ...WISH, order: 'desc' })), 'query_invalid')
})

t.test('a file id is encoded as one path segment, and an invalid id is unknown', async (t) => {
  const { stand, host } = await open(t)
  for (const id of ['../models', 'a?b#c', 'ü 1']) t.equal(nameOf(await host.get(id, SIGNAL)), 'file_unknown')
  t.same(stand.provider.calls, [
    'GET /v1/files/..%2Fmodels',
    'GET /v1/files/a%3Fb%23c',
    'GET /v1/files/%C3%BC%201',
  ])
  for (const id of ['.', '..', '', 'x'.repeat(PROVIDER_FILE_ID_CHARS_MAX + 1), '\ud800']) {
    t.equal(nameOf(await host.get(id, SIGNAL)), 'file_unknown')
    t.equal(nameOf(await host.remove(id, SIGNAL)), 'file_unknown')
    t.equal(nameOf(await host.open(id, SIGNAL)), 'file_unknown')
  }
  t.equal(stand.provider.calls.length, 3)
})

t.test('a deleted file is unknown', async (t) => {
  const { host } = await open(t)
  must(await host.remove('file-a', SIGNAL))
  t.equal(nameOf(await host.remove('file-a', SIGNAL)), 'file_unknown')
  t.equal(nameOf(await host.get('file-a', SIGNAL)), 'file_unknown')
})

t.test('a download has the length and bytes of the file, and a stable ETag', async (t) => {
  const { stand, host } = await open(t)
  const [first, second, other] = [
    must(await host.open('file-a', SIGNAL)),
    must(await host.open('file-a', SIGNAL)),
    must(await host.open('file-b', SIGNAL)),
  ]
  t.equal(first.content.sizeBytes, CONTENT.length)
  t.match(first.content.etag, /^[0-9a-f]{32}$/)
  t.equal(first.content.etag, second.content.etag)
  t.not(first.content.etag, other.content.etag)
  t.ok(must(await download(host)).equals(CONTENT))
  await stand.rest()
})

t.test('requests a range as a range, and cuts it out when the provider sends the whole file', async (t) => {
  const { stand, host } = await open(t)
  const part = CONTENT.subarray(100_001, 200_003)
  t.ok(must(await download(host, 100_001, 200_003)).equals(part))
  t.equal(stand.provider.heads.at(-1)?.range, 'bytes=100001-200002')
  stand.provider.behave(contentBy(({ res }) => void res.end(CONTENT)))
  t.ok(must(await download(host, 100_001, 200_003)).equals(part))
  t.ok(must(await download(host, 0, 1)).equals(CONTENT.subarray(0, 1)))
  await stand.rest()
})

t.test('an answer that differs from the record of its file is refused before its first byte', async (t) => {
  const { stand, host } = await open(t)
  const answers: readonly FilesBehaviour[] = [
    ({ res }) => void res.end(CONTENT.subarray(1)),
    ({ res }) =>
      void res.writeHead(200, { 'content-encoding': 'gzip', 'content-length': CONTENT.length }).end(CONTENT),
    ({ res }) =>
      void res.writeHead(206, { 'content-range': `bytes 5-${CONTENT.length + 4}/900000` }).end(CONTENT),
  ]
  for (const answer of answers) {
    stand.provider.behave(contentBy(answer))
    t.equal(nameOf(await download(host)), 'upstream_invalid')
  }
  await stand.rest()
})

t.test('content that ends early, chunked or with a length, never counts as complete', async (t) => {
  const { stand, host } = await open(t)
  stand.provider.behave(
    contentBy(({ res }) => {
      res.write(CONTENT.subarray(0, 1_000))
      res.end()
    }),
  )
  t.equal(nameOf(await download(host)), 'upstream_invalid')
  stand.provider.behave(
    contentBy(({ res }) => {
      res.writeHead(200, { 'content-length': CONTENT.length })
      res.write(CONTENT.subarray(0, 1_000), () => res.socket?.destroy())
    }),
  )
  t.equal(nameOf(await download(host)), 'upstream_failed')
  await stand.rest()
})

t.test('a provider that refuses a download is reported with its reason', async (t) => {
  const { stand, host } = await open(t)
  stand.provider.behave(
    contentBy(({ res }) =>
      send(res, 400, { error: { message: 'Not allowed to download files of purpose: assistants' } }),
    ),
  )
  t.match(await download(host), {
    failure: {
      name: 'upstream_refused',
      detail: /The provider answered 400: Not allowed/,
      metadata: { provider_name: 'OpenAI' },
    },
  })
  stand.provider.behave(contentBy(({ res }) => send(res, 404, {})))
  t.equal(nameOf(await download(host)), 'file_unknown')
  await stand.rest()
})

t.test('answers that are not files, pages or JSON are invalid', async (t) => {
  const { stand, host } = await open(t)
  const dateless = { id: 'file-a', filename: 'a.txt', bytes: 1, created_at: 1e13 }
  for (const body of [
    null,
    [],
    {},
    { id: 1 },
    { data: {} },
    { data: [{}] },
    'text',
    { ...dateless, data: [dateless] },
  ]) {
    stand.provider.behave(({ res }) => send(res, 200, body))
    t.equal(nameOf(await host.get('file-a', SIGNAL)), 'upstream_invalid')
    t.equal(nameOf(await host.list(WISH)), 'upstream_invalid')
  }
  stand.provider.behave(({ res }) => void res.end('{'))
  t.equal(nameOf(await host.get('file-a', SIGNAL)), 'upstream_invalid')
  stand.provider.behave(({ res }) => void res.end('x'.repeat(PROVIDER_FILES_ANSWER_BYTES_MAX + 1)))
  t.equal(nameOf(await host.list(WISH)), 'upstream_too_large')
  await stand.rest()
})

t.test('a file that is not read is fetched only up to the window', async (t) => {
  const { stand, host } = await open(t)
  const whole = text(64 * 1024 * 1024)
  keep(stand, 'file-a', whole)
  let sent = 0
  stand.provider.behave(
    contentBy(({ res }) => {
      res.writeHead(200, { 'content-length': whole.length })
      const go = (): void => {
        while (sent < whole.length) {
          sent += 65_536
          if (!res.write(whole.subarray(sent - 65_536, sent))) return void res.once('drain', go)
        }
        res.end()
      }
      go()
    }),
  )
  const opened = must(await host.open('file-a', SIGNAL))
  const reader = must(await opened.content.read(0, whole.length))
  let [last, turns] = [0, 0]
  await until(() => ((turns = sent === last ? turns + 1 : 0), (last = sent), turns > 5_000))
  // The sockets of both sides hold some megabytes; we hold our window.
  t.ok(sent < UPSTREAM_STREAM_BYTES_MAX + 16 * 1024 * 1024, `${sent} bytes were sent`)
  t.ok(must(await drain(reader)).equals(whole))
  reader.close()
  await stand.rest()
})

t.test('a reader that closes early releases the connection', async (t) => {
  const { stand, host } = await open(t)
  let isCut = false
  stand.provider.behave(
    contentBy(({ res }) => {
      res.writeHead(200, { 'content-length': CONTENT.length }).write(CONTENT.subarray(0, 10))
      res.on('close', () => (isCut = true))
    }),
  )
  const reader = must(await must(await host.open('file-a', SIGNAL)).content.read(0, CONTENT.length))
  must(await reader.next())
  const waiting = reader.next()
  reader.close()
  t.equal(nameOf(await waiting), 'client_gone')
  await until(() => isCut)
  await stand.rest()
})

t.test('a connection that the provider closed meanwhile is replaced once', async (t) => {
  const { stand, host } = await open(t)
  t.ok(must(await download(host)).equals(CONTENT))
  let isFirst = true
  stand.provider.behave(
    contentBy(({ req, honest }) => {
      if (!isFirst) return honest()
      isFirst = false
      req.socket.destroy()
    }),
  )
  t.ok(must(await download(host)).equals(CONTENT))
  await stand.rest()
})

t.test('a call that ends before the provider answers ends the download', async (t) => {
  const { stand, host } = await open(t)
  stand.provider.behave(contentBy(() => undefined))
  const call = new AbortController()
  const reading = must(await host.open('file-a', call.signal)).content.read(0, CONTENT.length)
  await until(() => stand.provider.calls.length === 2)
  call.abort()
  t.equal(nameOf(await reading), 'client_gone')
  await stand.rest()
})

t.test('a provider that closes the connection counts as a failure of the provider', async (t) => {
  const { stand, host } = await open(t)
  stand.provider.behave(({ req }) => void req.socket.destroy())
  t.equal(nameOf(await host.get('file-a', SIGNAL)), 'upstream_failed')
  t.equal(nameOf(await host.open('file-a', SIGNAL)), 'upstream_failed')
})

t.test('a provider that does not answer, does not begin to send or stalls counts as slow', async (t) => {
  const { stand, host } = await open(t, 'openai', { times: { beginMs: 300, stallMs: 300 } })
  stand.provider.behave(contentBy(() => undefined))
  t.equal(nameOf(await download(host)), 'upstream_slow')
  stand.provider.behave(
    contentBy(({ res }) => void res.writeHead(200, { 'content-length': CONTENT.length }).write('a')),
  )
  t.equal(nameOf(await download(host)), 'upstream_slow')
  await stand.rest()
  const other = await open(t, 'openai', { times: { callMs: 300 } })
  other.stand.provider.behave(() => undefined)
  t.equal(nameOf(await other.host.get('file-a', SIGNAL)), 'upstream_slow')
  await other.stand.rest()
})

t.test('concurrent downloads from one provider are limited, and do not hold up other calls', async (t) => {
  const { stand, host } = await open(t)
  stand.provider.behave(contentBy(() => undefined))
  const { content } = must(await host.open('file-a', SIGNAL))
  const call = new AbortController()
  const link = stand.egress.trusted(new URL(stand.provider.baseUrl).origin)
  const request = {
    path: '/v1/files/file-a/content',
    headers: [],
    beginsBy: performance.now() + 60_000,
    stallMs: 1,
    signal: call.signal,
  }
  const others = Array.from({ length: UPSTREAM_STREAMS_MAX }, () => link.open(request))
  t.equal(nameOf(await content.read(0, 1)), 'busy')
  must(await host.get('file-a', SIGNAL))
  call.abort()
  t.ok((await Promise.all(others)).every((other) => nameOf(other) === 'client_gone'))
  await stand.rest()
})

t.test('sends `purpose` to OpenAI, and refuses the list for Anthropic, which has no purposes', async (t) => {
  const { stand, host } = await open(t)
  must(await host.list({ ...WISH, purpose: 'batch' }))
  t.same(stand.provider.calls, ['GET /v1/files?limit=2&purpose=batch'])
  t.equal(
    nameOf(await (await open(t, 'anthropic')).host.list({ ...WISH, purpose: 'batch' })),
    'query_invalid',
  )
})
