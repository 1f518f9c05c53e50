import { randomBytes } from 'node:crypto'
import { v7 } from 'uuid'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** UUIDv7: rows of one table lie in order of birth. Contract C9. */
export function newId(): string {
  return v7()
}

/** Asked before a reference reaches a `uuid` column, which throws at anything else. */
export function isId(text: string): boolean {
  return UUID.test(text)
}

/** `file_`, the millisecond in hex, 80 random bits: sortable by time and not to be guessed. C9. */
export function newFileId(): string {
  return `file_${Date.now().toString(16).padStart(12, '0')}${randomBytes(10).toString('hex')}`
}
