import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordBuffer } from './record-buffer.ts'
import { recordAt } from './records.ts'

const FORMAT = 1
const FOLDER = 'journals'
const NAME = /^([0-9a-f-]{36})\.(\d{6,})\.journal$/
/** Suffix of an incomplete segment, which readers skip. */
export const DRAFT = '.new'
/** Bytes from which a head is read. */
export const HEAD_BYTES_MAX = 4_096

/** The process that writes a journal; processes with the same pid are distinguished by their start. */
export interface Holder {
  readonly pid: number
  readonly startedAt: string
}

export interface SegmentHead {
  readonly id: string
  readonly node: string
  readonly bootId: string
  readonly holder: Holder
  readonly number: number
  /** Offset in the journal of the first byte after the head. */
  readonly base: number
}

/** A file of a journal, which consists of all its files in the order of their numbers. */
export interface SegmentFile {
  readonly id: string
  readonly number: number
  readonly path: string
}

export function journalsFolder(dataDir: string): string {
  return join(dataDir, FOLDER)
}

export function segmentPath(folder: string, id: string, number: number): string {
  return join(folder, `${id}.${String(number).padStart(6, '0')}.journal`)
}

/** Files of one journal, or of all, by journal and number; empty when there is no folder. */
export function segmentFiles(folder: string, id: string | null = null): readonly SegmentFile[] {
  return namesIn(folder)
    .flatMap((name) => {
      const [, of, number] = NAME.exec(name) ?? []
      return of === undefined || (id !== null && of !== id)
        ? []
        : [{ id: of, number: Number(number), path: join(folder, name) }]
    })
    .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.number - b.number))
}

/** All journals with at least one file, complete or not. */
export function journalsIn(folder: string): readonly string[] {
  const ids = namesIn(folder).flatMap(
    (name) => NAME.exec(name.endsWith(DRAFT) ? name.slice(0, -DRAFT.length) : name)?.[1] ?? [],
  )
  return [...new Set(ids)]
}

/** Segments of a journal that were never completed. */
export function draftsOf(folder: string, id: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.startsWith(id) && name.endsWith(DRAFT))
    .map((name) => join(folder, name))
}

export function writeHead(
  records: RecordBuffer,
  { id, node, bootId, holder, number, base }: SegmentHead,
): void {
  records.head([id, node, bootId, holder.startedAt], [FORMAT, number, base, holder.pid])
}

/** The head in a segment's first bytes, with its length; null when it is damaged or of another format. */
export function readHead(bytes: Buffer): { readonly head: SegmentHead; readonly bytes: number } | null {
  const found = recordAt(bytes, 0)
  if (found.kind !== 'record' || found.record.kind !== 'head') return null
  const { body } = found.record
  try {
    const [format, number, base, pid] = [body.number(), body.number(), body.number(), body.number()]
    if (format !== FORMAT) return null
    const [id, node, bootId, startedAt] = [body.text(), body.text(), body.text(), body.text()]
    return { head: { id, node, bootId, holder: { pid, startedAt }, number, base }, bytes: found.bytes }
  } catch (problem) {
    if (problem instanceof RangeError) return null
    throw problem
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (problem) {
    if (problem instanceof Error && 'code' in problem && problem.code === 'ENOENT') return []
    throw problem
  }
}
