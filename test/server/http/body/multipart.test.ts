import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import * as limits from '../../../../src/schemas/files/file-limits.ts'
import {
  FORM_FIELD_BYTES_MAX,
  FORM_FIELDS_MAX,
  boundaryOf,
  FormUpload,
  smallestOverhead,
  type BodySource,
} from '../../../../src/server/http/body/multipart.ts'
import { AUTHORIZATION, openFront } from '../../../support/front.ts'
import {
  answerOf,
  beginUpload,
  BOUNDARY,
  chunkOf,
  collect,
  fieldPart,
  filePart,
  form,
  sendForm,
  uploadEcho,
  type Answer,
} from '../../../support/files/upload-echo.ts'

const CONTENT = Buffer.from(`one\r\n--${BOUNDARY.slice(0, 9)}\r\n-${BOUNDARY}\r\ntwo\r\n\r--\n`)
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

t.test('a form yields its file, its name and its other fields, with the parts in any order', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const parts = [fieldPart('purpose', 'assistants'), filePart(CONTENT, 'out/a.txt'), fieldPart('extra', 'ü')]
  for (const order of [parts, [...parts].reverse()]) {
    const { status, body } = await sendForm(port, form(order))
    t.equal(status, 200)
    t.same(body, {
      filename: 'out/a.txt',
      sizeBytes: CONTENT.length,
      sha256: sha256(CONTENT),
      fields: { purpose: 'assistants', extra: 'ü' },
    })
  }
})

t.test('a form split at any offset reads the same, with a length and in chunks', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const body = Buffer.concat([
    Buffer.from('preamble\r\n'),
    form([fieldPart('purpose', 'x'), filePart(CONTENT), fieldPart('last', 'y')]),
    Buffer.from('epilogue'),
  ])
  const expected = {
    filename: 'a.txt',
    sizeBytes: CONTENT.length,
    sha256: sha256(CONTENT),
    fields: { purpose: 'x', last: 'y' },
  }
  const wrong: number[] = []
  for (let cut = 1; cut < body.length; cut++) {
    const answers = await Promise.all([cutInTwo(port, body, cut, false), cutInTwo(port, body, cut, true)])
    if (
      answers.some(
        ({ status, body: echo }) => status !== 200 || JSON.stringify(echo) !== JSON.stringify(expected),
      )
    )
      wrong.push(cut)
  }
  t.same(wrong, [])
})

t.test('a form split at any offset reads the same when its pieces are not joined first', async (t) => {
  const body = form([fieldPart('purpose', 'x'), filePart(CONTENT), fieldPart('last', 'y')])
  const expected = {
    filename: 'a.txt',
    sizeBytes: CONTENT.length,
    sha256: sha256(CONTENT),
    fields: { purpose: 'x', last: 'y' },
  }
  t.same(await readPieces([...body].map((byte) => Uint8Array.of(byte))), expected)
  const wrong: number[] = []
  for (let cut = 1; cut < body.length; cut++) {
    const echo = await readPieces([body.subarray(0, cut), body.subarray(cut)])
    if (JSON.stringify(echo) !== JSON.stringify(expected)) wrong.push(cut)
  }
  t.same(wrong, [])
})

t.test('a form in random pieces, also of single bytes, reads the same', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const piece = fc.constantFrom(
    '\r',
    '\n',
    '\r\n',
    '-',
    '--',
    `\r\n--${BOUNDARY}`,
    `\r\n--${BOUNDARY.slice(0, 5)}`,
    'a',
    '\0',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(piece, { maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 12 }),
      fc.boolean(),
      async (pieces, sizes, isChunked) => {
        // What ends with a delimiter of its own would be the end of the file: a delimiter need not fill its
        // line. RFC 2046 §5.1.1
        const content = Buffer.from(
          pieces.map((text) => (text === `\r\n--${BOUNDARY}` ? `\r${text.slice(2)}` : text)).join(''),
        )
        const answer = await inPieces(
          port,
          form([filePart(content), fieldPart('purpose', 'p')]),
          sizes,
          isChunked,
        )
        return (
          answer.status === 200 &&
          answer.body['sha256'] === sha256(content) &&
          answer.body['sizeBytes'] === content.length
        )
      },
    ),
    { numRuns: 60 },
  )
})

t.test('a large file passes byte for byte', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const content = Buffer.concat([
    randomBytes(3_000_000),
    Buffer.from(`\r\n--${BOUNDARY.slice(0, -1)}`),
    randomBytes(100_000),
  ])
  const { body } = await sendForm(port, form([filePart(content)]))
  t.equal(body['sha256'], sha256(content))
})

t.test('a form that is truncated at any offset is 400 and never a file', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const body = form([fieldPart('purpose', 'x'), filePart('content')])
  const answers: string[] = []
  for (let length = 0; length < body.length - 2; length++) {
    const { status, type } = await sendForm(port, body.subarray(0, length))
    if (status !== 400 || type !== 'form_malformed') answers.push(`${length}: ${status} ${type ?? ''}`)
  }
  t.same(answers, [])
})

