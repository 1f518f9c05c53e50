/** A stored object that is not what was sealed gives no byte that was not verified. */
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { startFileStand, type FileStand } from '../../support/files/file-stand.ts'
import { until } from '../../support/nodes/node.ts'
import { wholeFile } from '../../support/files/wave-file.ts'
import type { Program, Proof } from '../proof.ts'

const HEADER_BYTES = 128
const SEGMENT_BYTES = 65_536
const SEALED_BYTES = SEGMENT_BYTES + 16
const SEGMENTS = 5
/** The last segment is not full. */
const SIZE_BYTES = (SEGMENTS - 1) * SEGMENT_BYTES + 1_000

export const program: Program = {
  text: 'Flipped, dropped, repeated, swapped and cut objects on disk are refused, unverified bytes never sent',
  async run(proof) {
    const node = await startFileStand(proof)
    const target = await stored(node, 'a.wav')
    const other = await stored(node, 'b.wav')
    const untouched = await download(node, target.id)
    const isWhole = untouched.end === 'whole' && untouched.body.equals(target.plain)
    const reported = `${untouched.status}, ${untouched.body.length} bytes, ${untouched.end}`
    proof.check('the untouched file downloads whole', isWhole, reported)
    await judge(proof, node, { target, harms: flips(proof), name: 'a flipped byte' })
    await judge(proof, node, {
      target,
      harms: rearranged(),
      name: 'dropped, repeated, swapped and cut segments',
    })
    const swapped = { what: 'the bytes of another file', to: () => other.sealed, from: 0 }
    await judge(proof, node, { target, harms: [swapped], name: 'two objects that changed places' })
    const again = await download(node, target.id)
    proof.check(
      'the file put right again downloads whole',
      again.end === 'whole' && again.body.equals(target.plain),
      `${again.status}, ${again.end}`,
    )
    const open = (): Promise<number> => node.metric('sluice_unsealings')
    // A session ends after the last byte of its answer.
    const hasEnded = await until('every session has ended', async () => (await open()) === 0).then(
      () => true,
      () => false,
    )
    proof.check('every session ended', hasEnded, `${await open()} are open`)
  },
}

interface Target {
  readonly id: string
  readonly path: string
  readonly sealed: Buffer
  readonly plain: Buffer
}

interface Harm {
  readonly what: string
  to(sealed: Buffer): Buffer
  /** The first plain byte that must not be sent. */
  readonly from: number
}

async function stored(node: FileStand, name: string): Promise<Target> {
  const id = await node.promoted(SIZE_BYTES, name)
  const path = (await node.objects()).get(id)
  if (path === undefined) throw new Error('the promoted file has no object')
  return { id, path, sealed: readFileSync(path), plain: wholeFile(SIZE_BYTES) }
}

interface Judged {
  readonly target: Target
  readonly harms: readonly Harm[]
  readonly name: string
}

/** Each harm by itself, on the whole file and on a range. */
async function judge(proof: Proof, node: FileStand, { target, harms, name }: Judged): Promise<void> {
  const wrong: string[] = []
  let cuts = 0
  for (const { what, to, from } of harms) {
    writeFileSync(target.path, to(target.sealed))
    const got = await download(node, target.id)
    const problem = problemOf(got, target.plain, from)
    if (problem !== null) wrong.push(`${what}: ${problem}`)
    if (got.end === 'cut' && got.body.length > 0) cuts++
    if (proof.random(8) > 0) continue
    const range = await download(node, target.id, Math.min(from, SIZE_BYTES - 1))
    if (range.end === 'whole' && range.status === 206)
      wrong.push(`${what}: a range from ${from} on is answered`)
  }
  writeFileSync(target.path, target.sealed)
  for (const text of wrong.slice(0, 10)) proof.say(text)
  const found = `${wrong.length} wrong of ${harms.length}; ${cuts} cut after bytes were sent`
  proof.check(`${name}: refused, and nothing unverified is sent`, wrong.length === 0, found)
}

/** One byte of each kind of place, and many at random. */
function flips(proof: Proof): readonly Harm[] {
  const total = HEADER_BYTES + SIZE_BYTES + SEGMENTS * 16
  const places = new Set<number>()
  for (let at = 0; at < HEADER_BYTES; at += proof.isShort ? 9 : 1) places.add(at)
  for (let nth = 0; nth < SEGMENTS; nth++) {
    const [start, end] = [
      HEADER_BYTES + nth * SEALED_BYTES,
      Math.min(HEADER_BYTES + (nth + 1) * SEALED_BYTES, total),
    ]
    places.add(start)
    for (let at = end - 17; at < end; at += proof.isShort ? 8 : 1) places.add(at)
  }
  const count = proof.isShort ? 30 : 600
  while (places.size < count) places.add(proof.random(total))
  return [...places].map((at) => ({
    what: `byte ${at}`,
    from: at < HEADER_BYTES ? 0 : Math.floor((at - HEADER_BYTES) / SEALED_BYTES) * SEGMENT_BYTES,
    to(sealed) {
      const copy = Buffer.from(sealed)
      copy[at] = (copy[at] ?? 0) ^ (1 << proof.random(8))
      return copy
    },
  }))
}

