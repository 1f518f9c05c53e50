import type { SweepRecord } from '../../ports/operator/admin.ts'
import type { Queryable } from '../base/open.ts'

/** The runner that swept: the slot of a node, whichever process that is now. */
export interface Sweeper {
  readonly node: string
  readonly slot: number
}

/** Replaces the stored report of a runner's last sweep. Throws the errors of Postgres. */
export async function keepSweep(
  sql: Queryable,
  { node, slot }: Sweeper,
  report: SweepRecord['report'],
): Promise<void> {
  await sql`
    INSERT INTO sweep_reports (node, slot, ended_at, report) VALUES (${node}, ${slot}, clock_timestamp(), ${sql.json(report)})
    ON CONFLICT (node, slot) DO UPDATE SET ended_at = excluded.ended_at, report = excluded.report`
}

/** The last sweep of all runners. */
export async function lastSweep(sql: Queryable): Promise<SweepRecord | null> {
  const [row] = await sql<
    SweepRecord[]
  >`SELECT ended_at AS "endedAt", report FROM sweep_reports ORDER BY ended_at DESC LIMIT 1`
  return row === undefined ? null : { endedAt: row.endedAt, report: row.report }
}
