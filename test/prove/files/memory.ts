/** What transfers cost in memory, over all processes of a node. */
import { connect } from 'node:net'
import { startFileStand, type FileStand } from '../../support/files/file-stand.ts'
import {
  proportionalBytes,
  watchMemory,
  type MemoryByRole,
  type MemoryWatch,
} from '../../support/load/process-memory.ts'
import { startS3Process } from '../../support/files/s3-process.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { Program, Proof } from '../proof.ts'

const MIB = 1_048_576
const FILE_BYTES = 100 * MIB
const UPLOADS = 100
const UPLOADS_GROWTH_MAX = 200 * MIB
const AFTER_MS = 10_000
const AFTER_GROWTH_MAX = 40 * MIB
const SINK_UPLOADS = 8
const SINK_BYTES_PER_S = 5_000_000
const SINK_GROWTH_MAX = 64 * MIB
const READERS = 200
const READER_BYTES_PER_S = 10_000
const READERS_GROWTH_MAX = 120 * MIB
/** Until what a start or a program before has left is freed. */
const SETTLE_MS = 5_000
const AUTO = { SLUICE_FRONTS: 'auto', SLUICE_WORKERS: 'auto' }

export const program: Program = {
  text: 'Memory of all processes: 100 uploads of 100 MB to disk and to S3, a slow sink, 200 slow readers',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'what processes hold is read from /proc'
      return
    }
    const disk = await startFileStand(proof, { settings: AUTO })
    await uploads(proof, disk, 'disk')
    await readers(proof, disk)
    await disk.stand.stop()
    const s3 = await startS3Process()
    proof.after(() => s3.stop())
    const bucket = await startFileStand(proof, { settings: { ...AUTO, ...s3.settings } })
    await uploads(proof, bucket, 'S3')
    s3.slowTo(SINK_BYTES_PER_S)
    await slowSink(proof, bucket)
  },
}

async function uploads(proof: Proof, node: FileStand, where: string): Promise<void> {
  const count = proof.isShort ? 8 : UPLOADS
  const sizeBytes = proof.isShort ? 10 * MIB : FILE_BYTES
  const { watch, idle } = await settled(node, sizeBytes)
  const startedAt = monotonicMs()
  const answers = await Promise.all(Array.from({ length: count }, () => node.upload(sizeBytes)))
  const tookS = (monotonicMs() - startedAt) / 1_000
  const stored = answers.filter(({ status }) => status === 200)
  const others = answers.filter(({ status }) => status !== 200).map(({ status, type }) => `${status} ${type}`)
  proof.check(
    `${count} concurrent uploads of ${mb(sizeBytes)} to ${where} are stored`,
    stored.length === count,
    `${stored.length}${others.length === 0 ? '' : `; ${[...new Set(others)].join(', ')}`}` +
      ` in ${tookS.toFixed(1)} s (${mb((sizeBytes * stored.length) / tookS)}/s)`,
  )
  bound(proof, `${count} uploads to ${where}`, { watch, idle, max: UPLOADS_GROWTH_MAX })
  const backMs = await untilBelow(watch, idle.bytes + AFTER_GROWTH_MAX)
  proof.check(
    `${where}: back to ${mb(AFTER_GROWTH_MAX)} over idle within 10 s`,
    backMs <= AFTER_MS,
    `${mb(watch.nowBytes - idle.bytes)} over after ${(backMs / 1_000).toFixed(1)} s (${grown(idle, watch.byRole())});` +
      ` with shared pages counted once ${mb(proportionalBytes(node.stand.pid) - idle.properBytes)}`,
  )
  watch.stop()
  for (const { body } of stored) await node.remove(String(body['id']))
}

/**
 * The driver stages on the local disk, so it is not the client that is slowed: the sink reads eight objects
 * at once.
 */
async function slowSink(proof: Proof, node: FileStand): Promise<void> {
  const sizeBytes = proof.isShort ? 2 * MIB : 50 * MIB
  const { watch, idle } = await settled(node, MIB)
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
  const { watch, idle } = await settled(node, MIB)
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

/** After one upload that warms everything up, and a rest. */
async function settled(
  node: FileStand,
  sizeBytes: number,
): Promise<{ readonly watch: MemoryWatch; readonly idle: Idle }> {
  const warm = await node.upload(sizeBytes)
  if (warm.status !== 200) throw new Error(`the warm-up got ${warm.status} ${warm.type}`)
  await node.remove(String(warm.body['id']))
  await pause(SETTLE_MS)
  const watch = watchMemory(node.stand.pid)
  return {
    watch,
    idle: { bytes: watch.nowBytes, byRole: watch.byRole(), properBytes: proportionalBytes(node.stand.pid) },
  }
}

interface Idle {
  readonly bytes: number
  readonly byRole: MemoryByRole
  /** With shared pages counted once. */
  readonly properBytes: number
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
