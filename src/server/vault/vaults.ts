import type { Caller } from '../../schemas/values/callers.ts'
import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import {
  COPIES_WAITING_MAX,
  COPIES_WAITING_WORKSPACE_MAX,
  SECRETS_COPIED_MAX,
  VAULT_WRITE_TRIES_MAX,
  VAULT_WRITES_MAX,
  VAULT_WRITES_WAITING_MAX,
  VAULT_WRITES_WAITING_WORKSPACE_MAX,
} from '../../schemas/vault/vault-limits.ts'
import type { SealedOut, SealedValue, ShortJobs } from '../ports/short-jobs.ts'
import type {
  SealedSecret,
  SecretFacts,
  SecretRows,
  StoredSecret,
  VaultForWriting,
  WrittenSecret,
} from '../ports/vault/secret-rows.ts'
import type { Vaults, VaultScope } from '../ports/vault/vault.ts'
import { GatheredPuts, type Put } from './gathered-puts.ts'
import { sealedValue, wipe } from './sealed-value.ts'
import { FairSemaphore } from '../structures/fair-semaphore.ts'
import type { VaultKeys } from './vault-keys.ts'

/**
 * Secrets that copies of one front hold at once: as many as the largest copy has. A hundred of the longest
 * secrets are 26 MiB, and two dozen such copies at once take every connection and 600 MiB. Decision.
 */
const COPIED_AT_ONCE_MAX = SECRETS_COPIED_MAX

/** Milliseconds that a copy or a write waits for its place; `busy` beyond. Decision. */
const TURN_WAIT_MS_MAX = 5_000

export interface VaultDeps {
  readonly rows: SecretRows
  readonly keys: VaultKeys
  readonly jobs: Pick<ShortJobs, 'run'>
  readonly turnWaitMs?: number
}

/**
 * Secrets of vaults: sealed in the short-job pool, and written if the keys that sealed them are still the
 * vault's.
 */
export function openVaults(deps: VaultDeps): Vaults {
  const { rows, turnWaitMs: waitMs = TURN_WAIT_MS_MAX } = deps
  const copies = new FairSemaphore({
    places: COPIED_AT_ONCE_MAX,
    waitingMax: COPIES_WAITING_MAX,
    waitingOfOneMax: COPIES_WAITING_WORKSPACE_MAX,
    waitMs,
  })
  // Writes of one vault wait for each other in the store, where each holds a connection. They wait here
  // instead, so that keys, polls and releases find a connection.
  const writes = new FairSemaphore({
    places: VAULT_WRITES_MAX,
    waitingMax: VAULT_WRITES_WAITING_MAX,
    waitingOfOneMax: VAULT_WRITES_WAITING_WORKSPACE_MAX,
    waitMs,
  })
  const inTurn = <T>({ workspaceId }: VaultScope, work: () => Promise<Outcome<T>>) =>
    writes.within({ tenant: workspaceId }, work)
  const puts = new GatheredPuts({
    waitingMax: VAULT_WRITES_WAITING_MAX,
    waitingOfOneMax: VAULT_WRITES_WAITING_WORKSPACE_MAX,
    store: (scope, together) =>
      again(async () => {
        const vault = await rows.forWriting(scope, together.length)
        if (!vault.ok) return vault
        const sealed = await seal(deps, { scope, vault: vault.value }, together)
        if (!sealed.ok) return sealed
        const { keyId, secrets } = sealed.value
        return inTurn(scope, () =>
          rows.write({ scope, vaultId: vault.value.vaultId, keyId, secrets, copyOf: null }),
        )
      }),
  })
  return {
    see: (scope) => rows.see(scope),
    list: (scope, page) => rows.list(scope, page),
    among: (scope, names) => rows.among(scope, names),
    effective: (scope, page) => rows.effective(scope, page),
    remove: (scope, name, by) => inTurn(scope, () => rows.remove(scope, name, by)),
    put: (scope, request, by) => puts.put(scope, { ...request, by }),
    copy: (scope, names, by) =>
      copies.within({ tenant: scope.workspaceId, weight: names.length }, () =>
        again(async () => {
          const vault = await rows.forWriting(scope, names.length)
          if (!vault.ok) return vault
          const sources = await rows.sources(scope, names)
          if (!sources.ok) return sources
          const copied = await copy(deps, { scope, vault: vault.value }, sources.value)
          if (!copied.ok) return copied
          const { keyId, secrets } = copied.value
          const written = secrets.map((secret) => ({ ...secret, by }))
          return inTurn(scope, () =>
            rows.write({
              scope,
              vaultId: vault.value.vaultId,
              keyId,
              secrets: written,
              copyOf: sources.value,
            }),
          )
        }),
      ),
  }
}

