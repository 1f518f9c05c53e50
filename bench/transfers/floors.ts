/** `npm run bench -- uploads --floors`: the CPU that each step of an upload takes when nothing is around it. */
import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writevSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { COALESCED_BYTES_MAX } from '../../src/schemas/files/file-limits.ts'
import { CONTENT_SLICE_BYTES_MAX, createContentScanner } from '../../src/workers/content/scanner.ts'
import { detach, wholeBuffers } from '../../src/workers/detach.ts'
import { SEGMENT_BYTES } from '../../src/workers/seal/format.ts'
import { spread } from '../statistics.ts'
import { columns } from '../text.ts'
import type { TransferSample } from './measure.ts'
import { fileOf, type FileKind } from './payload.ts'

export const STEPS = ['SHA-256', 'AES-256-GCM', 'scan', 'write'] as const
type Step = (typeof STEPS)[number]

/** CPU seconds for 1e9 bytes of each step alone, the median of the repeats. */
export type Floors = Readonly<Record<Step, number>>

/** @param repeats of each step, after one that is not counted */
export async function floorsOf(
  kind: FileKind,
  { payloadBytes, repeats }: { readonly payloadBytes: number; readonly repeats: number },
): Promise<Floors> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-floors-'))
  try {
    const file = fileOf(kind, payloadBytes)
    const found = STEPS.map((step) => [step, floorOf(() => RUNS[step](file, folder), { file, repeats })])
    return Object.fromEntries(found) as Floors
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const RUNS: Readonly<Record<Step, (file: Buffer, folder: string) => void>> = {
  'SHA-256': (file) => {
    const hash = createHash('sha256')
    for (const piece of cut(file, SEGMENT_BYTES)) hash.update(piece)
    hash.digest()
  },
  'AES-256-GCM': (file) => {
    const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12))
    // Freed at once, as a thread does: else the floor would count the garbage collector.
    for (const piece of cut(file, SEGMENT_BYTES)) detach(wholeBuffers([cipher.update(piece)], SEGMENT_BYTES))
    cipher.final()
  },
  scan: (file) => {
    const scanner = createContentScanner()
    for (const piece of cut(file, CONTENT_SLICE_BYTES_MAX)) scanner.push(piece)
    const verdict = scanner.finish(file.length)
    if (!verdict.ok) throw new Error(`the scan refused the file of the bench: ${verdict.found}`)
  },
  write: (file, folder) => {
    const path = join(folder, 'file')
    const descriptor = openSync(path, 'wx')
    for (const piece of cut(file, COALESCED_BYTES_MAX)) writevSync(descriptor, [piece])
    closeSync(descriptor)
    unlinkSync(path)
  },
}

function floorOf(
  run: () => void,
  { file, repeats }: { readonly file: Buffer; readonly repeats: number },
): number {
  run()
  const each = Array.from({ length: repeats }, () => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1e6 / (file.length / 1e9)
  })
  return spread(each).median
}

function* cut(file: Buffer, bytes: number): Generator<Buffer> {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes)
}

/** The floors of one kind of file, and the uploads of it. */
export interface Floored {
  readonly kind: FileKind
  readonly floors: Floors
  readonly samples: readonly TransferSample[]
}

/** One table in CPU seconds a GB: the steps, their sum, the whole, and the difference by where it is spent. */
export function floorLines(found: readonly Floored[]): readonly string[] {
  const head = ['s/GB', ...STEPS, 'sum', 'Sluice', 'event loop', 'threads − sum', 'other processes']
  return columns([
    head,
    ...found.map((one) => [one.kind, ...figuresOf(one).map((value) => value.toFixed(2))]),
  ])
}

function figuresOf({ floors, samples }: Floored): readonly number[] {
  const of = (read: (sample: TransferSample) => number): number => spread(samples.map(read)).median
  const steps = STEPS.map((step) => floors[step])
  const sum = steps.reduce((all, one) => all + one, 0)
  const [loop, threads, rest] = [
    of((one) => one.mainPerGb),
    of((one) => one.threadsPerGb),
    of((one) => one.restPerGb),
  ]
  return [...steps, sum, loop + threads + rest, loop, threads - sum, rest]
}
