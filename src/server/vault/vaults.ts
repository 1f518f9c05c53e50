import type { Caller } from '../../schemas/values/callers.ts'
import { fail, type FailureName, ok, type Outcome } from '../../schemas/failures.ts'
import { SECRETS_COPIED_MAX } from '../../schemas/vault/vault-limits.ts'
import type { SealedOut, SealedValue, ShortJobs } from '../ports/short-jobs.ts'
import type {
  SealedSecret,
  SecretFacts,
  SecretRows,
  StoredSecret,
  VaultForWriting,
  WrittenSecret,
} from '../ports/vault/secret-rows.ts'
import type { NewSecret, SecretMetadata, VaultActor, Vaults, VaultScope } from '../ports/vault/vault.ts'
import { FairSemaphore } from '../structures/fair-semaphore.ts'
import { sealedValue, wipe } from './sealed-value.ts'
import type { VaultKeys } from './vault-keys.ts'

/** Writes to vaults that one front has in progress in the store at once. Decision. */
export const VAULT_WRITES_MAX = 2
/** Writes to vaults that wait in one front. Decision. */
export const VAULT_WRITES_WAITING_MAX = 256
/** Attempts at a write while its vault changes. Decision. */
export const VAULT_WRITE_TRIES_MAX = 5
/** Writes to vaults of one workspace that wait in one front; `busy` beyond. Decision. */
export const VAULT_WRITES_WAITING_WORKSPACE_MAX = 128
/** Copies of secrets that wait in one front; `busy` beyond. Decision. */
export const COPIES_WAITING_MAX = 64
/** Copies of secrets of one workspace that wait in one front; `busy` beyond. Decision. */
export const COPIES_WAITING_WORKSPACE_MAX = 16

/**
 * Secrets that copies of one front hold at once: as many as the largest copy has. A hundred of the longest secrets take
 * 26 MiB, and two dozen such copies at once would take every connection and 600 MiB. Decision.
 */
const COPIED_AT_ONCE_MAX = SECRETS_COPIED_MAX

/** Milliseconds that a copy or a write waits for its turn; `busy` beyond. Decision. */
const TURN_WAIT_MS_MAX = 5_000

export interface VaultDeps {
  readonly rows: SecretRows
  readonly keys: VaultKeys
  readonly jobs: Pick<ShortJobs, 'run'>
  readonly turnWaitMs?: number
}

