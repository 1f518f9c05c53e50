import { endedBy } from '../../../schemas/values/call-ended.ts'
import { fail, ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import {
  QUOTA_STEP_BYTES,
  STORAGE_QUOTA_BYTES_DEFAULT,
  UPLOAD_LEASE_MS,
  UPLOAD_RENEW_MS,
} from '../../../schemas/files/file-limits.ts'
import { IDEMPOTENCY_WAIT_MS_MAX } from '../../../schemas/limits/idempotency-limits.ts'
import type { ClaimInput, PathClaim } from '../../ports/containers/container-rows.ts'
import type {
  Begun,
  FileFacts,
  FilePageInput,
  FileRecord,
  Files,
  PendingFile,
  UploadInput,
} from '../../ports/files/files.ts'
import { claimPath } from '../containers/container-sizes.ts'
import { tryBegin } from './file-begin.ts'
import {
  countedBytes,
  giveBack,
  isOurs,
  isYoungestHolder,
  release,
  reserveMore,
  settle,
  usageOf,
  type Held,
} from './file-quota.ts'
import { columnsOf, fileOf, fileRows, isExpired, listFiles, type FileRow } from './file-rows.ts'
import type { Store, Transaction } from '../base/open.ts'
import { Backoff, type BackoffOptions } from '../base/backoff.ts'
import { reach } from '../base/translate.ts'
import { Waiters, type Waiter } from '../base/waiters.ts'
import { openWriteLane, type WriteLane } from '../base/write-lane.ts'

/**
 * Milliseconds that a refusal for the quota waits for concurrent uploads to settle; twice as long while a
 * younger upload has reserved bytes. Decision.
 */
export const QUOTA_WAIT_MS_MAX = 10_000
/**
 * Milliseconds that a write waits for another write to the same path, or for the removal of its container,
 * before it fails with `busy`. Decision.
 */
export const CONTAINER_WAIT_MS_MAX = 10_000

export interface FilesOptions extends BackoffOptions {
  readonly store: Store
  /** For writes that change the quota of a workspace; left out: one of the store's own connections. */
  readonly lane?: WriteLane
  /** Quota of workspaces without their own quota. */
  readonly quotaBytes?: number
  readonly quotaWaitMs?: number
  readonly idempotencyWaitMs?: number
  readonly containerWaitMs?: number
  readonly leaseMs?: number
  /** The front that uploads: its uploads end when it dies. */
  readonly frontId?: string
  readonly renewMs?: number
}

/** Rows of files, and the leases of this process's uploads. */
export function openFiles(options: FilesOptions): Files {
  return new FileStore(options)
}

interface OwnUpload extends PendingFile {
  reservedBytes: number
}

class FileStore implements Files {
  readonly #options: FilesOptions
  readonly #quotaBytes: number
  readonly #leaseMs: number
  readonly #lane: WriteLane
  readonly #uploads = new Map<string, OwnUpload>()
  readonly #waiters = new Waiters()
  readonly #renewing: NodeJS.Timeout

  constructor(options: FilesOptions) {
    this.#options = options
    this.#lane = options.lane ?? openWriteLane(options.store)
    this.#quotaBytes = options.quotaBytes ?? STORAGE_QUOTA_BYTES_DEFAULT
    this.#leaseMs = options.leaseMs ?? UPLOAD_LEASE_MS
    // After a failed renewal three quarters of the lease remain for the next ones.
    this.#renewing = setInterval(
      () => void this.#renew().catch(() => undefined),
      options.renewMs ?? UPLOAD_RENEW_MS,
    ).unref()
  }

  async begin(input: UploadInput): Promise<Outcome<Begun>> {
    const backoff = new Backoff(this.#options)
    const waiter = this.#waiters.waiter(input)
    try {
      return await this.#begin(input, backoff, waiter)
    } finally {
      waiter.leave()
    }
  }

  async #begin(input: UploadInput, backoff: Backoff, waiter: Waiter): Promise<Outcome<Begun>> {
    for (;;) {
      const tried = await tryBegin(this.#lane, input, {
        quotaBytes: this.#quotaBytes,
        leaseMs: this.#leaseMs,
        frontId: this.#options.frontId ?? null,
      })
      if (!tried.ok) return tried
      const found = tried.value
      if (found.kind === 'replay') return ok(found)
      if (found.kind === 'new') return ok({ kind: 'new', upload: this.#own(input.workspaceId, found) })
      if (found.kind === 'mismatch') return fail('idempotency_mismatch')
      const isRunning = found.kind === 'running'
      const waitMs = isRunning
        ? (this.#options.idempotencyWaitMs ?? IDEMPOTENCY_WAIT_MS_MAX)
        : this.#quotaWaitMs
      const mayChange = isRunning || found.mayFit
      if (mayChange && waitMs > 0 && !waiter.enter()) return fail('busy', { retryAfterS: 1 })
      if (mayChange && (await backoff.wait(waitMs, input.signal))) continue
      if (input.signal?.aborted === true) return { ok: false, failure: endedBy(input.signal) }
      return isRunning ? fail('idempotency_running', { retryAfterS: 5 }) : full(found.quotaBytes)
    }
  }

  async extend(upload: PendingFile, bytes: number, signal?: AbortSignal): Promise<Outcome<null>> {
    const own = this.#uploads.get(upload.id)
    if (own === undefined) return fail('upload_lost')
    if (bytes <= own.reservedBytes) return ok(null)
    const backoff = new Backoff(this.#options)
    for (;;) {
      const taken = await this.#reserveUpTo(own, bytes)
      if (!taken.ok) return taken
      if (taken.value) return ok(null)
      const chance = await this.#chanceOf(own, countedBytes(bytes) - own.reservedBytes)
      if (!chance.ok) return chance
      const { mayFit, isYoungest, quotaBytes } = chance.value
      if (mayFit && (await backoff.wait(this.#quotaWaitMs * (isYoungest ? 1 : 2), signal))) continue
      if (signal?.aborted === true) return { ok: false, failure: endedBy(signal) }
      // Uploads that gave way or settled before the check above may have freed room.
      const last = await this.#reserveUpTo(own, bytes)
      if (!last.ok) return last
      return last.value ? ok(null) : full(quotaBytes)
    }
  }

  /** @returns true when the bytes are now reserved: a whole step, or only their number when a step no longer fits */
  async #reserveUpTo(own: OwnUpload, bytes: number): Promise<Outcome<boolean>> {
    for (const target of [Math.ceil(bytes / QUOTA_STEP_BYTES) * QUOTA_STEP_BYTES, countedBytes(bytes)]) {
      const more = { bytes: target - own.reservedBytes, quotaBytes: this.#quotaBytes }
      const reserved = await reach(async () =>
        ok(await this.#lane.within(own.workspaceId, (sql) => reserveMore(sql, own, more))),
      )
      if (!reserved.ok) return reserved
      if (!reserved.value) continue
      own.reservedBytes = target
      return ok(true)
    }
    return ok(false)
  }

  async commit(upload: PendingFile, facts: FileFacts): Promise<Outcome<FileRecord>> {
    const committed = await reach<FileRecord>(async () => {
      const row = await this.#lane.within(upload.workspaceId, (sql) =>
        sql.begin((tx) => this.#settleAndAdvance(tx, upload, facts)),
      )
      if (row !== null) return ok(fileOf(row))
      if (!(await isOurs(this.#sql, upload))) return fail('upload_lost')
      return full((await usageOf(this.#sql, upload.workspaceId, this.#quotaBytes)).quotaBytes)
    })
    if (committed.ok || committed.failure.name === 'upload_lost') this.#uploads.delete(upload.id)
    return committed
  }

  async claimPath(upload: PendingFile, to: ClaimInput): Promise<Outcome<PathClaim>> {
    const backoff = new Backoff(this.#options)
    const waiter = this.#waiters.waiter({ workspaceId: upload.workspaceId, idempotency: null })
    const waitMs = this.#options.containerWaitMs ?? CONTAINER_WAIT_MS_MAX
    try {
      for (;;) {
        const terms = { to, leaseMs: this.#leaseMs, quotaBytes: this.#quotaBytes }
        const tried = await reach(async () =>
          ok(await this.#lane.within(upload.workspaceId, (sql) => claimPath(sql, upload, terms))),
        )
        if (!tried.ok) return tried
        const found = tried.value
        if (found.kind === 'lost') return fail('upload_lost')
        if (found.kind === 'claimed') {
          this.#uploads.delete(upload.id)
          return ok(found.claim)
        }
        if (found.kind === 'short') {
          const extended = await this.extend(upload, found.needsBytes, to.signal)
          if (!extended.ok) return extended
          continue
        }
        if (waiter.enter() && (await backoff.wait(waitMs, to.signal))) continue
        return to.signal?.aborted === true
          ? { ok: false, failure: endedBy(to.signal) }
          : fail('busy', { retryAfterS: 1 })
      }
    } finally {
      waiter.leave()
    }
  }

  abandon(upload: PendingFile, mayHaveObject: boolean): Promise<Outcome<null>> {
    this.#uploads.delete(upload.id)
    return reach(async () =>
      ok(
        await this.#lane.within(upload.workspaceId, (sql) =>
          sql.begin((tx) => endUpload(tx, upload, mayHaveObject)),
        ),
      ),
    )
  }

  get(workspaceId: string, id: string): Promise<Outcome<FileRecord>> {
    return reach(async () => {
      const [row] = await this.#sql<FileRow[]>`
        SELECT * FROM files WHERE id = ${id} AND workspace_id = ${workspaceId} AND state = 'ready' AND NOT ${isExpired(this.#sql)}`
      return row === undefined ? fail('file_unknown') : ok(fileOf(row))
    })
  }

  list(
    workspaceId: string,
    { after, before = null, purpose = null, ids = null, limit }: FilePageInput,
  ): ReturnType<Files['list']> {
    return reach(async () => {
      const files = await listFiles(this.#sql, workspaceId, {
        after,
        before,
        purpose,
        ids,
        countMax: limit + 1,
      })
      // In reverse order the additional file is the first one.
      return ok({
        files: before === null ? files.slice(0, limit) : files.slice(-limit),
        hasMore: files.length > limit,
      })
    })
  }

  remove(workspaceId: string, id: string): Promise<Outcome<FileRecord>> {
    return reach(async () => {
      const file = await this.#lane.within(workspaceId, (sql) =>
        sql.begin((tx) => removeRow(tx, { workspaceId, id, isDue: false })),
      )
      return file === null ? fail('file_unknown') : ok(file)
    })
  }

  usage(workspaceId: string): ReturnType<Files['usage']> {
    return reach(async () => ok(await usageOf(this.#sql, workspaceId, this.#quotaBytes)))
  }

  close(): void {
    clearInterval(this.#renewing)
    this.#uploads.clear()
  }

  get #sql() {
    return this.#options.store.sql
  }

  get #quotaWaitMs(): number {
    return this.#options.quotaWaitMs ?? QUOTA_WAIT_MS_MAX
  }

  #own(
    workspaceId: string,
    { id, reservedBytes }: { readonly id: string; readonly reservedBytes: number },
  ): PendingFile {
    const upload: OwnUpload = { id, workspaceId, attempt: 1, reservedBytes }
    this.#uploads.set(id, upload)
    return upload
  }

  /**
   * Resolves a deadlock of uploads that wait for each other's reservations: only the youngest gives way first,
   * since less would be stored than fits if all did at once.
   * @returns true when other uploads may still free room for this many more bytes; `upload_lost` when another
   * process has the row
   */
  #chanceOf(
    own: OwnUpload,
    bytes: number,
  ): Promise<
    Outcome<{ readonly mayFit: boolean; readonly isYoungest: boolean; readonly quotaBytes: number }>
  > {
    return reach(async () => {
      if (!(await isOurs(this.#sql, own))) return fail('upload_lost')
      const isYoungest = await isYoungestHolder(this.#sql, own)
      const { usedBytes, reservedBytes, quotaBytes } = await usageOf(
        this.#sql,
        own.workspaceId,
        this.#quotaBytes,
      )
      const mayFit = reservedBytes > own.reservedBytes && usedBytes + own.reservedBytes + bytes <= quotaBytes
      return ok({ mayFit, isYoungest, quotaBytes })
    })
  }

  async #settleAndAdvance(tx: Transaction, upload: Held, facts: FileFacts): Promise<FileRow | null> {
    if (!(await settle(tx, upload, { sizeBytes: facts.sizeBytes, quotaBytes: this.#quotaBytes }))) return null
    const claim = { id: upload.id, attempt: upload.attempt, state: 'pending' as const }
    await fileRows.advance(tx, claim, 'ready', columnsOf(facts))
    const { expiresAfterS = null } = facts
    if (expiresAfterS !== null)
      await tx`UPDATE files SET expires_at = created_at + ${expiresAfterS} * interval '1 s' WHERE id = ${upload.id}`
    const [row] = await tx<FileRow[]>`SELECT * FROM files WHERE id = ${upload.id}`
    return row ?? null
  }

  /** Renews all leases in one statement. A row that another process took over fails at its commit. */
  async #renew(): Promise<void> {
    await fileRows.renewAll(this.#sql, [...this.#uploads.values()], this.#leaseMs)
  }
}

/** @param limit bytes that the workspace may store */
function full(limit: number): { readonly ok: false; readonly failure: Failure } {
  return fail('quota_exceeded', { fields: { limit }, metadata: { limit_source: 'workspace_storage', limit } })
}

async function endUpload(tx: Transaction, { id, attempt }: Held, mayHaveObject: boolean): Promise<null> {
  if (!(await release(tx, { id, attempt }))) return null
  if (!mayHaveObject) {
    await tx`DELETE FROM files WHERE id = ${id}`
    return null
  }
  await fileRows.advance(tx, { id, attempt, state: 'pending' }, 'abandoned', { lease_until: new Date(0) })
  return null
}

interface Removal {
  readonly workspaceId: string
  readonly id: string
  /** True: only when the file has expired, for the sweep; false: only when it has not. */
  readonly isDue: boolean
}

/**
 * Removes a file's row and frees its quota; a row with an `Idempotency-Key` is kept as `deleted`. @returns
 * null when the file no longer existed
 */
export async function removeRow(
  tx: Transaction,
  { workspaceId, id, isDue }: Removal,
): Promise<FileRecord | null> {
  const [row] = await tx<(FileRow & { readonly idempotency_id: string | null })[]>`
    UPDATE files SET state = 'deleted' WHERE id = ${id} AND workspace_id = ${workspaceId} AND state = 'ready'
      AND ${isExpired(tx)} = ${isDue} RETURNING *`
  if (row === undefined) return null
  await giveBack(tx, workspaceId, Number(row.size_bytes))
  if (row.idempotency_id === null) await tx`DELETE FROM files WHERE id = ${id}`
  return fileOf(row)
}
