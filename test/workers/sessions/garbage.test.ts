/** What sessions leave for a collection: an idle thread makes none. */
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import {
  COALESCED_BYTES_MAX,
  STORAGE_PIECE_BYTES,
  UPLOAD_BYTES_MAX,
  UPLOAD_WINDOW_BYTES_MAX,
} from '../../../src/schemas/files/file-limits.ts'
import { SALT_BYTES, SEGMENT_BYTES } from '../../../src/workers/seal/format.ts'
import { IntakeWork } from '../../../src/workers/sessions/intake-work.ts'
import type { FromThread, LastMessage, SessionOutput } from '../../../src/workers/sessions/protocol.ts'
import { UnsealWork } from '../../../src/workers/sessions/unseal-work.ts'
import { must } from '../../support/must.ts'
import { DATA_KEY_ID, dataKey, openSessions } from '../../support/files/sessions.ts'
import { openFolder } from '../../support/files/storage.ts'

const PIECES = 32
/** Bytes of a scanner's state for any file, as `createContentScanner` promises. */
const SCAN_BYTES_MAX = 500_000
const OBJECT_ID = 'file_garbage'

/** Keeps what a session says, in place of its main side. */
class RecordedOutput implements SessionOutput {
  readonly all: FromThread[] = []

  post(message: FromThread): void {
    this.all.push(message)
  }

  end(message: LastMessage): void {
    this.all.push(message)
  }

  /** Buffer of the last piece that came or was spent. */
  get buffer(): ArrayBuffer {
    const message = this.all.findLast((one) => one.kind === 'spent' || one.kind === 'piece')
    return must(
      message === undefined
        ? { ok: false, failure: { name: 'internal' } }
        : { ok: true, value: message.bytes },
    )
  }
}

/**
 * Seals PIECES pieces through one buffer. @returns bytes of buffers that were made and not freed: the most at
 * once, and those at the end
 */
async function sealed(t: Test, path: string): Promise<{ readonly most: number; readonly left: number }> {
  const { port1: port } = new MessageChannel()
  t.teardown(() => port.close())
  const output = new RecordedOutput()
  const seal = {
    dataKey: dataKey().key,
    dataKeyId: DATA_KEY_ID,
    objectId: OBJECT_ID,
    salt: new Uint8Array(SALT_BYTES),
  }
  const work = new IntakeWork({ kind: 'intake', port, path, content: 'any', seal }, output)
  let bytes = new ArrayBuffer(COALESCED_BYTES_MAX)
  const before = process.memoryUsage().arrayBuffers
  const grown = (): number => process.memoryUsage().arrayBuffers - before
  let most = 0
  for (let nth = 0; nth < PIECES; nth++) {
    work.receive({ kind: 'piece', bytes, length: bytes.byteLength })
    while (work.step()) most = Math.max(most, grown())
    bytes = output.buffer
  }
  const left = grown()
  work.receive({ kind: 'end' })
  work.step()
  work.release()
  return { most, left }
}

t.test('sealing a file leaves no sealed bytes for the garbage collector', async (t) => {
  const { most, left } = await sealed(t, join(await openFolder(t), 'object'))
  t.ok(left < 4 * SEGMENT_BYTES, `${left} bytes`)
  // Next to these: the window and a buffer beyond it, and the state of the scan.
  const ofThread = UPLOAD_BYTES_MAX - UPLOAD_WINDOW_BYTES_MAX - COALESCED_BYTES_MAX - SCAN_BYTES_MAX
  t.ok(most <= ofThread, `${most} bytes`)
})

t.test('opening a file leaves no plain bytes to the GC, and reuses buffers of finished pieces', async (t) => {
  const path = join(await openFolder(t), 'object')
  await sealed(t, path)
  const { port1: port } = new MessageChannel()
  const handle = await open(path)
  t.teardown(() => Promise.all([port.close(), handle.close()]))
  const output = new RecordedOutput()
  const sizeBytes = PIECES * COALESCED_BYTES_MAX
  const work = new UnsealWork(
    {
      kind: 'unseal',
      port,
      descriptor: handle.fd,
      dataKey: dataKey().key,
      dataKeyId: DATA_KEY_ID,
      objectId: OBJECT_ID,
      sizeBytes,
      objectBytes: (await readFile(path)).length,
      from: 0,
      to: sizeBytes,
    },
    output,
  )
  let spare: ArrayBuffer | null = null
  const before = process.memoryUsage().arrayBuffers
  for (let nth = 0; nth < PIECES; nth++) {
    work.receive({ kind: 'more', bytes: STORAGE_PIECE_BYTES, spare })
    while (work.step()) continue
    if (spare !== null && output.buffer !== spare) t.fail('another buffer')
    spare = output.buffer
  }
  const grown = process.memoryUsage().arrayBuffers - before
  work.release()
  t.equal(output.all.at(-1)?.kind, 'opened')
  t.ok(grown < STORAGE_PIECE_BYTES + 4 * SEGMENT_BYTES, `${grown} bytes`)
})

t.test('a session thread has a small young generation, whatever the flags of the process', async (t) => {
  setFlagsFromString('--max-semi-space-size=8')
  const { intake } = await openSessions(t, {
    entry: new URL('../../support/files/heap-thread.js', import.meta.url),
  })
  const ended = await must(intake.open({ holder: 'w', target: null, content: 'any', bytesMax: 1 })).finish()
  t.notOk(ended.ok)
  const limit = ended.ok ? 0 : Number(String(ended.failure.cause).replace('Error: ', ''))
  t.ok(limit > 0 && limit <= (512 + 4) * 1_048_576, `${limit} bytes`)
})
