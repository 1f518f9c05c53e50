import busboy from 'busboy'
import fc from 'fast-check'
import t from 'tap'
import type { Failure } from '../../../../src/schemas/failures.ts'
import { FileScan } from '../../../../src/server/http/body/file-scan.ts'
import { FormUpload } from '../../../../src/server/http/body/multipart.ts'
import { UploadBody } from '../../../../src/server/http/body/upload.ts'
import { fieldPart, filePart, form } from '../../../support/files/upload-echo.ts'

const BOUNDARY = 'bound'
const DELIMITER = `\r\n--${BOUNDARY}`

interface Read {
  readonly content: string
  readonly fields: string
}

/** What our reader makes of a form that comes in these pieces. */
async function ours(body: Buffer, sizes: readonly number[]): Promise<Read | Failure> {
  const socket = { pauseBody: () => undefined, resumeBody: () => undefined, restartDeadline: () => undefined }
  const incoming = new UploadBody({
    declared: null,
    bytesMax: 1e9,
    timers: { start: () => ({ stop: () => undefined, putOff: () => undefined }) },
    socket,
  })
  const pieces: Buffer[] = []
  const read = new Promise<Read | Failure>((resolve) => {
    new FormUpload(incoming, { declared: null, boundary: BOUNDARY }).receive({
      begin: () => undefined,
      take: (bytes) => pieces.push(Buffer.from(bytes)) > 0,
      end: (fields) =>
        resolve({ content: Buffer.concat(pieces).toString('latin1'), fields: JSON.stringify([...fields]) }),
      fail: resolve,
    })
  })
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    const chunk = Uint8Array.from(body.subarray(at, at + size))
    at += size
    incoming.chunk(chunk.buffer, at >= body.length)
    // As the library does: what was lent is gone.
    structuredClone(chunk.buffer, { transfer: [chunk.buffer] })
    if (turn % 3 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  return read
}

/** What busboy alone makes of it in one piece; null for a form that it refuses. */
function oracle(body: Buffer): Promise<Read | null> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    const fields: [string, string][] = []
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      preservePath: true,
    })
    parser.on('file', (_name, stream) =>
      stream.on('data', (bytes: Buffer) => pieces.push(bytes)).on('error', () => undefined),
    )
    parser.on('field', (name, value) => fields.push([name, value]))
    parser.on('error', () => resolve(null))
    parser.on('finish', () =>
      resolve({ content: Buffer.concat(pieces).toString('latin1'), fields: JSON.stringify(fields) }),
    )
    parser.end(body)
  })
}

const begins = [
  '\r',
  '\n',
  '\r\n',
  '-',
  '--',
  '\r\n--',
  '\r\n--b',
  DELIMITER.slice(0, -1),
  `\r${DELIMITER.slice(0, -1)}`,
  '\0',
]
/**
 * A whole delimiter within the intended file ends it there: the rest is the epilogue, or an invalid header.
 */
const ends = [`${DELIMITER}--`, DELIMITER]
const piece = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...begins) },
  { weight: 20, arbitrary: fc.string({ minLength: 1, maxLength: 40 }) },
  { weight: 1, arbitrary: fc.constantFrom(...ends) },
)
/** Small ones leave the work to busboy, large ones to the scan, and a mixture crosses between them. */
const size = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: DELIMITER.length - 1, max: 80 }))

/** Our reader gives the reason, which busboy does not. */
function refusedAs(failure: Failure): Failure | null {
  return failure.name === 'form_malformed' ? null : failure
}

t.test('a file reads the same as with busboy alone, however it is split', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 40 }),
      fc.array(size, { minLength: 1, maxLength: 8 }),
      fc.boolean(),
      async (pieces, sizes, isFirst) => {
        const file = filePart(Buffer.from(pieces.join('')))
        const body = form(
          isFirst ? [file, fieldPart('last', 'x')] : [fieldPart('first', 'x'), file],
          BOUNDARY,
        )
        const read = await ours(body, sizes)
        t.same('name' in read ? refusedAs(read) : read, await oracle(body))
      },
    ),
    { numRuns: 400 },
  )
})

t.test(
  'a delimiter ends the file wherever the pieces are split, and no later bytes belong to the file',
  async (t) => {
    const content = `${'x'.repeat(60)}${DELIMITER.slice(0, -1)}${'y'.repeat(30)}`
    const body = form([filePart(content), fieldPart('last', 'z'.repeat(50))], BOUNDARY)
    for (let cut = 1; cut < body.length; cut++) {
      for (const more of [9, 20, 33]) {
        t.same(
          await ours(body, [cut, more, more, 300]),
          { content, fields: '[["last","' + 'z'.repeat(50) + '"]]' },
          `${cut} and ${more}`,
        )
      }
    }
  },
)

t.test('a file may contain any number of prefixes of the delimiter', async (t) => {
  for (const [gap, count] of [
    [100, 40],
    [0, 40],
    [1_000, 3],
  ] as const) {
    const content = `${DELIMITER.slice(0, 7)}${'x'.repeat(gap)}`.repeat(count)
    const body = form([filePart(content), fieldPart('last', 'z')], BOUNDARY)
    for (const size of [4_000, 300, 64])
      t.same(await ours(body, [300, size]), { content, fields: '[["last","z"]]' }, `${gap} and ${size}`)
  }
})

t.test('a file that is truncated while it is scanned is malformed', async (t) => {
  const body = form([filePart('x'.repeat(200))], BOUNDARY)
  const scanned = body.subarray(0, 250)
  for (let length = 200; length < scanned.length; length++) {
    t.match(await ours(body.subarray(0, length), [100, 30]), { name: 'form_malformed' }, String(length))
  }
})

t.test('the scan begins only inside the file', async (t) => {
  const scan = new FileScan(BOUNDARY)
  const plain = Buffer.from('x'.repeat(40))
  t.ok(scan.mayBegin(plain, 40))
  t.notOk(scan.mayBegin(plain, 0), 'busboy took it for something else')
  t.notOk(scan.mayBegin(Buffer.from(`${'x'.repeat(40)}\r\n-`), 40), 'busboy holds something back')
  t.notOk(scan.mayBegin(Buffer.from(`${'x'.repeat(40)}${DELIMITER}\r\n`), 40), 'the file ended')
})