/**
 * Repeats an attempt that returned null. Failure: busy, when other processes changed the vault's keys or the
 * sources between every sealing and its commit.
 */
async function again<T>(attempt: () => Promise<Outcome<T | null>>): Promise<Outcome<T>> {
  for (let nth = 0; nth < VAULT_WRITE_TRIES_MAX; nth++) {
    const done = await attempt()
    // The vault was removed during the attempt: the next attempt finds out what is gone, and its failure is
    // the caller's.
    if (!done.ok && done.failure.name === 'vault_unknown' && nth === 0) continue
    if (!done.ok) return done
    if (done.value !== null) return ok(done.value)
  }
  return fail('busy', { retryAfterS: 1 })
}

interface VaultToWrite {
  readonly scope: VaultScope
  readonly vault: VaultForWriting
}

async function seal(
  { keys, jobs }: VaultDeps,
  { scope, vault }: VaultToWrite,
  puts: readonly Put[],
): Promise<Outcome<{ readonly keyId: string; readonly secrets: readonly WrittenSecret[] }>> {
  const current = await keys.current(vault)
  if (!current.ok) return current
  const { fingerprint, sealing, sealingKeyId: keyId } = current.value
  const secrets = puts.map(({ name, hosts, value }, nth) => ({
    facts: { name, hosts, version: vault.versions[nth] ?? '' },
    value: new TextEncoder().encode(value.reveal()),
  }))
  const secretBytes = [fingerprint, sealing, ...secrets.map(({ value }) => value)]
  const input = { vault: placeOf(vault), keys: { fingerprint, sealing }, secrets }
  const more = { caller: callerFor(scope), transfer: secretBytes.map(({ buffer }) => buffer) }
  const sealed = await jobs.run('seal_secrets', input, more)
  // A job that never ran has left the bytes here.
  wipe(...secretBytes)
  return sealed.ok
    ? ok({ keyId, secrets: puts.map((put, nth) => written(put, secrets[nth], sealed.value[nth])) })
    : sealed
}

function written(
  { by, expects }: Put,
  secret: { readonly facts: SecretFacts } | undefined,
  sealed: SealedOut | undefined,
): WrittenSecret {
  if (secret === undefined || sealed === undefined) throw new Error('a secret was not sealed')
  return { ...secret.facts, ...sealed, by, ...(expects !== undefined && { expects }) }
}

async function copy(
  { keys, jobs }: VaultDeps,
  { scope, vault }: VaultToWrite,
  sources: readonly StoredSecret[],
): Promise<Outcome<{ readonly keyId: string; readonly secrets: readonly SealedSecret[] }>> {
  const from: SealedValue[] = []
  const current = await keys.current(vault)
  if (!current.ok) return current
  const { fingerprint, sealing, sealingKeyId: keyId } = current.value
  const copies = opened(keys, sources, from)
  const to = { vault: placeOf(vault), keys: { fingerprint, sealing }, versions: vault.versions }
  const secretBytes = [fingerprint, sealing, ...from.map(({ sealingKey }) => sealingKey)]
  const more = { caller: callerFor(scope), transfer: secretBytes.map(({ buffer }) => buffer) }
  const done = copies.ok ? await jobs.run('copy_secrets', { from, to }, more) : copies
  wipe(...secretBytes)
  if (!done.ok) return done
  if (done.value === null)
    return fail('data_key_unavailable', { cause: new Error('a secret to copy cannot be decrypted') })
  return ok({
    keyId,
    secrets: done.value.map((sealed, nth) => secretOf(from[nth], sealed, vault.versions[nth])),
  })
}

/**
 * Fills `into`, so that the caller can clear every key that was opened. Failures: secret_uncopyable,
 * data_key_unavailable.
 */
function opened(keys: VaultKeys, sources: readonly StoredSecret[], into: SealedValue[]): Outcome<null> {
  if (sources.some(({ hosts }) => hosts === null)) return fail('secret_uncopyable')
  for (const source of sources) {
    const value = sealedValue(keys, source)
    if (!value.ok) return value
    into.push(value.value)
  }
  return ok(null)
}

function secretOf(source: SealedValue | undefined, sealed: SealedOut, version = ''): SealedSecret {
  if (source === undefined) throw new Error('the source of a copied secret is missing')
  return { ...source.facts, ...sealed, version }
}

/** Gathered puts may come from several keys; the workspace is what they have in common. */
function callerFor({ organizationId, workspaceId }: VaultScope): Caller {
  return { organizationId, workspaceId, key: workspaceId }
}

function placeOf({ vaultId, workspaceId }: VaultForWriting): SealedValue['vault'] {
  return { vaultId, workspaceId }
}
