/** Real receivers over HTTPS, a real outbox, and senders whose clock is compressed. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Secret } from '../../../src/schemas/vault/secret.ts'
import type { WebhookReason } from '../../../src/schemas/webhooks/webhook-deliveries.ts'
import { openEgress, type EgressOptions } from '../../../src/server/egress/egress.ts'
import type { NewDelivery, WebhookSecrets } from '../../../src/server/ports/webhooks/webhooks.ts'
import type { VideoWake } from '../../../src/server/ports/videos/videos.ts'
import {
  openWebhookSender,
  type WebhookSender,
  type WebhookSenderOptions,
  type WebhookTiming,
} from '../../../src/server/runner/webhooks/sender.ts'
import { openDataKeys } from '../../../src/server/store/vault/data-keys.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { openDeliveries } from '../../../src/server/store/webhooks/deliveries.ts'
import { openWebhookSecretRows } from '../../../src/server/store/webhooks/secrets.ts'
import { openKeyRing } from '../../../src/server/vault/key-ring.ts'
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { openWebhookSecrets } from '../../../src/server/vault/webhook-secrets.ts'
import { startAuthority, type Authority } from '../wire/certificate-authority.ts'
import { openFileStand } from '../files/files.ts'
import { keptLog } from '../log.ts'
import type { Teardown } from '../teardown.ts'
import { startTarget, type Target } from '../egress/vetted-stand.ts'
import { delivery, outboxed } from './webhooks.ts'
import { until } from '../wait.ts'

/** A delivery that a receiver got. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export type Answer = (res: ServerResponse, nth: number, received: Received) => void

export interface Receiver extends Target {
  readonly received: readonly Received[]
  /** From now on it answers so; the first is number 0. */
  answerWith(answer: Answer): void
  url(host?: string, path?: string): string
}

/** Every name below hooks.example may be its own. */
export async function startReceiver(t: Teardown, authority: Authority): Promise<Receiver> {
  const target = await startTarget(authority.issue(['DNS:*.hooks.example']))
  t.teardown(() => target.close())
  const received: Received[] = []
  let answer: Answer = (res) => void res.writeHead(204).end()
  target.answer((req, res) => {
    const pieces: Buffer[] = []
    req
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        const reported = { path: req.url ?? '', headers: req.headers, body: Buffer.concat(pieces) }
        received.push(reported)
        answer(res, received.length - 1, reported)
      })
  })
  return Object.assign(Object.create(target) as Target, {
    received,
    answerWith: (next: Answer) => void (answer = next),
    url: (host = 'a', path = '/in?token=hush') => `https://${host}.hooks.example:${target.port}${path}`,
  })
}

/**
 * Eight attempts, as the contract has them, within a second; each may take as long as a slow machine does.
 */
export const COMPRESSED: Partial<WebhookTiming> = {
  attemptMs: 20_000,
  leaseMs: 60_000,
  sweepMs: 20,
  pauseMs: 10,
  delaysMs: [10, 20, 30, 40, 50, 60, 70],
}

export interface WebhookStand {
  readonly store: Store
  readonly workspaceId: string
  readonly otherWorkspaceId: string
  readonly authority: Authority
  readonly receiver: Receiver
  readonly secrets: WebhookSecrets
  readonly log: ReturnType<typeof keptLog>
  readonly outcomes: ('delivered' | WebhookReason)[]
  readonly egress: ReturnType<typeof openEgress>
  start(more?: Partial<WebhookSenderOptions>): WebhookSender
  wake(what?: VideoWake): void
  /** Puts a delivery to the receiver into the outbox. */
  tell(more?: Partial<NewDelivery>): Promise<NewDelivery>
  rows(): Promise<readonly Row[]>
  /** Resolves when no delivery waits any more. */
  settled(): Promise<readonly Row[]>
}

export interface Row {
  readonly url: string
  readonly state: string
  readonly tries: number
  readonly last_status: number | null
  readonly last_reason: string | null
}

export async function openWebhookStand(t: Teardown, options: EgressOptions = {}): Promise<WebhookStand> {
  const { store, workspaceId, otherWorkspaceId } = await openFileStand(t)
  const authority = startAuthority(t)
  const receiver = await startReceiver(t, authority)
  const egress = openEgress({
    extraCa: [authority.root],
    allow: ['127.0.0.0/8'],
    resolve: () => Promise.resolve(['127.0.0.1']),
    ...options,
  })
  t.teardown(() => egress.close())
  const secrets = openSecrets(store)
  const log = keptLog()
  const outcomes: ('delivered' | WebhookReason)[] = []
  const reported = new Set<(what: VideoWake) => void>()
  const { deliveries, isBooking } = openCountedDeliveries(store)
  const rows = (): Promise<readonly Row[]> => rowsOf(store)
  return {
    store,
    workspaceId,
    otherWorkspaceId,
    authority,
    receiver,
    secrets,
    log,
    outcomes,
    egress,
    rows,
    start(more = {}) {
      const sender = openWebhookSender({
        deliveries,
        secrets,
        egress,
        log,
        now: Date.now,
        random: Math.random,
        timing: COMPRESSED,
        views: { onWake: (one) => (reported.add(one), () => void reported.delete(one)) },
        meters: { attempt: (outcome) => void outcomes.push(outcome) },
        ...more,
      })
      t.teardown(() => sender.close())
      return sender
    },
    wake: (what = { kind: 'webhooks' }) => {
      for (const one of reported) one(what)
    },
    async tell(more = {}) {
      const made = delivery(workspaceId, { url: receiver.url(), jobId: randomUUID(), ...more })
      await outboxed(store, [made])
      return made
    },
    async settled() {
      let found = await rows()
      await until('no delivery waits', async () => {
        found = await rows()
        // A row may be read before the sender learns that it is written, and only then reports it.
        return found.every(({ state }) => state !== 'waiting') && !isBooking()
      })
      return found
    },
  }
}

/** Secrets of webhooks under a root key of their own. */
function openSecrets(store: Store): WebhookSecrets {
  const rootKeys = openRootKeys({
    setting: new Secret(randomBytes(32).toString('hex')),
    file: null,
    dataDir: '/nowhere',
  })
  const keyRing = openKeyRing({ rootKeys, rows: openDataKeys(store) })
  return openWebhookSecrets({ rows: openWebhookSecretRows(store), keyRing, randomBytes })
}

/** Deliveries that know whether a sender waits for the write of an attempt. */
function openCountedDeliveries(store: Store): {
  readonly deliveries: ReturnType<typeof openDeliveries>
  readonly isBooking: () => boolean
} {
  let booking = 0
  const deliveries = openDeliveries({ store })
  return {
    deliveries: {
      ...deliveries,
      async book(...how) {
        booking++
        try {
          return await deliveries.book(...how)
        } finally {
          booking--
        }
      },
    },
    isBooking: () => booking > 0,
  }
}

async function rowsOf(store: Store): Promise<readonly Row[]> {
  const found = await store.sql<
    Row[]
  >`SELECT url, state, tries, last_status, last_reason FROM webhook_deliveries ORDER BY id`
  return found.map((row) => ({ ...row }))
}
