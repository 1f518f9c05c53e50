/**
 * A runner reduced to its webhooks: the real store, gate, secrets and sender, with a compressed clock. It is
 * killed at any moment.
 */
import { randomBytes } from 'node:crypto'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import { openEgress } from '../../../src/server/egress/egress.ts'
import { openWebhookSender, type WebhookTiming } from '../../../src/server/runner/webhooks/sender.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import { openStore } from '../../../src/server/store/base/open.ts'
import { openDeliveries } from '../../../src/server/store/webhooks/deliveries.ts'
import { openWebhookSecretRows } from '../../../src/server/store/webhooks/secrets.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { openWebhookSecrets } from '../../../src/server/vault/webhook-secrets.ts'
import { SILENT } from '../../support/log.ts'

export interface RunnerOrder {
  readonly databaseUrl: string
  readonly rootKey: string
  readonly ca: string
  readonly timing: Partial<WebhookTiming>
}

process.once('message', (order: RunnerOrder) => {
  const store = openStore({ url: order.databaseUrl, poolMax: 4, applicationName: 'sluice-prove-runner' })
  const rootKeys = openRootKeys({ setting: new Secret(order.rootKey), file: null, dataDir: '/nowhere' })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  const egress = openEgress({
    extraCa: [order.ca],
    allow: ['127.0.0.0/8'],
    resolve: () => Promise.resolve(['127.0.0.1']),
  })
  openWebhookSender({
    deliveries: openDeliveries({ store }),
    secrets: openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes }),
    egress,
    log: SILENT,
    meters: { attempt: () => undefined },
    views: { onWake: () => () => undefined },
    now: Date.now,
    random: Math.random,
    timing: order.timing,
  })
  process.send?.('ready')
})
process.on('disconnect', () => process.exit())
