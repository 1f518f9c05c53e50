import { deserialize, serialize } from 'node:v8'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { HistoryDimension, HistoryEvent } from '../../../schemas/operator/history.ts'
import type { SavedSeries } from './series.ts'

export interface SavedName {
  readonly name: string
  readonly weight: number
  readonly series: SavedSeries
}

export interface SavedHistory {
  readonly startedS: number
  readonly events: readonly HistoryEvent[]
  readonly all: SavedSeries
  readonly by: Readonly<
    Record<HistoryDimension, { readonly named: readonly SavedName[]; readonly others: SavedSeries | null }>
  >
}

/** Favors speed over size, since most of a history are zeros. */
const LEVEL = 1
/** Bytes in addition to the series: names, events, and their framing. */
const MORE_BYTES_MAX = 4_194_304

interface Framed<T> {
  readonly layout: string
  readonly value: T
}

/** @param layout a text that the reader must pass too */
export function packed<T>(layout: string, value: T): string {
  const framed: Framed<T> = { layout, value }
  return deflateRawSync(serialize(framed), { level: LEVEL }).toString('base64')
}

/** Null for a text with another layout, and for a damaged one. @param bytesMax of the value before packing */
export function unpacked<T>(layout: string, text: string, bytesMax: number): T | null {
  try {
    const bytes = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: bytesMax + MORE_BYTES_MAX })
    const framed = deserialize(bytes) as Partial<Framed<T>>
    return framed.layout === layout && framed.value !== undefined ? framed.value : null
  } catch {
    return null
  }
}
