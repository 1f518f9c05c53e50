/** What transfers cost in private memory of all processes of a node, and what they leave. */
import { connect } from 'node:net'
import { startFileStand, type FileStand } from '../../support/files/file-stand.ts'
import {
  privateBytes,
  watchMemory,
  type MemoryByRole,
  type MemoryWatch,
} from '../../support/load/process-memory.ts'
import { startS3Process } from '../../support/files/s3-process.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { UploadAnswer } from '../../support/files/upload-client.ts'
import type { Program, Proof } from '../proof.ts'
import { aftermath } from './uploads/aftermath.ts'

const MIB = 1_048_576
const FILE_BYTES = 100 * MIB
/** Uploads at once, and bytes by which the node may grow meanwhile. */
const ROUNDS = [
  [8, 40 * MIB],
  [32, 100 * MIB],
  [100, 200 * MIB],
] as const
/** One of so many uploads is aborted. */
const ABORTED = 8
const AFTER_MS = 60_000
const AFTER_GROWTH_MAX = 20 * MIB
const SINK_UPLOADS = 8
const SINK_BYTES_PER_S = 5_000_000
const SINK_GROWTH_MAX = 64 * MIB
const READERS = 200
const READER_BYTES_PER_S = 10_000
const READERS_GROWTH_MAX = 120 * MIB
/** Milliseconds until the processes have collected the garbage of their start. */
const SETTLE_MS = 40_000
const AUTO = { SLUICE_FRONTS: 'auto', SLUICE_WORKERS: 'auto' }

export const program: Program = {
  text: 'Private memory of all processes but the spare front: 8, 32 and 100 uploads of 100 MB with aborts, to disk and S3, a slow sink, slow readers',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'what processes hold is read from /proc'
      return
    }
    const disk = await startFileStand(proof, { settings: AUTO })
    const idle = await settled(proof, disk)
    for (const round of ROUNDS) await uploads(proof, disk, { where: 'disk', round, idle })
    await readers(proof, disk)
    await disk.stand.stop()
    const s3 = await startS3Process()
    proof.after(() => s3.stop())
    const bucket = await startFileStand(proof, { settings: { ...AUTO, ...s3.settings } })
    await uploads(proof, bucket, { where: 'S3', round: ROUNDS[2], idle: await settled(proof, bucket) })
    s3.slowTo(SINK_BYTES_PER_S)
    await slowSink(proof, bucket)
  },
}

interface Round {
  readonly where: 'disk' | 'S3'
  readonly round: (typeof ROUNDS)[number]
  /** Before the first round. */
  readonly idle: Idle
}

async function uploads(proof: Proof, node: FileStand, { where, round, idle }: Round): Promise<void> {
  const [count, max] = round
  const sizeBytes = proof.isShort ? 2 * MIB : FILE_BYTES
  const watch = watchOf(node)
  const startedAt = monotonicMs()
  const ends = await Promise.all(
    Array.from({ length: count }, () => uploadOrAbort(node, sizeBytes, abortOf(proof, sizeBytes))),
  )
  const tookS = (monotonicMs() - startedAt) / 1_000
  const answers = ends.filter((end) => end !== null)
  const stored = answers.filter(({ status }) => status === 200)
  const others = answers.filter(({ status }) => status !== 200).map(({ status, type }) => `${status} ${type}`)
  const what = `${count} uploads of ${mb(sizeBytes)} to ${where}`
  proof.check(
    `${what}: all but the aborted ones are stored`,
    stored.length === answers.length,
    `${stored.length}; ${count - answers.length} aborted${others.length === 0 ? '' : `; ${[...new Set(others)].join(', ')}`}` +
      ` in ${tookS.toFixed(1)} s (${mb((sizeBytes * stored.length) / tookS)}/s)`,
  )
  bound(proof, what, { watch, idle, max })
  const backMs = await untilBelow(watch, idle.bytes + AFTER_GROWTH_MAX)
  proof.check(
    `${what}: back to ${mb(AFTER_GROWTH_MAX)} over idle within ${AFTER_MS / 1_000} s`,
    backMs <= AFTER_MS,
    `${mb(watch.nowBytes - idle.bytes)} over after ${(backMs / 1_000).toFixed(1)} s (${grown(idle, watch.byRole())})`,
  )
  watch.stop()
  for (const { body } of stored) await node.remove(String(body['id']))
  if (where === 'disk') await aftermath(proof, node, { what })
}

/** Bytes after which an upload is aborted; null: it is not. */
function abortOf(proof: Proof, sizeBytes: number): number | null {
  return proof.random(ABORTED) === 0 ? proof.random(sizeBytes) : null
}

/** @returns null when the upload was aborted */
async function uploadOrAbort(
  node: FileStand,
  sizeBytes: number,
  abortAt: number | null,
): Promise<UploadAnswer | null> {
  if (abortAt === null) return node.upload(sizeBytes)
  const client = node.client(sizeBytes)
  await client.begin()
  await client.sendTo(abortAt)
  client.leave(abortAt % 2 === 0 ? 'FIN' : 'RST')
  return null
}

