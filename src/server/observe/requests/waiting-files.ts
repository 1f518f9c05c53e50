import {
  REQUESTS_FILE_BYTES_MAX,
  REQUESTS_ORGANIZATION_SPILLED_MAX,
} from '../../../schemas/requests/request-limits.ts'
import { FIGURE, FIGURES, type Reason, type RequestBatch } from '../../../schemas/requests/request-record.ts'

type CallCounts = ReadonlyMap<string, number>

export interface WaitingFile {
  readonly name: string
  readonly bytes: number
  /** By organization. */
  readonly calls: CallCounts
}

/** The files of one front that the runner has not written yet. */
export class WaitingFiles {
  /** Oldest first. */
  #files: readonly WaitingFile[] = []

  /** Forgets files that are not among these names any more. */
  keepOnly(names: readonly string[]): void {
    const there = new Set(names)
    this.#files = this.#files.filter(({ name }) => there.has(name))
  }

  /**
   * The newest files, which become one with so many bytes more. Files that are twice as large stay, unless
   * there is no room: so a call is copied a few times only, and a front has few small files.
   * @returns oldest first
   */
  joinedBy(bytes: number, isFull: boolean): readonly WaitingFile[] {
    const joined: WaitingFile[] = []
    let sum = bytes
    for (const file of this.#files.toReversed()) {
      if (sum + file.bytes > REQUESTS_FILE_BYTES_MAX || (file.bytes >= 2 * sum && !isFull)) break
      sum += file.bytes
      joined.unshift(file)
    }
    return joined
  }

  /** Puts a file in the place of those that it has joined. */
  add(file: WaitingFile, joined: readonly WaitingFile[]): void {
    this.#files = [...this.#files.filter((one) => !joined.includes(one)), file]
  }

  /** The calls of a batch whose organizations have fewer calls in these files than their share. */
  withinShares(batch: RequestBatch): RequestBatch {
    const over = new Set<string>()
    for (const organization of callsOf(batch).keys())
      if (this.#callsOf(organization) >= REQUESTS_ORGANIZATION_SPILLED_MAX) over.add(organization)
    if (over.size === 0) return batch
    const kept = [...batch.requestIds.keys()].filter((n) => !over.has(organizationOf(batch, n)))
    const figures = new Float64Array(kept.length * FIGURES)
    kept.forEach((n, to) => figures.set(batch.figures.subarray(n * FIGURES, (n + 1) * FIGURES), to * FIGURES))
    const places = new Map(kept.map((n, to) => [n, to]))
    const reasons = batch.reasons.flatMap(([n, text]): Reason[] => {
      const to = places.get(n)
      return to === undefined ? [] : [[to, text]]
    })
    return { ...batch, figures, reasons, requestIds: kept.map((n) => batch.requestIds[n] ?? '') }
  }

  #callsOf(organization: string): number {
    return this.#files.reduce((sum, { calls }) => sum + (calls.get(organization) ?? 0), 0)
  }
}

/** The calls of a batch, and of files that it joins, by organization. */
export function callsOf(batch: RequestBatch, joined: readonly WaitingFile[] = []): CallCounts {
  const calls = new Map<string, number>()
  const add = (organization: string, more: number): unknown =>
    calls.set(organization, (calls.get(organization) ?? 0) + more)
  batch.requestIds.forEach((_, n) => add(organizationOf(batch, n), 1))
  for (const file of joined) for (const [organization, more] of file.calls) add(organization, more)
  return calls
}

/** Empty: the call had no valid key. */
function organizationOf({ figures, names }: RequestBatch, n: number): string {
  return names[(figures[n * FIGURES + FIGURE.organization] ?? 0) - 1] ?? ''
}
