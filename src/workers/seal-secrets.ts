import { createHmac } from 'node:crypto'
import { lengthPrefixed, openValue, sealValue } from '../server/vault/envelope.ts'
import type { SecretFacts, VaultPlace } from '../server/ports/vault/secret-rows.ts'
import type { SealedOut, SealedValue, SealingKeys, ShortJobTypes } from '../server/ports/short-jobs.ts'

/** Fingerprint and envelope, under the keys of the vault. Every task here owns its input: keys and values are cleared on every path. */
export function sealSecrets({
  vault,
  keys,
  secrets,
}: ShortJobTypes['seal_secrets']['in']): readonly SealedOut[] {
  try {
    return secrets.map(({ facts, value }) => seal(value, keys, boundTo(vault, facts)))
  } finally {
    wipe(keys.fingerprint, keys.sealing, ...secrets.map(({ value }) => value))
  }
}

export function openSecret({
  vault,
  facts,
  sealed,
  sealingKey,
}: SealedValue): Uint8Array<ArrayBuffer> | null {
  try {
    const plain = openValue(sealingKey, sealed, boundTo(vault, facts))
    return plain === null ? null : moved(plain)
  } finally {
    wipe(sealingKey)
  }
}

/** Copies all or none. The plain values never leave this thread. */
export function copySecrets({ from, to }: ShortJobTypes['copy_secrets']['in']): readonly SealedOut[] | null {
  const copies: SealedOut[] = []
  try {
    for (const [nth, source] of from.entries()) {
      const plain = openSecret(source)
      if (plain === null) return null
      const facts = { ...source.facts, version: to.versions[nth] ?? '' }
      copies.push(seal(plain, to.keys, boundTo(to.vault, facts)))
      wipe(plain)
    }
    return copies
  } finally {
    wipe(to.keys.fingerprint, to.keys.sealing, ...from.map(({ sealingKey }) => sealingKey))
  }
}

/**
 * Seals a value again for the same place with the same facts, so that its fingerprint and version stay. Null when the
 * value does not open.
 */
export function resealSecret(from: SealedValue, sealingKey: Uint8Array): Uint8Array | null {
  try {
    const plain = openSecret(from)
    if (plain === null) return null
    const sealed = sealValue(sealingKey, plain, boundTo(from.vault, from.facts))
    wipe(plain)
    return sealed
  } finally {
    wipe(sealingKey)
  }
}

function seal(value: Uint8Array, keys: SealingKeys, aad: Uint8Array): SealedOut {
  const fingerprint = `sha256:${createHmac('sha256', keys.fingerprint).update(value).digest('hex')}`
  return { fingerprint, sealed: moved(sealValue(keys.sealing, value, aad)) }
}

/** The columns of the row that restrict where a value may be sent: after an edit of any of them, the value does not open. */
function boundTo({ workspaceId, vaultId }: VaultPlace, { name, hosts, version }: SecretFacts): Uint8Array {
  return lengthPrefixed('sluice secret', workspaceId, vaultId, name, String(hosts.length), ...hosts, version)
}

/**
 * Copies into a buffer of its own: a small buffer of Node is part of a pool, whose other bytes would be moved
 * or copied with it.
 */
function moved(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const own = new Uint8Array(bytes)
  bytes.fill(0)
  return own
}

function wipe(...secrets: readonly Uint8Array[]): void {
  for (const bytes of secrets) bytes.fill(0)
}
