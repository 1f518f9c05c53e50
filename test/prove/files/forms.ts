/** What is read of a form does not depend on how its bytes arrive. */
import { createHash } from 'node:crypto'
import t from 'tap'
import busboy from 'busboy'
import { openFront } from '../../support/front.ts'
import {
  beginUpload,
  answerOf,
  BOUNDARY,
  chunkOf,
  fieldPart,
  filePart,
  form,
  uploadEcho,
  type Answer,
} from '../../support/files/upload-echo.ts'
import type { Program, Proof } from '../proof.ts'

/** The end of a form; any bytes may follow. */
const LAST = `--${BOUNDARY}--`
/** Requests under way at once. */
const AT_ONCE = 16

export const program: Program = {
  text: 'A form cut at every offset, in single bytes, in random pieces, chunked or not, reads the same',
  async run(proof) {
    if (!proof.isShort) t.setTimeout(0)
    const { port } = await openFront(t, [uploadEcho('form')])
    const forms = formsOf(proof)
    for (const sample of forms) sample.expected ??= await expectedOf(sample.body)
    const cuts = forms.flatMap((sample) =>
      offsets(proof, sample.body).map((at) => ({ sample, sizes: [at, sample.body.length] })),
    )
    await judge(proof, port, { name: 'cut in two at every offset', tries: cuts })
    const bytes = forms.map((sample) => ({ sample, sizes: [1] }))
    await judge(proof, port, { name: 'in single bytes', tries: bytes })
    const rounds = proof.isShort ? 60 : 3_000
    const random = Array.from({ length: rounds }, () => {
      const sample = forms[proof.random(forms.length)]
      const sizes = Array.from(
        { length: 1 + proof.random(12) },
        () => 1 + proof.random(proof.random(3) === 0 ? 2_000 : 40),
      )
      return sample === undefined ? [] : [{ sample, sizes }]
    }).flat()
    await judge(proof, port, { name: 'in random pieces', tries: random })
    await truncated(proof, port, forms)
  },
}

interface Sample {
  readonly name: string
  readonly body: Buffer
  /** What busboy reads of the whole body, in one piece and by itself. */
  expected?: string
}

interface Try {
  readonly sample: Sample
  readonly sizes: readonly number[]
}

/** Contents that look like delimiters, parts in every order, what may stand around them, and random bytes. */
function formsOf(proof: Proof): readonly Sample[] {
  const near = Buffer.from(`one\r\n--${BOUNDARY.slice(0, 9)}\r\n-${BOUNDARY}\r\ntwo\r\n\r--\n\r\n-\r\n--`)
  const noise = Buffer.from(
    Array.from(
      { length: 3_000 },
      () => ['\r', '\n', '-', '\r\n--', BOUNDARY[0] ?? '', 'x'][proof.random(6)] ?? '',
    ).join(''),
  )
  const around = (inner: Buffer): Buffer =>
    Buffer.concat([Buffer.from('preamble\r\n'), inner, Buffer.from('epilogue')])
  const fields = [fieldPart('purpose', 'assistants'), fieldPart('last', 'ü')]
  return [
    { name: 'the file alone', body: form([filePart('content')]) },
    { name: 'an empty file', body: form([filePart('')]) },
    {
      name: 'almost delimiters',
      body: around(form([fields[0] ?? filePart(''), filePart(near), fields[1] ?? filePart('')])),
    },
    { name: 'noise of delimiter bytes', body: form([filePart(noise), ...fields]) },
    { name: 'a long name', body: form([filePart(near, `${'ordner/'.repeat(20)}Übung 你好.txt`)]) },
    {
      name: 'RFC 5987',
      body: form([
        {
          disposition: "form-data; name=file; filename=old.txt; filename*=UTF-8''%E2%82%AC%20rates.txt",
          content: near,
        },
      ]),
    },
    { name: 'a boundary that repeats', body: form([filePart('-'.repeat(500))]) },
  ]
}

/** Every offset of a small form; of a large one those near delimiters and headers, and some between. */
function offsets(proof: Proof, body: Buffer): readonly number[] {
  const all = Array.from({ length: body.length - 1 }, (_, index) => index + 1)
  if (!proof.isShort && body.length < 5_000) return all
  const near = new Set<number>()
  for (let at = body.indexOf('--'); at >= 0 && near.size < 2_000; at = body.indexOf('--', at + 1)) {
    for (let more = -3; more < BOUNDARY.length + 6; more++) near.add(at + more)
  }
  const kept = all.filter((at) => near.has(at))
  return proof.isShort ? kept.filter(() => proof.random(8) === 0) : kept
}

