import { randomUUID } from 'node:crypto'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import { secretTextOf } from '../../schemas/webhooks/webhook-signatures.ts'
import type { KeyRing } from '../ports/vault/key-ring.ts'
import type {
  SealedWebhookSecret,
  WebhookSecret,
  WebhookSecretRows,
  WebhookSecrets,
} from '../ports/webhooks/webhooks.ts'
import { lengthPrefixed, openValue, sealValue } from './envelope.ts'

/** Random bytes of a signing secret; Standard Webhooks requires 24 to 64. Decision. */
export const WEBHOOK_SECRET_BYTES = 32

export interface WebhookSecretDeps {
  readonly rows: WebhookSecretRows
  readonly keyRing: KeyRing
  readonly randomBytes: (count: number) => Uint8Array
}

/**
 * Signing secrets of workspaces, opened for each request: none is cached, so that a replaced secret signs nothing after
 * its expiry. Concurrent requests share one read.
 */
export function openWebhookSecrets(deps: WebhookSecretDeps): WebhookSecrets {
  const { rows } = deps
  const looks = new Map<string, Promise<Outcome<readonly WebhookSecret[]>>>()
  const look = async (workspaceId: string): Promise<Outcome<readonly WebhookSecret[]>> => {
    const found = await rows.signing(workspaceId)
    if (!found.ok) return found
    if (found.value.some(({ signsUntil }) => signsUntil === null)) return openAll(deps, found.value)
    const made = await makeSecret(deps, workspaceId)
    if (!made.ok) return made
    // Another process may have added a secret first: every process then uses that secret.
    const kept = await rows.addFirst(made.value)
    return kept.ok ? openAll(deps, kept.value) : kept
  }
  return {
    current(workspaceId) {
      const running = looks.get(workspaceId)
      if (running !== undefined) return running
      const looking = look(workspaceId).finally(() => looks.delete(workspaceId))
      looks.set(workspaceId, looking)
      return looking
    },
    async rotate(workspaceId, overlapMs, by) {
      const made = await makeSecret(deps, workspaceId)
      if (!made.ok) return made
      const kept = await rows.replace(made.value, overlapMs, by)
      return kept.ok ? openAll(deps, kept.value) : kept
    },
  }
}

async function makeSecret(
  { keyRing, randomBytes }: WebhookSecretDeps,
  workspaceId: string,
): Promise<Outcome<SealedWebhookSecret>> {
  const dataKey = await keyRing.current(workspaceId, 'webhooks')
  if (!dataKey.ok) return dataKey
  const place = { id: randomUUID(), workspaceId }
  const plain = Buffer.from(secretTextOf(randomBytes(WEBHOOK_SECRET_BYTES)))
  const sealed = sealValue(dataKey.value.key, plain, boundTo(place))
  plain.fill(0)
  dataKey.value.key.fill(0)
  return ok({ ...place, dataKeyId: dataKey.value.id, sealed, signsUntil: null })
}

async function openAll(
  { keyRing }: WebhookSecretDeps,
  secrets: readonly SealedWebhookSecret[],
): Promise<Outcome<readonly WebhookSecret[]>> {
  const opened: WebhookSecret[] = []
  for (const secret of secrets) {
    const dataKey = await keyRing.byId(secret.workspaceId, 'webhooks', secret.dataKeyId)
    if (!dataKey.ok) return dataKey
    const plain = openValue(dataKey.value.key, secret.sealed, boundTo(secret))
    dataKey.value.key.fill(0)
    if (plain === null)
      return fail('data_key_unavailable', {
        cause: new Error(`webhook secret ${secret.id} cannot be decrypted`),
      })
    opened.push({ text: plain.toString(), signsUntil: secret.signsUntil })
    plain.fill(0)
  }
  return ok(opened)
}

/** Binds a secret to its place: a secret that was moved to another workspace or row cannot be decrypted. */
function boundTo({ id, workspaceId }: Pick<SealedWebhookSecret, 'id' | 'workspaceId'>): Buffer {
  return lengthPrefixed('sluice webhook secret', workspaceId, id)
}
