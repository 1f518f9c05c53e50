import { ok } from '../../../schemas/failures.ts'
import type { WebhookTests } from '../../ports/webhooks/operator-webhooks.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Store, Queryable, Transaction } from '../base/open.ts'
import { reach } from '../base/translate.ts'

export function openWebhookTests({ sql }: Store): WebhookTests {
  return {
    begin: ({ organizationId, workspaceId, url, eventId, host }, by) =>
      reach(async () => {
        if (await isUrlDisabled(sql, { workspaceId, url })) return ok(false)
        await sql.begin((tx) =>
          appendAudit(tx, {
            ...by,
            organizationId,
            workspaceId,
            outcome: 'released',
            objectKind: 'webhook_test',
            objectId: eventId,
            before: null,
            // The rest of the URL may be a secret of the caller.
            after: { host },
          }),
        )
        return ok(true)
      }),
  }
}

/** Lets the URLs of these deliveries be tried again, though they answered 410. */
export async function enableUrlsOf(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx`
    DELETE FROM webhook_disabled x USING webhook_deliveries d
    WHERE d.id IN ${tx(ids)} AND x.workspace_id = d.workspace_id AND x.url = d.url`
}

async function isUrlDisabled(
  sql: Queryable,
  { workspaceId, url }: { readonly workspaceId: string; readonly url: string },
): Promise<boolean> {
  const [row] = await sql`SELECT 1 FROM webhook_disabled WHERE workspace_id = ${workspaceId} AND url = ${url}`
  return row !== undefined
}
