import type { AuditRow } from '../../ports/audit/audit.ts'

/** JSON of an audit event: the text of its row, as it was hashed, and the hash. */
export function auditEventText({ text, hash }: Pick<AuditRow, 'text' | 'hash'>): string {
  return `${text.slice(0, text.lastIndexOf('}'))}, "hash": "${hash}"}`
}
