import { fail, ok, type Outcome } from '../../schemas/failures.ts'
import type { Repeatable } from '../../schemas/idempotency.ts'
import type { ShownFile } from '../../schemas/files/files.ts'
import type { Upload } from '../ports/byte-streams.ts'
import type { FileHost, HostedUpload, ProviderFiles } from '../ports/files/file-hosts.ts'
import type { Idempotency, KeptAnswer, IdempotencyClaim } from '../ports/idempotency.ts'
import type { Intake } from '../ports/files/intake.ts'
import type { StoreInput } from '../ports/files/transfer.ts'
import { digestOf } from './receive.ts'

export interface KeepingDeps {
  readonly idempotency: Idempotency
  readonly intake: Intake
}

/**
 * Files at providers whose uploads may be repeated. Sluice has no row for such a file, so the description that
 * the provider gave is kept. As with Sluice's own storage, the body of a repetition is read and compared but
 * never sent, whatever happened to the file since.
 */
export function keepUploads(providerFiles: ProviderFiles, deps: KeepingDeps): ProviderFiles {
  return {
    async of(caller, provider) {
      const host = await providerFiles.of(caller, provider)
      return host.ok ? ok(keeping(host.value, deps)) : host
    },
  }
}

function keeping(host: FileHost, deps: KeepingDeps): FileHost {
  return {
    store: (upload, input) =>
      input.idempotency === null
        ? host.store(upload, input)
        : storeOnce(host, deps, { upload, input, idempotency: input.idempotency }),
    list: (input) => host.list(input),
    get: (id, signal) => host.get(id, signal),
    open: (id, signal) => host.open(id, signal),
    remove: (id, signal) => host.remove(id, signal),
  }
}

interface KeyedUpload {
  readonly upload: Upload
  readonly input: StoreInput
  readonly idempotency: Repeatable
}

async function storeOnce(
  host: FileHost,
  deps: KeepingDeps,
  { upload, input, idempotency }: KeyedUpload,
): Promise<Outcome<HostedUpload>> {
  const { workspaceId, signal } = input
  const begun = await deps.idempotency.begin({ idempotency, holder: workspaceId, signal })
  if (!begun.ok) return begun
  if (begun.value.kind === 'first')
    return storeFirst(host, deps.idempotency, { upload, input, claim: begun.value.claim })
  const { answer } = begun.value
  const sha256 = await digestOf(deps.intake, upload, workspaceId)
  if (!sha256.ok) return sha256
  return sha256.value === answer.bodySha256
    ? ok({ file: fileOf(answer), sha256: sha256.value, isReplay: true })
    : fail('idempotency_mismatch')
}

async function storeFirst(
  host: FileHost,
  idempotency: Idempotency,
  {
    upload,
    input,
    claim,
  }: { readonly upload: Upload; readonly input: StoreInput; readonly claim: IdempotencyClaim },
): Promise<Outcome<HostedUpload>> {
  let isKept = false
  try {
    const stored = await host.store(upload, input)
    if (stored.ok) {
      await idempotency.remember(claim, {
        bodySha256: stored.value.sha256,
        json: JSON.stringify(stored.value.file),
      })
      isKept = true
    }
    return stored
  } finally {
    if (!isKept) await idempotency.forget(claim)
  }
}

/** Parses what `storeFirst` wrote; only the instants are texts in the JSON. */
function fileOf({ json }: KeptAnswer): ShownFile {
  const described = JSON.parse(json) as Omit<ShownFile, 'createdAt' | 'expiresAt'> & {
    readonly createdAt: string
    readonly expiresAt?: string | null
  }
  const { createdAt, expiresAt = null } = described
  return {
    ...described,
    createdAt: new Date(createdAt),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  }
}
