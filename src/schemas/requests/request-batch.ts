import { FIGURES, type RequestBatch } from './request-record.ts'

const FORMAT = 1
const LINE_END = 0x0a
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT

interface Head extends Omit<RequestBatch, 'figures'> {
  readonly format: number
}

/** A batch as a file has it: a line of JSON, and the numbers in the order of this machine. */
export function batchBytes({ figures, ...head }: RequestBatch): readonly Uint8Array[] {
  const line = Buffer.from(`${JSON.stringify({ format: FORMAT, ...head } satisfies Head)}\n`)
  return [line, new Uint8Array(figures.buffer, figures.byteOffset, figures.byteLength)]
}

/** Null for bytes that are no whole batch. */
export function batchOf(bytes: Uint8Array): RequestBatch | null {
  const end = bytes.indexOf(LINE_END)
  const head = end < 0 ? null : headOf(Buffer.from(bytes.subarray(0, end)).toString())
  if (head === null) return null
  // A copy begins at a place where numbers may lie.
  const rest = new Uint8Array(bytes.subarray(end + 1))
  if (rest.length !== head.requestIds.length * FIGURES * NUMBER_BYTES) return null
  const { id, requestIds, names, failed } = head
  return { id, requestIds, names, failed, figures: new Float64Array(rest.buffer) }
}

function headOf(line: string): Head | null {
  try {
    const head: unknown = JSON.parse(line)
    return isHead(head) ? head : null
  } catch {
    return null
  }
}

function isHead(value: unknown): value is Head {
  if (typeof value !== 'object' || value === null) return false
  const { format, id, requestIds, names, failed } = value as Partial<Record<keyof Head, unknown>>
  return (
    format === FORMAT &&
    typeof id === 'string' &&
    /^\d{1,18}$/.test(id) &&
    [requestIds, names, failed].every(isTexts)
  )
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
