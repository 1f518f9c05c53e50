import { ok } from '../../../schemas/failures.ts'
import type { WebhookTests } from '../../ports/webhooks/operator-webhooks.ts'
import { appendAudit } from '../base/append-audit.ts'
import type { Store } from '../base/open.ts'
import { reach } from '../base/translate.ts'
import { isUrlDisabled } from './disabled.ts'

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
