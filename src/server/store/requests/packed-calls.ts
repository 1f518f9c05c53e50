import {
  FIGURE,
  FIGURES,
  UNKNOWN,
  type Reason,
  type RequestBatch,
} from '../../../schemas/requests/request-record.ts'
import { ownRequestId } from '../../../schemas/requests/request-id.ts'
import type { Segment } from './split-batch.ts'

/**
 * Calls of one organization as columns of bytes: a line of JSON with their texts and the forms of the columns, then the
 * columns, then JSON of their failed attempts and reasons, which searches do not read. A column stores the difference
 * of each value to the column's least value, in as few bytes as all of them need (none when all are equal). A call of
 * an ordinary batch takes 20 to 30 bytes.
 */
const FORMAT = 1
const LINE_END = 0x0a
/** Columns have hundredths of milliseconds. */
const PARTS = 100
const DOUBLE_BYTES = 8

/** Columns after the figures of a call: its number in the batch, and the number in its request id. */
const NUMBER = FIGURES
const ID = FIGURES + 1
const COLUMNS = FIGURES + 2

type Figure = keyof typeof FIGURE
type Place = (typeof FIGURE)[Figure]

const TEXTS: ReadonlySet<number> = new Set(
  (['organization', 'workspace', 'key', 'operation', 'model', 'provider', 'error', 'limit'] as const).map(
    (figure) => FIGURE[figure],
  ),
)
const DURATIONS: ReadonlySet<number> = new Set(
  (['durationMs', 'authMs', 'limitsMs', 'validateMs', 'holdMs', 'upstreamMs', 'firstMs'] as const).map(
    (figure) => FIGURE[figure],
  ),
)

interface Head {
  readonly format: number
  readonly calls: number
  readonly prefix: string
  readonly names: readonly string[]
  /** The least value of each column, and the number of bytes per difference to it. */
  readonly columns: readonly (readonly [number, number])[]
  /** Calls with the reason of their failure; absent when no call has one. Versions without this member ignore it. */
  readonly reasons?: readonly Reason[]
}

export function packCalls(
  batch: RequestBatch,
  { prefix, places, idNumbers }: Omit<Segment, 'organization'>,
): Buffer {
  const { figures } = batch
  const texts = new Renumbered(batch.names)
  const failures = new Renumbered(batch.failed)
  const values = new Float64Array(places.length)
  const forms: (readonly [number, number])[] = []
  const columns: Uint8Array[] = []
  // Each kind of column has its own loop: one loop that calls a function for each kind takes twice as long.
  for (let column = 0; column < COLUMNS; column++) {
    if (column === NUMBER) for (let nth = 0; nth < values.length; nth++) values[nth] = (places[nth] ?? 0) + 1
    else if (column === ID) values.set(idNumbers)
    else if (TEXTS.has(column)) texts.into(values, { figures, places, column })
    else if (column === FIGURE.failed) failures.into(values, { figures, places, column })
    else figuresInto(values, { figures, places, column })
    const [form, bytes] = columnOf(values)
    forms.push(form)
    columns.push(bytes)
  }
  const reasons = reasonsOf(batch, places, failures)
  const head: Head = {
    format: FORMAT,
    calls: places.length,
    prefix,
    names: texts.used,
    columns: forms,
    ...(reasons.length > 0 && { reasons }),
  }
  const line = Buffer.from(`${JSON.stringify(head)}\n`)
  return Buffer.concat([line, ...columns, Buffer.from(JSON.stringify(failures.used))])
}

/** Reasons of the segment's calls, by the places of the calls in it. */
function reasonsOf(
  { reasons }: RequestBatch,
  places: readonly number[],
  failures: Renumbered,
): readonly Reason[] {
  if (reasons.length === 0) return []
  const inSegment = new Map(places.map((place, nth) => [place, nth]))
  return reasons.flatMap(([place, number]): Reason[] => {
    const nth = inSegment.get(place)
    return nth === undefined ? [] : [[nth, failures.of(number)]]
  })
}

interface ColumnInput {
  readonly figures: Float64Array
  readonly places: readonly number[]
  readonly column: number
}

/** Writes whole numbers; a missing or invalid value becomes UNKNOWN. */
function figuresInto(values: Float64Array, { figures, places, column }: ColumnInput): void {
  const parts = DURATIONS.has(column) ? PARTS : 1
  for (let nth = 0; nth < values.length; nth++) {
    const value = figures[(places[nth] ?? 0) * FIGURES + column] ?? UNKNOWN
    values[nth] = value >= 0 && value < Infinity ? Math.round(value * parts) : UNKNOWN
  }
}

/** The texts that these calls use: a batch has the texts of many organizations. */
class Renumbered {
  readonly #all: readonly string[]
  readonly #numbers: Uint32Array
  readonly used: string[] = []

  constructor(all: readonly string[]) {
    this.#all = all
    this.#numbers = new Uint32Array(all.length + 1)
  }