/** The segments in another order or number. What changes the length is seen before any byte. */
function rearranged(): readonly Harm[] {
  const harm = (what: string, order: readonly number[], from: number): Harm => ({
    what,
    from,
    to: (sealed) => arranged(sealed, order),
  })
  const cut = (what: string, bytes: number): Harm => ({
    what,
    from: 0,
    to: (sealed) => sealed.subarray(0, bytes),
  })
  return [
    harm('the last segment dropped', [0, 1, 2, 3], 0),
    harm('a segment dropped', [0, 2, 3, 4], 0),
    harm('a segment repeated', [0, 1, 1, 2, 3, 4], 0),
    harm('a segment repeated in the place of the next', [0, 1, 1, 3, 4], 2 * SEGMENT_BYTES),
    harm('two segments swapped', [0, 2, 1, 3, 4], SEGMENT_BYTES),
    harm('the first two swapped', [1, 0, 2, 3, 4], 0),
    harm('the last two swapped', [0, 1, 2, 4, 3], 3 * SEGMENT_BYTES),
    cut('nothing', 0),
    cut('the header alone', HEADER_BYTES),
    cut('half a header', 64),
    cut('one byte less', HEADER_BYTES + SIZE_BYTES + SEGMENTS * 16 - 1),
    cut('an end between segments', HEADER_BYTES + 2 * SEALED_BYTES),
    { what: 'one byte more', from: 0, to: (sealed) => Buffer.concat([sealed, Buffer.alloc(1)]) },
  ]
}

function arranged(sealed: Buffer, order: readonly number[]): Buffer {
  const segment = (nth: number): Buffer =>
    sealed.subarray(HEADER_BYTES + nth * SEALED_BYTES, HEADER_BYTES + (nth + 1) * SEALED_BYTES)
  return Buffer.concat([sealed.subarray(0, HEADER_BYTES), ...order.map(segment)])
}

interface Download {
  /** 0: no answer at all. */
  readonly status: number
  readonly body: Buffer
  /**
   * `cut`: the connection ended before the announced length. uWebSockets.js closes by FIN, since it cannot
   * reset: within a message of announced length both are the same failure to an HTTP client.
   */
  readonly end: 'whole' | 'cut'
}

function problemOf({ status, body, end }: Download, plain: Buffer, from: number): string | null {
  if (status >= 400) return end === 'whole' ? null : `${status} and then ${end}`
  if (status === 200 && end === 'whole') return 'answered whole'
  if (!plain.subarray(0, body.length).equals(body)) return 'other bytes than the file has'
  if (body.length > from) return `${body.length - from} unverified bytes sent`
  return end === 'cut' ? null : `${status}, and then ${end}`
}

/** A download as it is on the wire. */
function download({ stand }: FileStand, id: string, from: number | null = null): Promise<Download> {
  return new Promise((resolve) => {
    const socket = connect(stand.port, '127.0.0.1')
    const pieces: Buffer[] = []
    const range = from === null ? '' : `range: bytes=${from}-\r\n`
    socket.write(
      `GET /api/v1/files/${id}/content HTTP/1.1\r\nhost: localhost\r\n${range}authorization: Bearer ${stand.keys.inference_key}\r\n\r\n`,
    )
    const look = (isOver: boolean): void => {
      const all = Buffer.concat(pieces)
      const at = all.indexOf('\r\n\r\n')
      const head = all.subarray(0, Math.max(0, at)).toString('latin1')
      const status = at < 0 ? 0 : Number(head.slice(9, 12))
      const body = at < 0 ? Buffer.alloc(0) : all.subarray(at + 4)
      const isWhole =
        at >= 0 && body.length >= Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? Number.NaN)
      if (!isWhole && !isOver) return
      socket.destroy()
      // A refusal is a JSON text of ours, not a file.
      resolve({ status, body, end: isWhole ? 'whole' : 'cut' })
    }
    socket.on('data', (bytes) => {
      pieces.push(bytes)
      look(false)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => look(true))
  })
}