t.test('a second file part is refused, with the same name or another', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const other = { ...filePart('b'), disposition: 'form-data; name="other"; filename="b"' }
  for (const parts of [
    [filePart('a'), filePart('b')],
    [filePart('a'), other],
  ]) {
    t.match(await sendForm(port, form(parts)), { status: 400, type: 'form_invalid', message: /second file/ })
  }
  for (const parts of [[other], [other, filePart('a')]]) {
    const answer = await sendForm(port, form(parts))
    t.match(answer, { status: 400, type: 'form_invalid', message: /in a part that is not named `file`/ })
    t.notMatch(answer.message, /other/)
  }
})

t.test('a form without the file, and a file without a name, are refused', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const nameless = { disposition: 'form-data; name="file"', content: 'a' }
  t.match(await sendForm(port, form([fieldPart('purpose', 'x')])), {
    status: 400,
    message: /\/file is missing/,
  })
  for (const part of [nameless, { ...nameless, type: 'application/octet-stream' }, filePart('a', '')]) {
    t.match(await sendForm(port, form([part])), { status: 400, type: 'form_invalid', message: /no filename/ })
  }
})

t.test('refuses `expires_after` in an unsupported field, and names the two supported ones', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  for (const [name, value] of [
    ['expires_after', '3600'],
    ['expires_after', '{"anchor":"created_at","seconds":3600}'],
    ['expires_after.seconds', '3600'],
  ] as const)
    t.match(await sendForm(port, form([fieldPart(name, value), filePart('content')])), {
      status: 400,
      type: 'form_invalid',
      message: /\/expires_after is sent in the wrong field.* `expires_after\[seconds\]`/,
    })
})

t.test('refuses a file with a mail encoding instead of storing it encoded', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  for (const encoding of ['base64', 'quoted-printable']) {
    t.match(await sendForm(port, form([{ ...filePart('aGVsbG8='), encoding }])), {
      status: 400,
      type: 'form_invalid',
      message: /encoded/,
    })
  }
  t.equal((await sendForm(port, form([{ ...filePart('a'), encoding: 'Binary' }]))).status, 200)
})

t.test('accepts the maximum number and size of form fields, and refuses one more of either', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const fields = Array.from({ length: FORM_FIELDS_MAX }, (_, index) =>
    fieldPart(`f${index}`, 'x'.repeat(FORM_FIELD_BYTES_MAX)),
  )
  t.equal((await sendForm(port, form([...fields, filePart('a')]))).status, 200)
  t.match(await sendForm(port, form([...fields, fieldPart('more', ''), filePart('a')])), {
    status: 400,
    message: /too many fields/,
  })
  const large = fieldPart('large', 'x'.repeat(FORM_FIELD_BYTES_MAX + 1))
  t.match(await sendForm(port, form([filePart('a'), large])), { status: 400, message: /too large/ })
})

t.test('limits the bytes around the file', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const body = Buffer.concat([
    Buffer.alloc(limits.FORM_EXTRA_BYTES_MAX + 1, 'p'),
    Buffer.from('\r\n'),
    form([filePart('a')]),
  ])
  t.match(await sendForm(port, body), { status: 400, type: 'form_invalid', message: /not counting its file/ })
})

t.test('filenames are UTF-8, plain or by RFC 5987, and may contain folders', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const name = async (disposition: string): Promise<unknown> =>
    (await sendForm(port, form([{ disposition: `form-data; name=file; ${disposition}`, content: 'a' }])))
      .body['filename']
  t.equal(await name('filename="Übung 你好.txt"'), 'Übung 你好.txt')
  t.equal(await name("filename=old.txt; filename*=UTF-8''%E2%82%AC%20rates.txt"), '€ rates.txt')
  t.equal(await name('filename="a/b c/d.txt"'), 'a/b c/d.txt')
  const longest = '😀'.repeat(limits.FILENAME_CHARS_MAX)
  t.equal(await name(`filename="${longest}"`), longest)
})

t.test('filenames with refused characters, invalid segments or excessive length are 400', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const names = [
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    './a',
    'a<b',
    'a>b',
    'a:b',
    'a|b',
    'a?b',
    'a*b',
    'a\\\\b',
    'a\tb',
    'x'.repeat(limits.FILENAME_CHARS_MAX + 1),
  ]
  for (const name of names)
    t.match(
      await sendForm(port, form([filePart('a', name)])),
      { status: 400, type: 'filename_invalid' },
      name,
    )
  const latin1 = Buffer.from(form([filePart('a', 'M\xfcll')]).toString(), 'latin1')
  t.match(await sendForm(port, latin1), { status: 400, type: 'filename_invalid' })
})