  into(values: Float64Array, { figures, places, column }: ColumnInput): void {
    for (let nth = 0; nth < values.length; nth++)
      values[nth] = this.of(figures[(places[nth] ?? 0) * FIGURES + column] ?? 0)
  }

  of(number: number): number {
    const known = this.#numbers[number] ?? 0
    const text = this.#all[number - 1]
    if (known > 0 || text === undefined) return known
    return (this.#numbers[number] = this.used.push(text))
  }
}

function columnOf(values: Float64Array): [form: readonly [number, number], bytes: Uint8Array] {
  let [least, most] = [Infinity, -Infinity]
  for (let nth = 0; nth < values.length; nth++) {
    const value = values[nth] ?? 0
    if (value < least) least = value
    if (value > most) most = value
  }
  const range = most - least
  if (range === 0) return [[least, 0], new Uint8Array()]
  const width = range < 2 ** 8 ? 1 : range < 2 ** 16 ? 2 : range < 2 ** 32 ? 4 : DOUBLE_BYTES
  const bytes = Buffer.allocUnsafe(values.length * width)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let nth = 0; nth < values.length; nth++) {
    const value = (values[nth] ?? 0) - least
    if (width === 1) view.setUint8(nth, value)
    else if (width === 2) view.setUint16(nth * width, value, true)
    else if (width === 4) view.setUint32(nth * width, value, true)
    else view.setFloat64(nth * width, value, true)
  }
  return [[least, width], bytes]
}

/** Packed calls; each column is decoded when it is first used. */
export class PackedCalls {
  readonly #head: Head
  readonly #view: DataView
  /** Offsets of the columns in the bytes. */
  readonly #begins: readonly number[]
  readonly #columns: (Float64Array | undefined)[] = []
  readonly #failedBytes: Uint8Array
  #failed: readonly string[] | null = null
  /** Numbers of reasons by the places of their calls; null: not read yet. */
  #reasons: ReadonlyMap<number, number> | null = null

  constructor(bytes: Uint8Array) {
    const lineEnd = bytes.indexOf(LINE_END)
    this.#head = JSON.parse(Buffer.from(bytes.subarray(0, lineEnd)).toString()) as Head
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    let at = lineEnd + 1
    this.#begins = this.#head.columns.map(([, width]) => {
      const begin = at
      at += width * this.#head.calls
      return begin
    })
    this.#failedBytes = bytes.subarray(at)
  }

  get calls(): number {
    return this.#head.calls
  }

  /** The values of one figure for all calls; durations in hundredths of milliseconds. UNKNOWN: not known. */
  figures(figure: Figure): Float64Array {
    return this.#column(FIGURE[figure])
  }

  /** The number of a call in its batch, from 1. */
  numberAt(nth: number): number {
    return this.#column(NUMBER)[nth] ?? 0
  }

  requestIdAt(nth: number): string {
    return ownRequestId(this.#head.prefix, this.#column(ID)[nth] ?? 0)
  }

  /** Null: it is not known. */
  figureAt(nth: number, figure: Figure): number | null {
    const value = this.#column(FIGURE[figure])[nth] ?? UNKNOWN
    if (value === UNKNOWN) return null
    return DURATIONS.has(FIGURE[figure]) ? value / PARTS : value
  }

  textAt(nth: number, figure: Figure): string | null {
    return this.#head.names[(this.#column(FIGURE[figure])[nth] ?? 0) - 1] ?? null
  }

  /** JSON of the failed attempts of a call; null: it had none. */
  failedAt(nth: number): string | null {
    return this.#jsonOf(this.#column(FIGURE.failed)[nth] ?? 0)
  }

  /** JSON of the reason of a call's failure; null: it has none. */
  reasonAt(nth: number): string | null {
    this.#reasons ??= new Map(this.#head.reasons)
    return this.#jsonOf(this.#reasons.get(nth) ?? 0)
  }

  #jsonOf(number: number): string | null {
    if (number === 0) return null
    this.#failed ??= JSON.parse(Buffer.from(this.#failedBytes).toString()) as readonly string[]
    return this.#failed[number - 1] ?? null
  }

  /** The numbers under which the columns store the matching texts. */
  numbersOf(fits: (text: string) => boolean): ReadonlySet<number> {
    return new Set(this.#head.names.flatMap((text, nth) => (fits(text) ? nth + 1 : [])))
  }

  #column(column: Place | typeof NUMBER | typeof ID): Float64Array {
    return (this.#columns[column] ??= this.#read(column))
  }

  #read(column: number): Float64Array {
    const [least, width] = this.#head.columns[column] ?? [UNKNOWN, 0]
    const begin = this.#begins[column] ?? 0
    const values = new Float64Array(this.#head.calls).fill(least)
    const view = this.#view
    if (width === 0) return values
    for (let nth = 0; nth < values.length; nth++) {
      const at = begin + nth * width
      if (width === 1) values[nth] = least + view.getUint8(at)
      else if (width === 2) values[nth] = least + view.getUint16(at, true)
      else if (width === 4) values[nth] = least + view.getUint32(at, true)
      else values[nth] = least + view.getFloat64(at, true)
    }
    return values
  }
}