/** Secrets of vaults. They are sealed in the short-job pool, and written if the vault still has the keys that sealed them. */
export function openVaults(deps: VaultDeps): Vaults {
  const { rows, turnWaitMs: waitMs = TURN_WAIT_MS_MAX } = deps
  const copies = new FairSemaphore({
    places: COPIED_AT_ONCE_MAX,
    waitingMax: COPIES_WAITING_MAX,
    waitingOfOneMax: COPIES_WAITING_WORKSPACE_MAX,
    waitMs,
  })
  // In the store, writes of one vault would wait for each other, each with a connection. They wait here instead, so
  // that connections are left for keys, polls and releases.
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
 * sources in every attempt between the sealing and its commit.
 */
async function again<T>(attempt: () => Promise<Outcome<T | null>>): Promise<Outcome<T>> {
  for (let nth = 0; nth < VAULT_WRITE_TRIES_MAX; nth++) {
    const done = await attempt()
    // The vault was removed during the attempt: the next attempt finds out which object is gone, and its failure is returned.
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
  // A job that never ran has left the bytes in this thread.
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

/** Fills `into`, so that the caller can clear every key that was opened. Failures: secret_uncopyable, data_key_unavailable. */
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

/** Gathered puts may come from several keys, but they share the workspace. */
function callerFor({ organizationId, workspaceId }: VaultScope): Caller {
  return { organizationId, workspaceId, key: workspaceId }
}

function placeOf({ vaultId, workspaceId }: VaultForWriting): SealedValue['vault'] {
  return { vaultId, workspaceId }
}

/** Secrets of one vault that one front seals and commits together when they wait for each other. Decision. */
export const VAULT_WRITES_TOGETHER_MAX = 32
/** Characters of the secrets that are sealed and committed together, beyond the first secret. Decision. */
export const VAULT_WRITES_TOGETHER_CHARS_MAX = 1_048_576

export interface Put extends NewSecret {
  readonly by: VaultActor
}

/** Failures of one put only: the other puts of its commit may be stored. */
const OF_ONE: ReadonlySet<FailureName> = new Set(['vault_full', 'secret_exists', 'secret_unknown'])

type Stored = Outcome<SecretMetadata>

interface Waiting extends Put {
  readonly settle: (stored: Stored | Promise<Stored>) => void
}

interface GatheredPutsOptions {
  /** Stores all puts or none; the names are distinct. @returns the metadata in the order of the puts */
  store(scope: VaultScope, puts: readonly Put[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Puts that may wait in all vaults of one workspace. */
  readonly waitingOfOneMax: number
  /** Puts that may wait in all vaults of a front. */
  readonly waitingMax: number
}

/**
 * Gathers puts of secrets. A commit holds its vault while it waits for the disk. Puts that arrive meanwhile wait here,
 * and are then sealed and committed together, in the order of arrival. In an idle vault no put waits. Unlike a
 * `FairSemaphore`, this class combines the waiting work.
 */
export class GatheredPuts {
  readonly #options: GatheredPutsOptions
  /** Puts that wait for a running commit, by vault. */
  readonly #lines = new Map<string, Waiting[]>()
  /** Number of waiting puts by workspace: a workspace with many interns has many vaults. */
  readonly #waitingOf = new Map<string, number>()
  #waiting = 0

  constructor(options: GatheredPutsOptions) {
    this.#options = options
  }

  /** Failures: those of `store`, busy (too many puts wait). */
  put(scope: VaultScope, put: Put): Promise<Stored> {
    const { workspaceId } = scope
    const vault = [workspaceId, scope.internId ?? '', scope.attachableId ?? ''].join('/')
    const line = this.#lines.get(vault)
    const { waitingOfOneMax, waitingMax } = this.#options
    if (
      line !== undefined &&
      ((this.#waitingOf.get(workspaceId) ?? 0) >= waitingOfOneMax || this.#waiting >= waitingMax)
    ) {
      return Promise.resolve(fail('busy', { retryAfterS: 1 }))
    }
    return new Promise((settle) => {
      this.#count(workspaceId, 1)
      if (line !== undefined) line.push({ ...put, settle })
      else void this.#work(scope, vault, [{ ...put, settle }])
    })
  }

  #count(workspaceId: string, change: number): void {
    this.#waiting += change
    const left = (this.#waitingOf.get(workspaceId) ?? 0) + change
    if (left === 0) this.#waitingOf.delete(workspaceId)
    else this.#waitingOf.set(workspaceId, left)
  }

  async #work(scope: VaultScope, vault: string, line: Waiting[]): Promise<void> {
    this.#lines.set(vault, line)
    while (line.length > 0) {
      const together = line.splice(0, countTogether(line))
      this.#count(scope.workspaceId, -together.length)
      await this.#store(scope, together)
    }
    this.#lines.delete(vault)
  }

  /** Never rejects: a failure settles the puts that it concerns. */
  async #store(scope: VaultScope, together: readonly Waiting[]): Promise<void> {
    const stored = this.#options.store(scope, together)
    const isOfOne = await stored.then(
      (all) => !all.ok && OF_ONE.has(all.failure.name),
      () => false,
    )
    for (const [nth, put] of together.entries()) {
      // Each of these puts may succeed separately.
      if (isOfOne && together.length > 1) await this.#store(scope, [put])
      else put.settle(stored.then((all) => (all.ok ? only(all.value[nth]) : all)))
    }
  }
}

function only(secret: SecretMetadata | undefined): Stored {
  if (secret === undefined) throw new Error('internal: a stored secret was not reported')
  return ok(secret)
}

/** Counts the puts at the head of the line that can be stored together: distinct names, limited in number and characters. */
function countTogether(line: readonly Put[]): number {
  const names = new Set<string>()
  let chars = 0
  for (const { name, value } of line) {
    chars += value.reveal().length
    const isMore = names.size === VAULT_WRITES_TOGETHER_MAX || chars > VAULT_WRITES_TOGETHER_CHARS_MAX
    if (names.size > 0 && (isMore || names.has(name))) break
    names.add(name)
  }
  return names.size
}
