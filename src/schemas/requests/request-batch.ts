import { FIGURES, type Reason, type RequestBatch } from './request-record.ts'

const FORMAT = 2
const LINE_END = 0x0a
const NUMBER_BYTES = Float64Array.BYTES_PER_ELEMENT

interface Head extends Omit<RequestBatch, 'figures' | 'reasons'> {
  readonly format: number
  /** Absent: the front was of a version without them. */
  readonly reasons?: readonly Reason[]
}

/**
 * A batch as files have it: a line of JSON, then the numbers in the byte order of this machine. Spaces after
 * the JSON align the numbers, so that a file in memory can be read as numbers.
 */
export function batchBytes({ figures, ...head }: RequestBatch): readonly Uint8Array[] {
  const json = Buffer.from(JSON.stringify({ format: FORMAT, ...head } satisfies Head))
  const line = Buffer.alloc(Math.ceil((json.length + 1) / NUMBER_BYTES) * NUMBER_BYTES, ' ')
  json.copy(line)
  line[line.length - 1] = LINE_END
  return [line, new Uint8Array(figures.buffer, figures.byteOffset, figures.byteLength)]
}

/** The batches of a file, one after the other; their figures are in its bytes. Null for bytes that are no whole batches. */
export function batchesOf(bytes: Uint8Array): readonly RequestBatch[] | null {
  const batches: RequestBatch[] = []
  for (let at = 0; at < bytes.length || at === 0;) {
    const lineEnd = bytes.indexOf(LINE_END, at)
    const head = lineEnd < 0 ? null : headOf(Buffer.from(bytes.subarray(at, lineEnd)).toString())
    if (head === null) return null
    const { id, requestIds, names, failed, reasons = [] } = head
    const end = lineEnd + 1 + requestIds.length * FIGURES * NUMBER_BYTES
    if (end > bytes.length) return null
    const figures = numbersIn(bytes.subarray(lineEnd + 1, end))
    batches.push({ id, requestIds, names, failed, reasons, figures })
    at = end
  }
  return batches
}

/** Numbers that lie where numbers may, in place; a copy of others. */
function numbersIn(bytes: Uint8Array): Float64Array {
  const isInPlace = bytes.byteOffset % NUMBER_BYTES === 0
  const { buffer, byteOffset, byteLength } = isInPlace ? bytes : new Uint8Array(bytes)
  return new Float64Array(buffer, byteOffset, byteLength / NUMBER_BYTES)
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
  const { format, id, requestIds, names, failed, reasons } = value as Partial<Record<keyof Head, unknown>>
  return (
    format === FORMAT &&
    typeof id === 'string' &&
    /^\d{1,18}$/.test(id) &&
    [requestIds, names, failed].every(isTexts) &&
    (reasons === undefined || (Array.isArray(reasons) && reasons.every(isReason)))
  )
}

function isReason(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isInteger)
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
