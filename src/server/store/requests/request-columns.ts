import { FIGURE, FIGURES, UNKNOWN, type RequestBatch } from '../../../schemas/requests/request-record.ts'
import { NOBODY } from './request-days.ts'

/** Hundredths of a millisecond, in which the log stores durations. */
const PARTS = 100

type Figure = keyof typeof FIGURE

/** Texts and numbers that many calls of a batch share: sent once for all of them. */
export interface SharedColumns {
  readonly place: number
  readonly organization_id: string
  readonly workspace_id: string | null
  readonly key_hash: string | null
  readonly operation: string
  readonly model: string | null
  readonly provider: string | null
  readonly status: number
  readonly error: string | null
  readonly limit_kind: string | null
  readonly weight: number
  readonly flags: number
  readonly attempts: number
}

const SHARED = [
  'organization',
  'workspace',
  'key',
  'operation',
  'model',
  'provider',
  'status',
  'error',
  'limit',
  'weight',
  'flags',
  'attempts',
] as const satisfies readonly Figure[]

/** Some calls of a batch as columns, as `insertRows` sends them. */
export class RequestColumns {
  readonly #batch: RequestBatch
  /** Where the calls are in the batch. */
  readonly #rows: readonly number[]
  readonly calls: number
  readonly shared: SharedColumns[] = []
  readonly places: number[] = []

  /** @param rows places of the calls in the batch */
  constructor(batch: RequestBatch, rows: readonly number[]) {
    this.#batch = batch
    this.#rows = rows
    this.calls = rows.length
    const known = new Map<string, number>()
    for (let nth = 0; nth < this.calls; nth++) {
      const name = SHARED.map((figure) => this.#figure(nth, figure)).join()
      const place = known.get(name) ?? this.shared.push(this.#sharedAt(nth)) - 1
      known.set(name, place)
      this.places.push(place)
    }
  }

  /** Milliseconds, with two places. */
  milliseconds(figure: Figure): readonly number[] {
    return this.#column(figure, (ms) => Math.round(ms * PARTS) / PARTS)
  }

  /** Whole numbers. */
  counts(figure: Figure): readonly number[] {
    return this.#column(figure, Math.round)
  }

  /** Failed attempts by the number of their call, from 1. */
  failed(): Readonly<Record<number, unknown>> {
    const found: Record<number, unknown> = {}
    for (let nth = 0; nth < this.calls; nth++) {
      const json = this.#batch.failed[this.#figure(nth, 'failed') - 1]
      if (json !== undefined) found[nth + 1] = JSON.parse(json)
    }
    return found
  }

  /** Reasons of failures by the number of their call, from 1. */
  reasons(): Readonly<Record<number, unknown>> {
    const found: Record<number, unknown> = {}
    const numbers = new Map(this.#batch.reasons)
    this.#rows.forEach((place, nth) => {
      const json = this.#batch.failed[(numbers.get(place) ?? 0) - 1]
      if (json !== undefined) found[nth + 1] = JSON.parse(json)
    })
    return found
  }

  /** Numbers of the calls in their batch, from 1. */
  get numbers(): readonly number[] {
    return this.#rows.map((place) => place + 1)
  }

  get requestIds(): readonly string[] {
    return this.#rows.map((place) => this.#batch.requestIds[place] ?? '')
  }

  /** Unix milliseconds. */
  get instants(): readonly number[] {
    return this.#column('endedMs', (ms) => ms)
  }

  #column(figure: Figure, of: (value: number) => number): readonly number[] {
    return Array.from({ length: this.calls }, (_, nth) => {
      const value = this.#figure(nth, figure)
      return Number.isFinite(value) && value >= 0 ? of(value) : UNKNOWN
    })
  }

  #figure(nth: number, figure: Figure): number {
    return this.#batch.figures[(this.#rows[nth] ?? 0) * FIGURES + FIGURE[figure]] ?? UNKNOWN
  }

  #text(nth: number, figure: Figure): string | null {
    return this.#batch.names[this.#figure(nth, figure) - 1] ?? null
  }

  #sharedAt(nth: number): SharedColumns {
    return {
      place: this.shared.length,
      organization_id: this.#text(nth, 'organization') ?? NOBODY,
      workspace_id: this.#text(nth, 'workspace'),
      key_hash: this.#text(nth, 'key'),
      operation: this.#text(nth, 'operation') ?? '',
      model: this.#text(nth, 'model'),
      provider: this.#text(nth, 'provider'),
      status: this.#figure(nth, 'status'),
      error: this.#text(nth, 'error'),
      limit_kind: this.#text(nth, 'limit'),
      weight: this.#figure(nth, 'weight'),
      flags: this.#figure(nth, 'flags'),
      attempts: this.#figure(nth, 'attempts'),
    }
  }
}
