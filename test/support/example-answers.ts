import { createHash } from 'node:crypto'
import type { ExampleAnswer } from '../../src/server/http/reference/answers.ts'

/** The instant that stands for all of a recording. */
const INSTANT_S = 1_795_694_400
const DAY = '2026-11-26'
/** Entries of a list of objects, and numbers of a vector, that an example keeps. */
const ENTRIES_MAX = 2
const NUMBERS_MAX = 3
const TEXT_CHARS_MAX = 300
const YEAR_S = 366 * 86_400
/** Stands for what a run has measured. */
const MEASURED = 120

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const ID = /\b(gen|vid|file|cfile|resp|msg|emb|byok|sess|call)_[A-Za-z0-9_-]{16,}/g
/** A key, or its first and last characters. */
const KEY = /(sk-sluice-(?:[a-z]+-)?v1-)[A-Za-z0-9_-]+(\.\.\.[A-Za-z0-9_-]+)?/g
const SIGNATURE = /v1,[A-Za-z0-9+/=]{40,}/g
const DIGEST = /\b[0-9a-f]{64}\b/g
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g
const ORIGIN = /https?:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?/g
/** Names of members that hold what a run has measured. */
const MEASURES = /(?:_ms|_seconds|latency|generation_time|milliseconds)$/

/** One answer: equal ids in it stay equal, and different ones different. */
interface Recording {
  readonly id: string
  readonly ids: Map<string, number>
}

/** A recorded answer without what differs between runs. */
export function exampleAnswer(
  id: string,
  answer: { readonly status: number; readonly contentType: string | null; readonly bytes: Uint8Array },
): ExampleAnswer {
  const mediaType = answer.contentType?.split(';')[0] ?? null
  const head = { status: answer.status, mediaType: answer.bytes.length === 0 ? null : mediaType }
  if (answer.bytes.length === 0 || mediaType === null) return head
  const text = Buffer.from(answer.bytes).toString()
  const recording: Recording = { id, ids: new Map() }
  if (mediaType.endsWith('json')) return { ...head, body: settled(JSON.parse(text), recording, '') }
  return Buffer.from(text).equals(answer.bytes) ? { ...head, body: textOf(text, recording) } : head
}

function settled(value: unknown, id: Recording, name: string): unknown {
  if (Array.isArray(value)) return listOf(value, id, name)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [textOf(key, id), settled(inner, id, key)]),
    )
  if (typeof value === 'string' && name === 'version') return '1.0.0'
  if (typeof value === 'string' && name === 'request_id') return digestOf(value, id).slice(0, 20)
  if (typeof value === 'string') return textOf(value, id)
  return typeof value === 'number' ? numberOf(value, name) : value
}

function listOf(list: readonly unknown[], id: Recording, name: string): unknown {
  const kept = list.every((one) => typeof one === 'number' || one === null) ? NUMBERS_MAX : ENTRIES_MAX
  const isOfWords = list.every((one) => typeof one === 'string')
  return (isOfWords ? list : list.slice(0, kept)).map((one) => settled(one, id, name))
}

function numberOf(value: number, name: string): number {
  const nowS = Date.now() / 1_000
  if (MEASURES.test(name)) return MEASURED
  if (Math.abs(value - nowS) < YEAR_S) return INSTANT_S
  return Math.abs(value / 1_000 - nowS) < YEAR_S ? INSTANT_S * 1_000 : value
}

function textOf(text: string, id: Recording): string {
  const near = Math.abs(Date.parse(text) - Date.now()) < YEAR_S * 1_000
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return near ? DAY : text
  const made = text
    .replace(INSTANT, (at) => (at.includes('.') ? `${DAY}T12:00:00.000Z` : `${DAY}T12:00:00Z`))
    .replace(
      KEY,
      (_, begin: string, end?: string) => `${begin}${end === undefined ? '0123456789abcdef' : '0Ab...9Yz'}`,
    )
    .replace(SIGNATURE, (one) => `v1,${Buffer.from(digestOf(one, id), 'hex').toString('base64')}`)
    .replace(UUID, (one) => uuidOf(one, id))
    .replace(ID, (one, prefix: string) => `${prefix}_${digestOf(one, id).slice(0, 24)}`)
    .replace(DIGEST, (one) => digestOf(one, id))
    .replace(ORIGIN, 'http://127.0.0.1:8080')
  return made.length > TEXT_CHARS_MAX ? `${made.slice(0, TEXT_CHARS_MAX)}…` : made
}

/** A UUID that does not change between runs; the version of the recorded one stays. */
function uuidOf(recorded: string, recording: Recording): string {
  const hex = digestOf(recorded, recording)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${recorded[14] ?? '4'}${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Hex that depends on the operation and on how many other ids came before. */
function digestOf(recorded: string, { id, ids }: Recording): string {
  const place = ids.get(recorded) ?? ids.size
  ids.set(recorded, place)
  return createHash('sha256').update(`${id} ${place}`).digest('hex')
}
