/** Requests with files, written while the files are read. */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import t from 'tap'
import { fail, ok, type Outcome } from '../../../../src/schemas/failures.ts'
import { INFERENCE_BODY_BYTES_MAX } from '../../../../src/schemas/inference/inference-limits.ts'
import {
  inlineFormOf,
  sizeWithFiles,
  type InlineForm,
  type TypedFile,
} from '../../../../src/schemas/inference/inline-files.ts'
import type { MediaCounts, TextSize } from '../../../../src/schemas/inference/text-request.ts'
import type { ByteReader, Content } from '../../../../src/server/ports/byte-streams.ts'
import {
  openBody,
  type SentBody,
  jsonText,
  jsonTextBytes,
} from '../../../../src/server/upstream/inference/inline/sent-body.ts'
import type { RequestPiece } from '../../../../src/server/upstream/inference/protocol.ts'
import { must } from '../../../support/must.ts'

const CALLER = { organizationId: 'o', workspaceId: 'w', key: 'k' }
const SENDING = { caller: CALLER, signal: new AbortController().signal }

/** A file whose reader gives pieces of so many bytes, and how often it was opened and closed. */
class Source {
  opened = 0
  closed = 0
  /** Pieces that were read. */
  read = 0
  readonly #content: Buffer
  readonly #pieceBytes: number

  constructor(content: Buffer, pieceBytes: number) {
    this.#content = content
    this.#pieceBytes = pieceBytes
  }