/**
 * The driver stages on the local disk, so it is not the client that is slowed: the sink reads eight objects
 * at once.
 */
async function slowSink(proof: Proof, node: FileStand): Promise<void> {
  const sizeBytes = proof.isShort ? 2 * MIB : 50 * MIB
  const idle = await settled(proof, node)
  const watch = watchOf(node)
  const startedAt = monotonicMs()
  const answers = await Promise.all(Array.from({ length: SINK_UPLOADS }, () => node.upload(sizeBytes)))
  const tookS = (monotonicMs() - startedAt) / 1_000
  const stored = answers.filter(({ status }) => status === 200).length
  const others = answers.filter(({ status }) => status !== 200).map(({ status, type }) => `${status} ${type}`)
  proof.check(
    `${SINK_UPLOADS} uploads of ${mb(sizeBytes)} into an S3 that reads 5 MB/s in all are stored`,
    stored === SINK_UPLOADS,
    `${stored} in ${tookS.toFixed(1)} s ${others.join(', ')}`,
  )
  bound(proof, 'a slow sink', { watch, idle, max: SINK_GROWTH_MAX })
  watch.stop()
}

async function readers(proof: Proof, node: FileStand): Promise<void> {
  const id = await node.promoted(FILE_BYTES, 'large.wav')
  const count = proof.isShort ? 20 : READERS
  const idle = await settled(proof, node)
  const watch = watchOf(node)
  const slow = Array.from({ length: count }, () => new SlowReader(node, `/api/v1/files/${id}/content`))
  const beat = setInterval(() => slow.forEach((reader) => reader.read(READER_BYTES_PER_S / 10)), 100)
  await pause(proof.isShort ? 5_000 : 60_000)
  clearInterval(beat)
  const alive = slow.filter((reader) => reader.isAlive)
  const least = Math.min(...slow.map((reader) => reader.readBytes))
  proof.check(
    `${count} readers at 10 KB/s of a sealed file of 100 MB are alive`,
    alive.length === count,
    `${alive.length}; the slowest has read ${Math.round(least / 1_000)} KB`,
  )
  bound(proof, `${count} slow readers`, { watch, idle, max: READERS_GROWTH_MAX })
  slow.forEach((reader) => reader.close())
  watch.stop()
  await node.remove(id)
}

class SlowReader {
  readonly #socket
  #isClosed = false
  readBytes = 0

  constructor({ stand }: FileStand, path: string) {
    this.#socket = connect({ port: stand.port, host: '127.0.0.1', readableHighWaterMark: 16_384 } as never)
    this.#socket
      .on('error', () => undefined)
      .on('close', () => (this.#isClosed = true))
      .on('readable', () => undefined)
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${stand.keys.inference_key}\r\n\r\n`,
    )
  }

  get isAlive(): boolean {
    return !this.#isClosed && this.readBytes > 0
  }

  read(bytes: number): void {
    const piece = this.#socket.read(Math.min(bytes, this.#socket.readableLength)) as Buffer | null
    this.readBytes += piece?.length ?? 0
  }

  close(): void {
    this.#socket.destroy()
  }
}

/**
 * Private memory, without the spare front: it comes some seconds after the first call of any kind, and goes
 * when there are none.
 */
function watchOf(node: FileStand): MemoryWatch {
  return watchMemory(node.stand.pid, 100, (pid, role) => (role === 'sluice spare' ? 0 : privateBytes(pid)))
}

async function settled(proof: Proof, node: FileStand): Promise<Idle> {
  await pause(proof.isShort ? 1_000 : SETTLE_MS)
  const watch = watchOf(node)
  watch.stop()
  return { bytes: watch.nowBytes, byRole: watch.byRole() }
}

interface Idle {
  readonly bytes: number
  readonly byRole: MemoryByRole
}

function bound(
  proof: Proof,
  what: string,
  { watch, idle, max }: { readonly watch: MemoryWatch; readonly idle: Idle; readonly max: number },
): void {
  const growth = watch.peakBytes - idle.bytes
  proof.check(
    `${what}: growth at most ${mb(max)}`,
    growth <= max,
    `${mb(growth)} over ${mb(idle.bytes)} (${grown(idle, watch.peakByRole)})`,
  )
}

/** @returns the milliseconds that it took, or more than AFTER_MS */
async function untilBelow(watch: MemoryWatch, bytes: number): Promise<number> {
  const startedAt = monotonicMs()
  while (watch.nowBytes > bytes && monotonicMs() - startedAt <= AFTER_MS) await pause(50)
  return monotonicMs() - startedAt
}

/** By role, where it is a megabyte and more. */
function grown({ byRole }: Idle, now: MemoryByRole): string {
  const rows = [...now].map(([role, bytes]) => [role, bytes - (byRole.get(role) ?? 0)] as const)
  return rows
    .filter(([, bytes]) => bytes >= MIB)
    .map(([role, bytes]) => `${role} +${mb(bytes)}`)
    .join(', ')
}

function mb(bytes: number): string {
  return `${(bytes / MIB).toFixed(0)} MB`
}
