import type { StaleUpload } from '../../ports/files/files.ts'
import { release } from './file-quota.ts'
import { fileRows } from './file-rows.ts'
import type { Transaction } from '../base/open.ts'

/**
 * Claims an upload whose lease ran out: the row becomes abandoned and its quota is freed in one transaction;
 * the holder of the claim removes the bytes.
 */
export async function claimStale(tx: Transaction, id: string, leaseMs: number): Promise<StaleUpload | null> {
  const claimed = await fileRows.claim(tx, id, leaseMs)
  if (claimed === null) return null
  if (claimed.state === 'pending') {
    await release(tx, claimed)
    await fileRows.advance(tx, claimed, 'abandoned')
  }
  const [row] = await tx<{ workspace_id: string }[]>`SELECT workspace_id FROM files WHERE id = ${id}`
  return { id, workspaceId: row?.workspace_id ?? '', attempt: claimed.attempt }
}