  hole(form: InlineForm): RequestPiece {
    const { length: sizeBytes } = this.#content
    const file = {
      id: 'file_x',
      use: 'file',
      at: [],
      filename: 'x',
      mimeType: 'text/plain',
      sizeBytes,
    } as const
    return { form, file: { ...file, open: () => Promise.resolve(this.#open()) } }
  }

  #open(): Outcome<Content> {
    this.opened++
    const close = (): void => void this.closed++
    return ok({
      sizeBytes: this.#content.length,
      etag: 'e',
      read: () => Promise.resolve(this.#reader()),
      close,
    })
  }

  #reader(): Outcome<ByteReader> {
    let at = 0
    const next = (): Promise<Outcome<Uint8Array | null>> => {
      this.read++
      const piece = this.#content.subarray(at, (at += this.#pieceBytes))
      return Promise.resolve(ok(piece.length === 0 ? null : Uint8Array.from(piece)))
    }
    return ok({ next, close: () => undefined })
  }
}

function streamOf(body: SentBody): Readable {
  const content = body.take()
  if (!(content instanceof Readable)) throw new Error('the body is no stream')
  return content
}

async function sent(body: SentBody): Promise<Buffer> {
  const all = await buffer(streamOf(body))
  body.close()
  return all
}

const CONTENT = Buffer.from(
  `é"\\/\b\t\n\f\r${Array.from({ length: 32 }, (_, code) => String.fromCharCode(code)).join('')}😀`,
)

t.test('content is sent unchanged and with its length, whatever pieces it is read in', async (t) => {
  for (const content of [CONTENT, Buffer.alloc(0), Buffer.from('x')])
    for (let pieceBytes = 1; pieceBytes <= CONTENT.length; pieceBytes++) {
      const source = new Source(content, pieceBytes)
      const ends = ['{"a":"', '","b":"', '"}'].map((text) => Buffer.from(text))
      const pieces = [ends[0], source.hole('file'), ends[1], source.hole('text'), ends[2]].flatMap(
        (one) => one ?? [],
      )
      const body = must(await openBody(pieces, SENDING))
      const bytes = await sent(body)
      const read = JSON.parse(bytes.toString()) as { readonly a: string; readonly b: string }
      const isSame = read.a === content.toString('base64') && read.b === content.toString()
      if (!isSame || body.bytes !== bytes.length || source.opened !== source.closed)
        t.fail(`${content.length} bytes in pieces of ${pieceBytes}`)
    }
})

t.test('a text is written as JSON writes it', (t) => {
  const wanted = JSON.stringify(CONTENT.toString()).slice(1, -1)
  t.equal(Buffer.from(jsonText(CONTENT)).toString(), wanted)
  t.equal(jsonTextBytes(CONTENT), Buffer.byteLength(wanted))
  t.end()
})

t.test('a text whose JSON escapes make it exceed the maximum is not sent', async (t) => {
  const source = new Source(Buffer.alloc(INFERENCE_BODY_BYTES_MAX / 6 + 1), 1_048_576)
  const outcome = await openBody([source.hole('text')], SENDING)
  t.match(outcome, fail('body_too_large'))
  t.same([source.opened, source.closed], [1, 1])
})

t.test('reading stops once a text with its escapes is too long', async (t) => {
  const source = new Source(Buffer.alloc(20 * 1_048_576), 1_048_576)
  t.match(await openBody([source.hole('text')], SENDING), fail('body_too_large'))
  t.ok(source.read < 7, `${source.read} MiB of 20`)
})

t.test('a caller that disconnects stops the reading that determines the length', async (t) => {
  const leaving = new AbortController()
  const source = new Source(Buffer.alloc(20 * 65_536, 'x'), 65_536)
  const opening = openBody([source.hole('text')], { caller: CALLER, signal: leaving.signal })
  await new Promise((next) => setImmediate(next))
  leaving.abort()
  t.equal((await opening).ok, false)
  t.ok(source.read < 20, `${source.read} parts of 20`)
  t.equal(source.closed, 1)
})

t.test('all calls together write one part of a file per turn of the event loop', async (t) => {
  const parts = 8
  const partBytes = 32_768
  const callers = ['a', 'b', 'c', 'd'].map((organizationId) => ({ ...CALLER, organizationId }))
  let loops = 0
  let isOver = false
  const turn = (): void => {
    loops++
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await Promise.all(
    callers.map((caller) =>
      openBody([new Source(Buffer.alloc(parts * partBytes, '"'), partBytes).hole('text')], {
        ...SENDING,
        caller,
      }),
    ),
  )
  isOver = true
  t.ok(loops >= callers.length * parts - 1, `${loops} turns`)
})

t.test('closing a body early closes its file, and does not count as a failure', async (t) => {
  const source = new Source(Buffer.alloc(1_048_576), 65_536)
  const body = must(await openBody([source.hole('file')], SENDING))
  const reading = streamOf(body)[Symbol.asyncIterator]()
  await reading.next()
  body.close()
  await reading.next().catch(() => undefined)
  t.same([source.opened, source.closed, body.failure], [1, 1, null])
})

const MEDIA: MediaCounts = { image: 0, audio: 0, video: 0, file: 0 }
const SIZE: TextSize = {
  text: { bytes: 100, mediaTokens: 15_000 },
  ...{ promptBytesMost: 100, messages: 1, tools: 0, hasFormat: false, serverTools: null },
  ...{ media: MEDIA, tokensMax: null },
}
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'

t.test('a file counts as a medium of its type', (t) => {
  const page = { bytes: 100, mediaTokens: 1_500 }
  const asText = { bytes: 1_100, mediaTokens: 0 }
  const picture = { bytes: 100, mediaTokens: 1_100 }
  type Case = readonly [TypedFile['use'], string, Partial<MediaCounts>, number, TextSize['text']]
  const cases: readonly Case[] = [
    ['file', 'application/pdf', { file: 1 }, 100, page],
    ['file', 'image/png', { image: 1 }, 100, picture],
    ['file', 'audio/wav', { audio: 1 }, 100, { bytes: 100, mediaTokens: 2 }],
    ['file', 'text/csv', { file: 1 }, 100 + 1_336, asText],
    ['file', DOCX, { file: 1 }, 100 + 1_336, page],
    ['input_file', 'application/pdf', { file: 1 }, 100, page],
    ['input_image', 'image/gif', { image: 1 }, 100, SIZE.text],
    ['image', 'image/webp', { image: 1 }, 100, SIZE.text],
    ['document', 'application/pdf', { file: 1 }, 100, page],
    ['document', 'text/plain', {}, 100 + 1_000, asText],
  ]
  for (const [use, mimeType, counted, promptBytesMost, text] of cases) {
    const before = use === 'image' || use === 'input_image' ? { image: 1 } : { file: 1 }
    const size = sizeWithFiles({ ...SIZE, media: { ...MEDIA, ...before } }, [
      { use, mimeType, sizeBytes: 1_000 },
    ])
    t.same(size, { ...SIZE, promptBytesMost, text, media: { ...MEDIA, ...counted } }, `${use} ${mimeType}`)
  }
  for (const use of ['input_file', 'document', 'image', 'input_image'] as const)
    t.equal(inlineFormOf(use, 'audio/mpeg'), null)
  t.equal(inlineFormOf('document', DOCX), null)
  t.end()
})
