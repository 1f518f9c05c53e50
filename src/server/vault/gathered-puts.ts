import { fail, ok, type FailureName, type Outcome } from '../../schemas/failures.ts'
import type { NewSecret, SecretMetadata, VaultActor, VaultScope } from '../ports/vault/vault.ts'

/** Secrets of one vault that one front seals and commits together when they wait for each other. Decision. */
export const VAULT_WRITES_TOGETHER_MAX = 32
/** Characters of the secrets that are sealed and committed together, beyond the first secret. Decision. */
export const VAULT_WRITES_TOGETHER_CHARS_MAX = 1_048_576

export interface Put extends NewSecret {
  readonly by: VaultActor
}

/** Failures of one of the puts alone: the others of its commit may be stored. */
const OF_ONE: ReadonlySet<FailureName> = new Set(['vault_full', 'secret_exists', 'secret_unknown'])

type Stored = Outcome<SecretMetadata>

interface Waiting extends Put {
  readonly settle: (stored: Stored | Promise<Stored>) => void
}

export interface GatheredPutsOptions {
  /** Stores all puts or none; the names are distinct. @returns the metadata in the order of the puts */
  store(scope: VaultScope, puts: readonly Put[]): Promise<Outcome<readonly SecretMetadata[]>>
  /** Puts that may wait in all vaults of one workspace. */
  readonly waitingOfOneMax: number
  /** Puts that may wait in all vaults of a front. */
  readonly waitingMax: number
}

/**
 * Gathers puts of secrets. A commit holds its vault while it waits for the disk. Puts that come meanwhile
 * wait here, and are then sealed and committed together, in the order in which they came. In an idle vault no
 * put waits. Unlike a `FairSemaphore` this joins the work that waits.
 */
export class GatheredPuts {
  readonly #options: GatheredPutsOptions
  /** Puts that wait behind a running commit, by vault. */
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

  /** Never rejects: a problem settles the puts that it concerns. */
  async #store(scope: VaultScope, together: readonly Waiting[]): Promise<void> {
    const stored = this.#options.store(scope, together)
    const isOfOne = await stored.then(
      (all) => !all.ok && OF_ONE.has(all.failure.name),
      () => false,
    )
    for (const [nth, put] of together.entries()) {
      // Some of the puts may be stored by themselves.
      if (isOfOne && together.length > 1) await this.#store(scope, [put])
      else put.settle(stored.then((all) => (all.ok ? only(all.value[nth]) : all)))
    }
  }
}

function only(secret: SecretMetadata | undefined): Stored {
  if (secret === undefined) throw new Error('internal: a stored secret was not reported')
  return ok(secret)
}

/**
 * Counts the puts at the head of the line that go together: distinct names, limited in number and characters.
 */
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
