import { REQUESTS_PACKED_MIN, REQUESTS_PACKED_MS_MAX } from '../../../schemas/requests/request-limits.ts'
import { FIGURE, FIGURES, UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import { isOwnRequestId, numberOfRequestId, prefixOfRequestId } from '../../../schemas/requests/request-id.ts'

/** The operation whose calls are paid when their job ends, which may be days behind the call. */
export const JOB_OPERATION = 'video.create'

/** Calls of one organization that are written as one. */
export interface Segment {
  /** Its number among the texts of the batch; 0: calls without a valid key. */
  readonly organization: number
  readonly prefix: string
  /** Places of the calls in the batch, ascending. */
  readonly places: readonly number[]
}

/** The forms in which the calls of a batch are written. */
export interface SplitBatch {
  readonly segments: readonly Segment[]
  /** Places of the calls that get a row each, ascending. */
  readonly rows: readonly number[]
}

/**
 * Divides a batch. Many calls of an organization are written as one segment, which costs Postgres a small part
 * of so many rows. A row is for what is found by its request id alone: ids of callers, and jobs, whose payment
 * looks for its call; for a few calls; and for those that ended long before the rest, since a search takes
 * it that a segment ends soon after it begins.
 */
export function splitBatch({ figures, names, requestIds }: RequestBatch): SplitBatch {
  const job = names.indexOf(JOB_OPERATION) + 1
  const newest = newestEnd(figures)
  const groups = new Map<string, { readonly organization: number; prefix: string; places: number[] }>()
  const rows: number[] = []
  let last: { readonly organization: number; prefix: string; places: number[] } | undefined
  for (const [place, id] of requestIds.entries()) {
    const figure = (of: number): number => figures[place * FIGURES + of] ?? UNKNOWN
    const organization = figure(FIGURE.organization)
    const isRow =
      !isOwnRequestId(id) ||
      (job > 0 && figure(FIGURE.operation) === job) ||
      newest - figure(FIGURE.endedMs) > REQUESTS_PACKED_MS_MAX
    if (isRow) rows.push(place)
    else if (last?.organization === organization && id.startsWith(last.prefix)) last.places.push(place)
    else {
      const prefix = prefixOfRequestId(id)
      const name = `${organization} ${prefix}`
      last = groups.get(name) ?? { organization, prefix, places: [] }
      groups.set(name, last)
      last.places.push(place)
    }
  }
  const segments: Segment[] = []
  for (const group of groups.values())
    if (group.places.length < REQUESTS_PACKED_MIN) rows.push(...group.places)
    else segments.push(group)
  return { segments, rows: rows.sort((a, b) => a - b) }
}

function newestEnd(figures: Float64Array): number {
  let newest = 0
  for (let at = FIGURE.endedMs; at < figures.length; at += FIGURES)
    newest = Math.max(newest, figures[at] ?? 0)
  return newest
}

/** What a segment's calls lie between: their ends in Unix milliseconds, and the numbers of their ids. */
export interface SegmentBounds {
  readonly firstMs: number
  readonly lastMs: number
  readonly idFirst: number
  readonly idLast: number
  /** Calls that failed. */
  readonly failures: number
}

export function boundsOf({ figures, requestIds }: RequestBatch, { places }: Segment): SegmentBounds {
  let [firstMs, lastMs, idFirst, idLast, failures] = [Infinity, 0, Infinity, 0, 0]
  for (const place of places) {
    const ended = figures[place * FIGURES + FIGURE.endedMs] ?? 0
    const id = numberOfRequestId(requestIds[place] ?? '')
    if (ended < firstMs) firstMs = ended
    if (ended > lastMs) lastMs = ended
    if (id < idFirst) idFirst = id
    if (id > idLast) idLast = id
    if ((figures[place * FIGURES + FIGURE.error] ?? 0) > 0) failures++
  }
  return { firstMs, lastMs, idFirst, idLast, failures }
}