t.test(
  'a quote or a line end in a filename is refused, escaped as in fetch, escaped as in curl, or raw',
  async (t) => {
    const { port } = await openFront(t, [uploadEcho('form')])
    for (const character of ['"', '\r', '\n']) {
      const sent = new FormData()
      sent.append('file', new Blob(['a']), `a${character}b`)
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/upload`, {
        method: 'POST',
        body: sent,
        headers: { authorization: AUTHORIZATION },
      })
      t.match(
        [answer.status, await answer.json()],
        [400, { error: { metadata: { error_type: 'filename_invalid' } } }],
      )
    }
    t.match(await sendForm(port, form([filePart('a', 'a\\"b')])), { status: 400, type: 'filename_invalid' })
    t.match((await sendForm(port, form([filePart('a', '100%25 %41')]))).body, { filename: '100%25 %41' })
  },
)

t.test('a control character in a name is refused as such, wherever the form is split', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  for (const character of ['\0', '\x01', '\x7f', 'À\0']) {
    const body = form([fieldPart('purpose', 'x'), filePart('content', `a${character}b`)])
    t.match(await sendForm(port, body), {
      status: 400,
      type: 'filename_invalid',
      message: /contains a forbidden character/,
    })
  }
  const body = form([fieldPart('purpose', 'x'), filePart('content', 'a\0b')])
  const wrong: number[] = []
  for (let cut = 1; cut < body.length; cut++) {
    if ((await cutInTwo(port, body, cut, true)).type !== 'filename_invalid') wrong.push(cut)
  }
  t.same(wrong, [])
})

t.test('the refusal of a malformed form names the error', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const good = form([filePart('content')])
  const bare = good.toString().replaceAll('\r\n', '\n')
  const cases: readonly (readonly [Buffer | string, RegExp])[] = [
    [good.subarray(0, -10), /ends before its last boundary/],
    [form([filePart('content')], 'another'), /does not contain the boundary named in its content type/],
    ['', /does not contain the boundary/],
    [bare, /do not end with CR LF/],
    [good.toString().replace('a.txt"\r\n', 'a.txt"\n'), /do not end with CR LF/],
    [good.toString().replace('Content-Type', 'Content Type'), /has an invalid header/],
  ]
  for (const [body, message] of cases) {
    t.match(
      await sendForm(port, Buffer.from(body)),
      { status: 400, type: 'form_malformed', message },
      String(message),
    )
  }
})

t.test('a file above the limit is 413 at once because of its announced length', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const client = beginUpload(port, limits.FILE_BYTES_MAX + limits.FORM_EXTRA_BYTES_MAX + 1)
  t.match(await answerOf(client), { status: 413, type: 'file_too_large' })
})

t.test('another content type, or one without a usable boundary, is 400', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  for (const type of [
    'application/json',
    'multipart/mixed; boundary=a',
    'multipart/form-data',
    `multipart/form-data; boundary=${'b'.repeat(71)}`,
  ]) {
    t.match(await sendForm(port, form([filePart('a')]), { headers: { 'content-type': type } }), {
      status: 400,
      type: 'header_invalid',
    })
  }
  t.equal(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary=a.b'), 'a.b')
  t.equal(boundaryOf('multipart/form-data; boundary="a b:c"'), 'a b:c')
})

t.test('no form has less overhead around its file than the amount subtracted from its length', async (t) => {
  const { port } = await openFront(t, [uploadEcho('form')])
  const smallest = `--b\r\ncontent-disposition:form-data;name=file;filename=a\r\n\r\nX\r\n--b--`
  t.equal(smallest.length, smallestOverhead('b') + 1)
  const answer = await sendForm(port, Buffer.from(smallest), {
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  })
  t.match(answer, { status: 200, body: { sizeBytes: 1 } })
})

/** Without HTTP: the pieces go to the form's reader as they are. */
function readPieces(pieces: readonly Uint8Array[]): Promise<unknown> {
  const body: BodySource = {
    flow(sink) {
      for (const piece of pieces) sink.take(piece)
      sink.end()
    },
    goOn() {},
    quit() {},
  }
  return collect(new FormUpload(body, { declared: null, boundary: BOUNDARY }))
}

async function cutInTwo(port: number, body: Buffer, cut: number, isChunked: boolean): Promise<Answer> {
  return inPieces(port, body, [cut, body.length], isChunked)
}

/** Sends pieces of these sizes in turn, each in a packet of its own as far as the kernel allows. */
async function inPieces(
  port: number,
  body: Buffer,
  sizes: readonly number[],
  isChunked: boolean,
): Promise<Answer> {
  const client = beginUpload(port, isChunked ? null : body.length)
  for (let at = 0, turn = 0; at < body.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    const piece = body.subarray(at, at + size)
    client.send(isChunked ? chunkOf(piece) : piece)
    at += size
    await new Promise((resolve) => setImmediate(resolve))
  }
  if (isChunked) client.send('0\r\n\r\n')
  return answerOf(client)
}
