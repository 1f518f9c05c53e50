import {
  GENERATIONS_BATCH_ROWS,
  GENERATIONS_FLUSH_MS,
  GENERATIONS_RETRY_MS,
  GENERATIONS_WRITE_MS_MAX,
} from '../../../schemas/inference/generation-limits.ts'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import { generationMsOf } from '../../../schemas/inference/generations.ts'
import type {
  Generation,
  GenerationFacts,
  Generations,
  GenerationSought,
} from '../../ports/inference/generations.ts'
import type { Log } from '../../ports/observe.ts'
import { withDays } from '../base/day-partitions.ts'
import type { Sql, Store } from '../base/open.ts'
import { isAway, reach } from '../base/translate.ts'
import { GENERATION_TABLE } from './generation-days.ts'
import { GenerationQueue } from './generation-queue.ts'

export interface GenerationsOptions {
  readonly store: Store
  readonly log: Log
  /** Counts records by what became of them. */
  readonly count: (outcome: 'written' | 'lost', rows: number) => void
}

/**
 * Writes records in batches, beside the calls. While the store is away records wait, as many as the queue
 * has room for; a process that is killed loses those of its last GENERATIONS_FLUSH_MS. Money does not depend
 * on them. D33.
 */
export function openGenerations(options: GenerationsOptions): Generations & { close(): Promise<void> } {
  return new StoredGenerations(options)
}

class StoredGenerations implements Generations {
  readonly #options: GenerationsOptions
  readonly #queue = new GenerationQueue()
  /** Taken from the queue, and not written so far. */
  #batch: readonly Generation[] = []
  /** Records without room since the last line of the log. */
  #lost = 0
  #timer: NodeJS.Timeout | null = null
  #flushing: Promise<void> | null = null
  #isClosing = false

  constructor(options: GenerationsOptions) {
    this.#options = options
  }

  keep(generation: Generation): void {
    if (this.#isClosing || !this.#queue.push(generation)) this.#lose(1)
    else this.#schedule(GENERATIONS_FLUSH_MS)
  }

  find(sought: GenerationSought): Promise<Outcome<Generation>> {
    return reach(() => find(this.#options.store.sql, sought))
  }

  async close(): Promise<void> {
    this.#isClosing = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#flushing
    await this.#flush()
    this.#lose(this.#batch.length + this.#queue.size)
    this.#tellLost()
  }

  #schedule(inMs: number): void {
    if (this.#timer !== null || this.#flushing !== null) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#flushing = this.#flush().then((isWritten) => {
        this.#flushing = null
        this.#tellLost()
        const isEmpty = this.#batch.length === 0 && this.#queue.size === 0
        if (!this.#isClosing && !isEmpty)
          this.#schedule(isWritten ? GENERATIONS_FLUSH_MS : GENERATIONS_RETRY_MS)
      })
    }, inMs)
  }

  /** @returns false when the store is away */
  async #flush(): Promise<boolean> {
    for (;;) {
      if (this.#batch.length === 0) this.#batch = this.#queue.take(GENERATIONS_BATCH_ROWS)
      if (this.#batch.length === 0) return true
      if (!(await this.#write(this.#batch))) return false
      this.#batch = []
    }
  }

  /** @returns false when the store is away */
  async #write(batch: readonly Generation[]): Promise<boolean> {
    const { store, log, count } = this.#options
    try {
      await insertGenerations(store, batch)
      count('written', batch.length)
      return true
    } catch (cause) {
      if (isAway(cause)) return false
      // A record that the store will never take must not hold back the others; written twice it is one row.
      if (batch.length > 1) {
        for (const one of batch) if (!(await this.#write([one]))) return false
        return true
      }
      log.error('generations.refused', { cause })
      count('lost', 1)
      return true
    }
  }

  #lose(rows: number): void {
    if (rows === 0) return
    this.#lost += rows
    this.#options.count('lost', rows)
  }

  #tellLost(): void {
    if (this.#lost > 0) this.#options.log.warn('generations.lost', { rows: this.#lost })
    this.#lost = 0
  }
}

/**
 * A record that is there already stays as it is. Each column goes as one text with a line for each record:
 * Postgres reads that in three quarters of the time of a document of JSON. No value has a line end: JSON
 * writes it as an escape, and the others are ids.
 */
export async function insertGenerations(store: Store, batch: readonly Generation[]): Promise<void> {
  const lines = (of: (one: Generation) => string): string => batch.map((one) => lineOf(of(one))).join('\n')
  const ids = lines(({ id }) => id)
  const instants = lines(({ createdMs }) => String(createdMs))
  const organizations = lines(({ organizationId }) => organizationId)
  const workspaces = lines(({ workspaceId }) => workspaceId)
  const upstreamIds = lines(({ upstreamId }) => upstreamId ?? '')
  const facts = lines((one) => JSON.stringify(one.facts))
  const write = async () => {
    await store.within(
      GENERATIONS_WRITE_MS_MAX,
      (sql) => sql`
        INSERT INTO generations (id, created_at, organization_id, workspace_id, upstream_id, facts)
        SELECT id, to_timestamp(ms::float8 / 1000), organization::uuid, workspace::uuid, nullif(upstream, ''), facts::jsonb
        FROM ROWS FROM (
          string_to_table(${ids}, E'\n'), string_to_table(${instants}, E'\n'), string_to_table(${organizations}, E'\n'),
          string_to_table(${workspaces}, E'\n'), string_to_table(${upstreamIds}, E'\n'), string_to_table(${facts}, E'\n')
        ) AS r(id, ms, organization, workspace, upstream, facts)
        ON CONFLICT DO NOTHING`,
    )
  }
  await withDays(
    store,
    { daily: GENERATION_TABLE, instants: () => batch.map(({ createdMs }) => createdMs) },
    write,
  )
}

/** Another line would move the values of all records behind it, also to other organizations. */
function lineOf(value: string): string {
  if (value.includes('\n')) throw new Error('a value of a record has a line end')
  return value
}

interface Row {
  readonly id: string
  readonly created_ms: number
  readonly organization_id: string
  readonly workspace_id: string
  readonly upstream_id: string | null
  readonly facts: GenerationFacts
}

/** A provider may itself be a Sluice, so that its ids look alike: the call's own id comes first. */
async function find(sql: Sql, sought: GenerationSought): Promise<Outcome<Generation>> {
  const { organizationId, workspaceId, id } = sought
  const createdMs = generationMsOf(id)
  const ofOwner = sql`organization_id = ${organizationId} ${
    workspaceId === null ? sql`` : sql`AND workspace_id = ${workspaceId}`
  }`
  const columns = sql`id, extract(epoch FROM created_at)::float8 * 1000 AS created_ms, organization_id, workspace_id, upstream_id, facts`
  const [own] =
    createdMs === null
      ? []
      : await sql<Row[]>`
          SELECT ${columns} FROM generations
          WHERE id = ${id} AND created_at = to_timestamp(${createdMs}::float8 / 1000) AND ${ofOwner}`
  if (own !== undefined) return ok(generationOf(own))
  const [row] = await sql<Row[]>`
    SELECT ${columns} FROM generations WHERE upstream_id = ${id} AND ${ofOwner} ORDER BY created_at DESC LIMIT 1`
  return row === undefined ? fail('generation_unknown') : ok(generationOf(row))
}

function generationOf(row: Row): Generation {
  return {
    id: row.id,
    createdMs: Math.round(row.created_ms),
    organizationId: row.organization_id,
    workspaceId: row.workspace_id,
    upstreamId: row.upstream_id,
    facts: row.facts,
  }
}
