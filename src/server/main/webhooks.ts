import { randomBytes } from 'node:crypto'
import type { Config } from '../config.ts'
import type { Metrics } from '../observe/metrics.ts'
import { createWebhookMeters } from '../observe/runner-metrics.ts'
import type { Egress } from '../ports/egress/egress.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type { Log } from '../ports/observe.ts'
import type { Ports } from '../ports/ports.ts'
import type { VideoViews } from '../ports/videos/videos.ts'
import type { DeliveryCounts, WebhookSecrets } from '../ports/webhooks/webhooks.ts'
import { restingClaim } from '../runner/resting-claims.ts'
import type { LookForOpen } from '../store/lifecycle/open-rows.ts'
import { repeat } from '../runner/repeat.ts'
import { openOperatorWebhooks } from '../runner/webhooks/operator-webhooks.ts'
import { openWebhookSender } from '../runner/webhooks/sender.ts'
import type { Store } from '../store/base/open.ts'
import { newId } from '../store/base/ids.ts'
import { openDeliveries } from '../store/webhooks/deliveries.ts'
import { openWebhookSecretRows } from '../store/webhooks/secrets.ts'
import { openWebhookTests } from '../store/webhooks/tests.ts'
import { openWebhookSecrets } from '../vault/webhook-secrets.ts'
import { openEndedEvents } from '../store/webhooks/outbox.ts'

export interface WebhookDeps {
  readonly store: Store
  readonly lookForOpen: LookForOpen
  readonly egress: Egress
  readonly keyRing: KeyRing
  readonly views: Pick<VideoViews, 'onWake'>
  readonly log: Log
  readonly metrics: Metrics
}

/** Milliseconds between two counts of deliveries. Decision. */
const WEBHOOKS_COUNT_MS = 15_000
/** Milliseconds between two rounds of pruning deliveries. Decision. */
const WEBHOOKS_PRUNE_MS = 600_000

/** Starts a runner's webhooks. @returns a function that ends them, to be called before the gate and the store are closed */
export function startWebhooks({
  store,
  lookForOpen,
  egress,
  keyRing,
  views,
  log,
  metrics,
}: WebhookDeps): () => Promise<void> {
  let counts: DeliveryCounts | null = null
  const deliveries = openDeliveries({ store })
  const secrets = secretsOf({ store, keyRing })
  const meters = createWebhookMeters(metrics.registry, () => counts)
  metrics.live.add({ deliveries: () => counts })
  const chores = [
    repeat(
      {
        name: 'webhooks_counted',
        everyMs: WEBHOOKS_COUNT_MS,
        async run() {
          counts = await deliveries.counts()
          return {}
        },
      },
      { log, random: Math.random },
    ),
    repeat(
      {
        name: 'webhooks_pruned',
        everyMs: WEBHOOKS_PRUNE_MS,
        run: async () => ({ rows: await deliveries.prune() }),
      },
      { log, random: Math.random },
    ),
  ]
  const claim = restingClaim({
    claim: deliveries.claim,
    isOpen: () => lookForOpen('webhooks'),
    nothing: [],
    isNothing: (found) => found.length === 0,
  })
  const sender = openWebhookSender({
    deliveries: { ...deliveries, claim },
    secrets,
    egress,
    views,
    log,
    meters,
    now: Date.now,
    random: Math.random,
  })
  return async () => {
    await Promise.all([sender.close(), ...chores.map((stop) => stop())])
  }
}

/** The part of a front with which operators test webhooks. */
export function openWebhookPorts(
  { publicOrigin }: Pick<Config, 'publicOrigin'>,
  { store, egress, keyRing }: Pick<WebhookDeps, 'store' | 'egress' | 'keyRing'>,
): Pick<Ports, 'operatorWebhooks'> {
  const events = openEndedEvents(store, publicOrigin)
  const secrets = secretsOf({ store, keyRing })
  const tests = openWebhookTests(store)
  return { operatorWebhooks: openOperatorWebhooks({ egress, secrets, events, tests, now: Date.now, newId }) }
}

function secretsOf({ store, keyRing }: Pick<WebhookDeps, 'store' | 'keyRing'>): WebhookSecrets {
  return openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes })
}
