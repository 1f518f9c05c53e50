/** What the lean client takes for a response, and what it refuses. RFC 9112. */
import t from 'tap'
import { LeanRig, readByLean, readByUndici, Recorded } from '../../../support/egress/http-clients.ts'
import { UPSTREAM_HINTS_MAX } from '../../../../src/server/egress/http1/response-reader.ts'
import { UPSTREAM_CHUNK_EXTENSION_BYTES_MAX } from '../../../../src/server/egress/http1/response-head.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const LAST = '0\r\n\r\n'
const HINT = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const HEAD_BYTES_MAX = 16_384

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')

/** Responses that both clients take, with their bodies. */
const TAKEN: readonly (readonly [string, string, string])[] = [
  ['a length', `${OK}content-length: 2\r\n\r\nab`, 'ab'],
  ['no bytes', `${OK}content-length: 0\r\n\r\n`, ''],
  ['white space around a length', `${OK}Content-Length: \t 2  \r\n\r\nab`, 'ab'],
  ['leading zeros of a length', `${OK}content-length: 0002\r\n\r\nab`, 'ab'],
  ['an empty reason', 'HTTP/1.1 200 \r\ncontent-length: 2\r\n\r\nab', 'ab'],
  ['no reason', 'HTTP/1.1 200\r\ncontent-length: 2\r\n\r\nab', 'ab'],
  ['an empty value', `${OK}x:\r\ncontent-length: 2\r\n\r\nab`, 'ab'],
  ['bytes above ASCII in a value', `${OK}x: \xe9\xff\r\ncontent-length: 2\r\n\r\nab`, 'ab'],
  ['one chunk', `${CHUNKED}2\r\nab\r\n${LAST}`, 'ab'],
  [
    'chunks in capitals',
    `${OK}Transfer-Encoding: Chunked\r\n\r\nA\r\n0123456789\r\n1\r\na\r\n${LAST}`,
    '0123456789a',
  ],
  ['no chunks', `${CHUNKED}${LAST}`, ''],
  ['zeros before a chunk size', `${CHUNKED}0002\r\nab\r\n0000\r\n\r\n`, 'ab'],
  ['quoted extensions of a chunk', `${CHUNKED}2;a="x;y \\" z";b=""\r\nab\r\n0;d="\t"\r\n\r\n`, 'ab'],
  ['extensions of a chunk', `${CHUNKED}2;a;b=c\r\nab\r\n0;d\r\n\r\n`, 'ab'],
  ['trailers', `${CHUNKED}2\r\nab\r\n0\r\nx-end: 1\r\ny: z\r\n\r\n`, 'ab'],
  ['the end of the connection', `${OK}\r\nab`, 'ab'],
  ['the end of the connection of HTTP/1.0', 'HTTP/1.0 200 OK\r\n\r\nab', 'ab'],
  ['HTTP/1.0 with a length', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab', 'ab'],
  ['hints before it', `${HINT}HTTP/1.1 102 Processing\r\n\r\n${OK}content-length: 2\r\n\r\nab`, 'ab'],
  ['status 204', 'HTTP/1.1 204 No Content\r\n\r\n', ''],
  ['status 204 with no bytes', 'HTTP/1.1 204 No Content\r\ncontent-length: 0\r\n\r\n', ''],
  ['status 204 and chunks', `HTTP/1.1 204 x\r\ntransfer-encoding: chunked\r\n\r\n${LAST}`, ''],
  ['status 304', 'HTTP/1.1 304 Not Modified\r\n\r\n', ''],
  ['status 500 without a type', 'HTTP/1.1 500 x\r\ncontent-length: 2\r\n\r\nab', 'ab'],
  ['bytes after it, which are not part of it', `${OK}content-length: 2\r\n\r\nab${OK}`, 'ab'],
]
for (const [what, text, body] of TAKEN) {
  t.test(`reads a response with ${what}, however its bytes are split`, async (t) => {
    const undici = (await readByUndici(bytes(text))).understood
    t.match(undici, { isWhole: true, body })
    for (let cut = 0; cut < text.length; cut++) {
      const lean = readByLean([bytes(text.slice(0, cut)), bytes(text.slice(cut))]).understood
      if (JSON.stringify(lean) !== JSON.stringify(undici)) t.same(lean, undici, `cut at ${cut}`)
    }
    const single = [...bytes(text)].map((byte) => Buffer.of(byte))
    t.same(readByLean(single).understood, undici)
    t.same(readByLean(single, () => true).understood, undici, 'and paused at every piece')
    t.same(readByLean([bytes(text)], () => true).understood, undici, 'and paused within a read')
  })
}

/** Responses that a reader must refuse rather than guess at. */
const REFUSED: readonly (readonly [string, string])[] = [
  ['two equal lengths', `${OK}content-length: 2\r\ncontent-length: 2\r\n\r\nab`],
  ['two lengths', `${OK}content-length: 2\r\ncontent-length: 1\r\n\r\nab`],
  ['a list of lengths', `${OK}content-length: 2, 2\r\n\r\nab`],
  ['a signed length', `${OK}content-length: +2\r\n\r\nab`],
  ['a negative length', `${OK}content-length: -2\r\n\r\nab`],
  ['a length in hexadecimal', `${OK}content-length: 0x2\r\n\r\nab`],
  ['a length with a space within', `${OK}content-length: 1 0\r\n\r\n0123456789`],
  ['a tab after a length', `${OK}content-length: 2 \t\r\n\r\nab`],
  ['an empty length', `${OK}content-length:\r\n\r\nab`],
  ['a length of 2⁶⁴', `${OK}content-length: 18446744073709551616\r\n\r\nab`],
  ['a length and chunks', `${OK}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n${LAST}`],
  ['chunks and a length', `${OK}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nab\r\n${LAST}`],
  ['another coding', `${OK}transfer-encoding: gzip\r\n\r\nab`],
  ['two codings', `${OK}transfer-encoding: gzip, chunked\r\n\r\n2\r\nab\r\n${LAST}`],
  ['a tab after a coding', `${OK}transfer-encoding: chunked\t\r\n\r\n2\r\nab\r\n${LAST}`],
  ['chunks twice', `${OK}transfer-encoding: chunked\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n${LAST}`],
  ['chunks and then not', `${OK}transfer-encoding: chunked, identity\r\n\r\n2\r\nab\r\n${LAST}`],
  ['chunks of HTTP/1.0', `HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n${LAST}`],
  ['a folded header', `${OK}x: a\r\n b\r\ncontent-length: 2\r\n\r\nab`],
  ['a header folded by a tab', `${OK}x: a\r\n\tb\r\ncontent-length: 2\r\n\r\nab`],
  ['a header without a name', `${OK}: a\r\ncontent-length: 2\r\n\r\nab`],
  ['a header without a colon', `${OK}x\r\ncontent-length: 2\r\n\r\nab`],
  ['a space before the colon', `${OK}content-length : 2\r\n\r\nab`],
  ['a space before a name', `${OK} x: a\r\ncontent-length: 2\r\n\r\nab`],
  ['a space within a name', `${OK}x y: a\r\ncontent-length: 2\r\n\r\nab`],
  ['a bare LF after a header', `${OK}content-length: 2\n\r\nab`],
  ['bare LFs', 'HTTP/1.1 200 OK\ncontent-length: 2\n\nab'],
  ['a bare LF after its head', `${OK}content-length: 2\r\n\nab`],
  ['a bare CR in a value', `${OK}x: a\rb\r\ncontent-length: 2\r\n\r\nab`],
  ['a bare CR after its head', `${OK}content-length: 2\r\n\rab`],
  ['two CRs', `${OK}x: a\r\r\ncontent-length: 2\r\n\r\nab`],
  ['a NUL in a value', `${OK}x: a\0b\r\ncontent-length: 2\r\n\r\nab`],
  ['a control character in a value', `${OK}x: a\x01b\r\ncontent-length: 2\r\n\r\nab`],
  ['a NUL in a name', `${OK}x\0: a\r\ncontent-length: 2\r\n\r\nab`],
  ['a byte above ASCII in a name', `${OK}\xe9: a\r\ncontent-length: 2\r\n\r\nab`],
  ['a NUL in its reason', 'HTTP/1.1 200 O\0K\r\ncontent-length: 2\r\n\r\nab'],
  ['an empty line before it', `\r\n${OK}content-length: 2\r\n\r\nab`],
  ['a space before it', ` ${OK}content-length: 2\r\n\r\nab`],
  ['version 0.9', 'HTTP/0.9 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['version 1.2', 'HTTP/1.2 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['version 2.0', 'HTTP/2.0 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['version 11', 'HTTP/11 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a version in small letters', 'http/1.1 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['two spaces before the status', 'HTTP/1.1  200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a tab before the status', 'HTTP/1.1\t200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a status of two digits', 'HTTP/1.1 20 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a status of four digits', 'HTTP/1.1 2000 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a status below 100', 'HTTP/1.1 099 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['a status of letters', 'HTTP/1.1 2xx OK\r\ncontent-length: 2\r\n\r\nab'],
  ['no status', 'HTTP/1.1 \r\ncontent-length: 2\r\n\r\nab'],
  ['no size of a chunk', `${CHUNKED}\r\nab\r\n${LAST}`],
  ['a size with a prefix', `${CHUNKED}0x2\r\nab\r\n${LAST}`],
  ['a size with a sign', `${CHUNKED}+2\r\nab\r\n${LAST}`],
  ['a size with a space before it', `${CHUNKED} 2\r\nab\r\n${LAST}`],
  ['a size with a space after it', `${CHUNKED}2 \r\nab\r\n${LAST}`],
  ['a size of 2⁶⁴', `${CHUNKED}10000000000000002\r\nab\r\n${LAST}`],
  ['a size with junk', `${CHUNKED}2z\r\nab\r\n${LAST}`],
  ['a bare LF after a size', `${CHUNKED}2\nab\r\n${LAST}`],
  ['a bare CR after a size', `${CHUNKED}2\rab\r\n${LAST}`],
  ['a bare LF after a chunk', `${CHUNKED}2\r\nab\n${LAST}`],
  ['nothing after a chunk', `${CHUNKED}2\r\nab${LAST}`],
  ['a chunk that is longer than it says', `${CHUNKED}2\r\nabc\r\n${LAST}`],
  ['an extension without a name', `${CHUNKED}2;\r\nab\r\n${LAST}`],
  ['an extension with an open quote', `${CHUNKED}2;a="b\r\nab\r\n${LAST}`],
  ['an extension with a name in quotes', `${CHUNKED}2;"a"\r\nab\r\n${LAST}`],
  ['an extension that continues after its quotes', `${CHUNKED}2;a="b"c\r\nab\r\n${LAST}`],
  ['a quoted extension with a control character', `${CHUNKED}2;a="\x01"\r\nab\r\n${LAST}`],
  ['a quoted extension with a bare LF', `${CHUNKED}2;a="\\\n"\r\nab\r\n${LAST}`],
  ['an extension with a control character', `${CHUNKED}2;a\x01\r\nab\r\n${LAST}`],
  ['an extension with a bare LF', `${CHUNKED}2;a\nab\r\n${LAST}`],
  [
    'endless extensions',
    `${CHUNKED}2;${'a'.repeat(UPSTREAM_CHUNK_EXTENSION_BYTES_MAX + 1)}\r\nab\r\n${LAST}`,
  ],
  ['a length in its trailers', `${CHUNKED}2\r\nab\r\n0\r\ncontent-length: 2\r\n\r\n`],
  ['a coding in its trailers', `${CHUNKED}2\r\nab\r\n0\r\ntransfer-encoding: chunked\r\n\r\n`],
  ['a trailer without a colon', `${CHUNKED}2\r\nab\r\n0\r\nx\r\n\r\n`],
  ['a folded trailer', `${CHUNKED}2\r\nab\r\n0\r\nx: a\r\n b\r\n\r\n`],
  ['trailers without end', `${CHUNKED}2\r\nab\r\n0\r\n${'x: y\r\n'.repeat(HEAD_BYTES_MAX / 6 + 1)}\r\n`],
  ['headers without end', `${OK}${'x: y\r\n'.repeat(HEAD_BYTES_MAX / 6 + 1)}`],
  ['headers that are too long', `${OK}${'x: y\r\n'.repeat(HEAD_BYTES_MAX / 6)}content-length: 0\r\n\r\n`],
  ['a leave to go on', `HTTP/1.1 100 Continue\r\n\r\n${OK}content-length: 2\r\n\r\nab`],
  ['another protocol to switch to', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
  ['hints with a length', `HTTP/1.1 103 Hints\r\ncontent-length: 2\r\n\r\nab${OK}content-length: 0\r\n\r\n`],
  ['hints that close', `HTTP/1.1 103 Hints\r\nconnection: close\r\n\r\n${OK}content-length: 0\r\n\r\n`],
  ['hints of HTTP/1.0', `HTTP/1.0 103 Hints\r\n\r\n${OK}content-length: 0\r\n\r\n`],
  ['hints without end', HINT.repeat(UPSTREAM_HINTS_MAX + 1) + `${OK}content-length: 0\r\n\r\n`],
  ['status 204 and bytes', 'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nab'],
  ['an end before its length', `${OK}content-length: 3\r\n\r\nab`],
  ['an end within a chunk', `${CHUNKED}3\r\nab`],
  ['an end before its last chunk', `${CHUNKED}2\r\nab\r\n`],
  ['an end in its trailers', `${CHUNKED}2\r\nab\r\n0\r\n`],
  ['an end in its head', `${OK}content-length: 2\r\n`],
  ['no byte at all', ''],
]
for (const [what, text] of REFUSED) {
  t.test(`a response with ${what} is never whole, however its bytes are split`, async (t) => {
    const step = Math.max(1, Math.floor(text.length / 400))
    for (let cut = 0; cut <= text.length; cut += step) {
      const read = readByLean([bytes(text.slice(0, cut)), bytes(text.slice(cut))])
      if (read.isWhole !== false) t.fail(`whole when cut at ${cut}`)
    }
    const single = readByLean([...bytes(text)].map((byte) => Buffer.of(byte)))
    t.equal(single.isWhole, false)
  })
}

t.test('drops informational responses and chunk extensions up to their limits', async (t) => {
  const extension = 'a'.repeat(UPSTREAM_CHUNK_EXTENSION_BYTES_MAX - 2)
  const text = `${HINT.repeat(UPSTREAM_HINTS_MAX)}${CHUNKED}2;${extension}\r\nab\r\n${LAST}`
  t.match(readByLean([bytes(text)]).understood, { isWhole: true, body: 'ab' })
})

t.test('limits the bytes of a head, in one read or in many', async (t) => {
  const head = (length: number): string => {
    const rest = `${OK}content-length: 0\r\nx: \r\n\r\n`
    return rest.replace('x: ', `x: ${'y'.repeat(length - rest.length)}`)
  }
  for (const cut of [0, 1, 1_000, HEAD_BYTES_MAX - 1]) {
    const read = (length: number): boolean | null => {
      const text = head(length)
      return readByLean([bytes(text.slice(0, cut)), bytes(text.slice(cut))]).isWhole
    }
    t.same([read(HEAD_BYTES_MAX), read(HEAD_BYTES_MAX + 1)], [true, false])
  }
})

t.test('a connection serves one response after another, and keeps nothing of the previous one', async (t) => {
  const rig = new LeanRig()
  const texts = [
    `${OK}content-length: 2\r\ncontent-encoding: gzip\r\nretry-after: 3\r\nkeep-alive: timeout=7\r\n\r\nab`,
    `${CHUNKED}2\r\ncd\r\n${LAST}`,
    `${OK}content-length: 0\r\n\r\n`,
    'HTTP/1.1 304 Not Modified\r\ncontent-length: 9\r\n\r\n',
  ]
  for (const [nth, text] of texts.entries()) {
    const recorded = new Recorded()
    rig.send(recorded)
    rig.read(bytes(text))
    t.match(recorded.understood, { isWhole: true, body: ['ab', 'cd', '', ''][nth] })
    t.ok(rig.isIdle)
    t.equal(rig.connection.keepAliveMs, nth === 0 ? 7_000 : -1)
  }
})

for (const [what, text] of [
  ['says that it closes', `${OK}connection: close\r\ncontent-length: 2\r\n\r\nab`],
  ['says so among others', `${OK}connection: keep-alive, Close\r\ncontent-length: 2\r\n\r\nab`],
  ['is HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab'],
  ['has bytes after it', `${OK}content-length: 2\r\n\r\nabc`],
] as const) {
  t.test(`closes the connection after a response that ${what}`, async (t) => {
    const [rig, recorded] = [new LeanRig(), new Recorded()]
    rig.send(recorded)
    rig.read(bytes(text))
    t.match(recorded.understood, { isWhole: true, body: 'ab' })
    t.notOk(rig.isIdle)
    t.notOk(rig.connection.isOpen)
  })
}

t.test('accepts a response before the request is fully written, and closes the connection', async (t) => {
  const [rig, recorded] = [new LeanRig(true), new Recorded()]
  rig.send(recorded)
  rig.read(bytes('HTTP/1.1 413 Too Large\r\ncontent-length: 5\r\n\r\nearly'))
  t.match(recorded.understood, { isWhole: true, status: 413, body: 'early' })
  t.notOk(rig.isIdle)
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(rig.connection.isOpen)
})

t.test('keeps a keep-alive HTTP/1.0 connection, and cuts one with bytes between responses', async (t) => {
  const [rig, recorded] = [new LeanRig(), new Recorded()]
  rig.send(recorded)
  rig.read(bytes('HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\nab'))
  t.ok(rig.isIdle)
  rig.read(bytes(`${OK}content-length: 6\r\n\r\nforged`))
  t.notOk(rig.isIdle)
  t.notOk(rig.connection.isOpen)
})

t.test('a handler that throws fails its own exchange only', async (t) => {
  for (const throws of ['onConnect', 'onHead', 'onData'] as const) {
    const [rig, recorded] = [new LeanRig(), new Recorded()]
    const bug = new Error('a bug')
    recorded[throws] = () => {
      throw bug
    }
    rig.send(recorded)
    rig.read(bytes(`${OK}content-length: 2\r\n\r\nab`))
    t.equal(recorded.error, bug)
    t.notOk(rig.connection.isOpen)
  }
})

t.test('reads of a paused connection are delivered in order, and then its end', async (t) => {
  const [rig, recorded] = [new LeanRig(), new Recorded(undefined, (nth) => nth < 3)]
  rig.send(recorded)
  rig.read(bytes(`${OK}\r\nab`))
  rig.read(bytes('cd'))
  rig.read(bytes('ef'))
  rig.fin()
  t.equal(recorded.understood.body, '')
  for (const body of ['abcdef', 'abcdef']) {
    recorded.line?.resume()
    t.equal(recorded.understood.body, body)
  }
  t.equal(recorded.isWhole, true)
})
