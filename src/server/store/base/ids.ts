import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'
import type { Fragment } from './guarded-row.ts'
import type { Queryable } from './open.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** UUIDv7: rows of one table are ordered by creation. */
export function newId(): string {
  return v7()
}

/** To be checked before a reference reaches a `uuid` column, which throws at any other text. */
export function isId(text: string): boolean {
  return UUID.test(text)
}

/**
 * A subquery of these ids. The ids are sent as one text, so that one prepared statement serves any number of
 * them; the client cannot send arrays without knowing their types.
 */
export function idList(sql: Queryable, ids: readonly string[]): Fragment {
  return sql`(SELECT unnest(string_to_array(${ids.join(',')}, ',')::uuid[]))`
}

/** Ids that are sortable by time and cannot be guessed: the millisecond in hex, 80 random bits. */
export function newFileId(): string {
  return `file_${sortable()}`
}

export function newVideoId(): string {
  return `vid_${sortable()}`
}

const VIDEO_ID = /^vid_[0-9a-f]{32}$/

export function isVideoId(text: string): boolean {
  return VIDEO_ID.test(text)
}

function sortable(): string {
  return `${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`
}

/** An id with the prefix `gen_`, created in the same way as a file id. */
export function newGenerationId(): string {
  return `gen_${sortable()}`
}
