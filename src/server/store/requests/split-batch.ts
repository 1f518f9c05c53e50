import { REQUESTS_PACKED_MS_MAX } from '../../../schemas/requests/request-limits.ts'
import { FIGURE, FIGURES, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import { numberOfRequestId, prefixOfRequestId } from '../../../schemas/requests/request-id.ts'

/** Calls of one organization in a batch from which they are written as one segment. Decision. */
export const REQUESTS_PACKED_MIN = 32

/** The operation whose calls are paid when their job ends, which may be days after the call. */
export const JOB_OPERATION = 'video.create'

/** Calls of one organization that are written as one. */
export interface Segment {
  /** Its number among the texts of the batch; 0: calls without a valid key. */
  readonly organization: number
  readonly prefix: string
  /** Places of the calls in the batch, ascending. */
  readonly places: readonly number[]
  readonly idNumbers: readonly number[]
}

/** The forms in which the calls of a batch are written. */
export interface SplitBatch {
  readonly segments: readonly Segment[]
  /** Places of the calls that get a row each, ascending. */
  readonly rows: readonly number[]
}

/**
 * Divides a batch. Many calls of an organization are written as one segment, which costs Postgres far less than as many
 * rows. Calls get rows of their own when they are found by request id alone (ids chosen by callers, and jobs, whose
 * payment looks for its call), when they are few, and when they ended long before the rest, since a search assumes that
 * a segment covers a short time.
 */
export function splitBatch({ figures, names, requestIds }: RequestBatch): SplitBatch {
  const job = names.indexOf(JOB_OPERATION) + 1
  const oldest = newestEnd(figures) - REQUESTS_PACKED_MS_MAX
  const groups = new Map<string, Group>()
  const rows: number[] = []
  let last: Group | undefined
  for (let place = 0; place < requestIds.length; place++) {
    const id = requestIds[place] ?? ''
    const at = place * FIGURES
    const idNumber = numberOfRequestId(id)
    const isJob = job > 0 && figures[at + FIGURE.operation] === job
    if (idNumber === null || isJob || (figures[at + FIGURE.endedMs] ?? 0) < oldest) {
      rows.push(place)
      continue
    }
    const organization = figures[at + FIGURE.organization] ?? 0
    if (last?.organization !== organization || !id.startsWith(last.prefix))
      last = groupOf(groups, organization, prefixOfRequestId(id))
    last.places.push(place)
    last.idNumbers.push(idNumber)
  }
  const segments: Segment[] = []
  for (const group of groups.values())
    if (group.places.length < REQUESTS_PACKED_MIN) rows.push(...group.places)
    else segments.push(group)
  return { segments, rows: rows.sort((a, b) => a - b) }
}

interface Group extends Segment {
  readonly places: number[]
  readonly idNumbers: number[]
}

function groupOf(groups: Map<string, Group>, organization: number, prefix: string): Group {
  const name = `${organization} ${prefix}`
  const known = groups.get(name)
  if (known !== undefined) return known
  const group = { organization, prefix, places: [], idNumbers: [] }
  groups.set(name, group)
  return group
}

function newestEnd(figures: Float64Array): number {
  let newest = 0
  for (let at = FIGURE.endedMs; at < figures.length; at += FIGURES)
    newest = Math.max(newest, figures[at] ?? 0)
  return newest
}

/** Bounds of a segment's calls: their ends in Unix milliseconds, and the numbers in their ids. */
export interface SegmentBounds {
  readonly firstMs: number
  readonly lastMs: number
  readonly idFirst: number
  readonly idLast: number
  readonly failures: number
}

export function boundsOf({ figures }: RequestBatch, { places, idNumbers }: Segment): SegmentBounds {
  let [firstMs, lastMs, idFirst, idLast, failures] = [Infinity, 0, Infinity, 0, 0]
  for (let nth = 0; nth < places.length; nth++) {
    const at = (places[nth] ?? 0) * FIGURES
    const ended = figures[at + FIGURE.endedMs] ?? 0
    const id = idNumbers[nth] ?? 0
    if (ended < firstMs) firstMs = ended
    if (ended > lastMs) lastMs = ended
    if (id < idFirst) idFirst = id
    if (id > idLast) idLast = id
    if ((figures[at + FIGURE.error] ?? 0) > 0) failures++
  }
  return { firstMs, lastMs, idFirst, idLast, failures }
}