interface Judged {
  readonly name: string
  readonly tries: readonly Try[]
}

async function judge(proof: Proof, port: number, { name, tries }: Judged): Promise<void> {
  const wrong: string[] = []
  const both = tries.flatMap((one) => [true, false].map((isChunked) => ({ ...one, isChunked })))
  await atOnce(both, async ({ sample, sizes, isChunked }) => {
    const got = seenOf(await send(port, sample.body, { sizes, isChunked, declared: sample.body.length }))
    if (got === sample.expected) return
    const how = `${isChunked ? 'chunked' : 'with a length'}, pieces of ${sizes.join(' ')}`
    wrong.push(`${sample.name}, ${how}: ${got} instead of ${sample.expected}`)
  })
  for (const text of wrong.slice(0, 5)) proof.say(text)
  proof.check(
    `forms ${name}: the result never differs`,
    wrong.length === 0,
    `${wrong.length} of ${both.length} differ`,
  )
}

/** A form that ends early is refused alike, however it came. */
async function truncated(proof: Proof, port: number, forms: readonly Sample[]): Promise<void> {
  const wrong: string[] = []
  const small = forms.filter(({ body }) => body.length < 500)
  const tries = small.flatMap(({ name, body }) =>
    Array.from({ length: body.indexOf(LAST) + LAST.length - 1 }, (_, length) => ({
      name,
      body: body.subarray(0, length),
    })),
  )
  const kept = proof.isShort ? tries.filter(() => proof.random(10) === 0) : tries
  await atOnce(kept, async ({ name, body }) => {
    for (const isChunked of [true, false]) {
      const answer = await send(port, body, {
        sizes: [1 + proof.random(60)],
        isChunked,
        declared: body.length,
      })
      if (answer.status !== 400)
        wrong.push(
          `${name} cut to ${body.length} bytes, ${isChunked ? 'chunked' : 'with a length'}: ${seenOf(answer)}`,
        )
    }
  })
  for (const text of wrong.slice(0, 5)) proof.say(text)
  proof.check(
    'forms that end early are 400, never a file',
    wrong.length === 0,
    `${wrong.length} of ${2 * kept.length} are not`,
  )
}

interface Sending {
  readonly sizes: readonly number[]
  readonly isChunked: boolean
  readonly declared: number
}

/** Pieces of these sizes in turn, each in a packet of its own as far as the kernel allows. */
async function send(port: number, body: Buffer, { sizes, isChunked, declared }: Sending): Promise<Answer> {
  const client = beginUpload(port, isChunked ? null : declared)
  const answer = answerOf(client)
  for (let at = 0, nth = 0; at < body.length; nth++) {
    const piece = body.subarray(at, at + Math.max(1, sizes[nth % sizes.length] ?? body.length))
    client.send(isChunked ? chunkOf(piece) : piece)
    at += piece.length
    // A turn of the loop is enough for the other side to have read it, most of the time.
    if (nth % 4 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  if (isChunked) client.send('0\r\n\r\n')
  return answer
}

async function atOnce<T>(all: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  const left = [...all].reverse()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let one = left.pop(); one !== undefined; one = left.pop()) await run(one)
    }),
  )
}

function seenOf({ status, body, type }: Answer): string {
  return status === 200
    ? JSON.stringify([body['filename'], body['sizeBytes'], body['sha256'], body['fields']])
    : `${status} ${type ?? ''}`
}

/** busboy on the whole body. */
function expectedOf(body: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256')
    const fields: Record<string, string> = {}
    let filename = ''
    let sizeBytes = 0
    const parser = busboy({
      headers: { 'content-type': `multipart/form-data; boundary="${BOUNDARY}"` },
      preservePath: true,
      defParamCharset: 'utf8',
    })
    parser.on('field', (name, value) => (fields[name] = value))
    parser.on('file', (_name, stream, info) => {
      filename = info.filename ?? ''
      stream.on('data', (bytes: Buffer) => {
        hash.update(bytes)
        sizeBytes += bytes.length
      })
    })
    parser.on('close', () => resolve(JSON.stringify([filename, sizeBytes, hash.digest('hex'), fields])))
    parser.on('error', reject)
    parser.end(body)
  })
}
