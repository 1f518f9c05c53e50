import { ok, type Outcome } from '../../../../schemas/failures.ts'
import { FRONT_LIVE_MS } from '../../../../schemas/limits/limits.ts'
import type { Lender } from '../../../ports/money/lending.ts'
import type { ChangedBy } from '../../../ports/vault/vault.ts'
import { appendAudit } from '../../base/append-audit.ts'
import type { Store } from '../../base/open.ts'
import { reach } from '../../base/translate.ts'

export interface NodeJournals {
  /** True when the node has had a journal, or has a front. */
  readonly isKnown: boolean
  /** Ids of journals that are still open. */
  readonly open: readonly string[]
  /** Fronts that sent a heartbeat within FRONT_LIVE_MS. */
  readonly liveFronts: number
  /** Fronts that stopped sending heartbeats without removing their row: they may only be paused, not dead. */
  readonly silentFronts: number
}

export interface ClosedNode {
  readonly journals: number
  readonly forfeits: number
  /** Whole nano-USD, over all accounts. */
  readonly forfeitedNano: bigint
  readonly returnedNano: bigint
}

/** The state of a node, by its id. Failure: store_unavailable. */
export function journalsOf({ sql }: Store, node: string): Promise<Outcome<NodeJournals>> {
  return reach(async () => {
    const open = await sql<
      { id: string }[]
    >`SELECT id FROM journals WHERE node = ${node} AND state = 'open' ORDER BY opened_at, id`
    const [fronts] = await sql<{ live: number; silent: number }[]>`
      SELECT count(*) FILTER (WHERE is_live)::int AS live, count(*) FILTER (WHERE NOT is_live)::int AS silent
      FROM (SELECT heartbeat_at > clock_timestamp() - ${FRONT_LIVE_MS} * interval '1 ms' AS is_live FROM fronts WHERE node = ${node}) AS own`
    const [journal] = await sql`SELECT FROM journals WHERE node = ${node} LIMIT 1`
    const isKnown = journal !== undefined || (fronts?.live ?? 0) + (fronts?.silent ?? 0) > 0
    return ok({
      isKnown,
      open: open.map(({ id }) => id),
      liveFronts: fronts?.live ?? 0,
      silentFronts: fronts?.silent ?? 0,
    })
  })
}

/**
 * Ends the journals of a node that is lost together with its disk: money that its fronts held and that no
 * entry explains is forfeited. A second call does nothing. Failure: store_unavailable. Throws the lender's
 * errors.
 */
export async function closeNode(
  parts: { readonly store: Store; readonly lender: Lender },
  node: string,
  by: ChangedBy,
): Promise<Outcome<ClosedNode>> {
  const { store, lender } = parts
  const journals = await journalsOf(store, node)
  if (!journals.ok) return journals
  let [closed, forfeits, forfeitedNano, returnedNano] = [0, 0, 0n, 0n]
  for (const journalId of journals.value.open) {
    const report = await lender.close({ journalId, rest: null, open: [], isComplete: false })
    if (!report.isClosed) continue
    closed++
    forfeits += report.forfeits
    forfeitedNano += report.forfeitedNano
    returnedNano += report.returnedNano
  }
  const done: ClosedNode = { journals: closed, forfeits, forfeitedNano, returnedNano }
  return closed === 0
    ? ok(done)
    : reach(async () => {
        await note(store, { node, journals: journals.value.open, by })
        return ok(done)
      })
}

interface Noted {
  readonly node: string
  readonly journals: readonly string[]
  readonly by: ChangedBy
}

/** Writes one audit event for each organization, with only its own forfeits. */
async function note(store: Store, { node, journals, by }: Noted): Promise<void> {
  await store.sql.begin(async (tx) => {
    const rows = await tx<{ organization_id: string; forfeits: number; amount: string }[]>`
      SELECT organization_id, count(*)::int AS forfeits, sum(cost_nano)::text AS amount
      FROM ledger WHERE kind = 'forfeit' AND journal_id = ANY(string_to_array(${journals.join(',')}, ',')::uuid[]) GROUP BY organization_id`
    await appendAudit(
      tx,
      ...rows.map((row) => ({
        ...by,
        organizationId: row.organization_id,
        workspaceId: null,
        operation: 'cli.ledger-close-node',
        outcome: 'changed' as const,
        objectKind: 'node',
        objectId: node,
        before: null,
        after: { forfeits: row.forfeits, amount_nano: row.amount },
      })),
    )
  })
}
