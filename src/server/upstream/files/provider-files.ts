import { randomBytes } from 'node:crypto'
import { fail, ok, type Outcome } from '../../../schemas/failures.ts'
import {
  isProviderKey,
  providerKeyHost,
  providerKeyName,
  type FileProvider,
} from '../../../schemas/workspaces/provider-keys.ts'
import type { Secret } from '../../../schemas/vault/secret.ts'
import type { Egress } from '../../ports/egress/egress.ts'
import type { FilesCaller, ProviderFiles } from '../../ports/files/file-hosts.ts'
import type { Intake } from '../../ports/files/intake.ts'
import type { Provider } from '../../ports/models/models.ts'
import type { SecretReleases } from '../../ports/vault/vault.ts'
import { anthropicFiles } from './anthropic-files.ts'
import { FILES_TIMES, FilesLink, type FilesTimes } from './files-link.ts'
import { openAiFiles } from './openai-files.ts'
import type { FilesProtocol } from './protocol.ts'
import { ProviderHost } from './provider-host.ts'

const BOUNDARY_BYTES = 24

const PROTOCOLS: Readonly<Record<FileProvider, FilesProtocol>> = {
  openai: openAiFiles,
  anthropic: anthropicFiles,
}

export interface ProviderFilesOptions {
  readonly egress: Egress
  readonly releases: SecretReleases
  readonly intake: Intake
  /** Providers of the catalogue: the base URLs of its `openai` and `anthropic` replace the default ones. */
  readonly providers: readonly Pick<Provider, 'slug' | 'baseUrl'>[]
  readonly times?: Partial<FilesTimes>
  readonly random?: (count: number) => Uint8Array
}

/** Files at providers; each workspace has its files under its own key. Contract B1.7, B2.7. */
export function createProviderFiles({
  egress,
  releases,
  intake,
  providers,
  times,
  random = randomBytes,
}: ProviderFilesOptions): ProviderFiles {
  const boundary = (): string => `sluice-${Buffer.from(random(BOUNDARY_BYTES)).toString('hex')}`
  return {
    async of(caller, provider) {
      const protocol = PROTOCOLS[provider]
      const baseUrl = filesAddress(provider, providers)
      const key = await keyOf(caller, { slug: provider, name: protocol.name, baseUrl }, releases)
      if (!key.ok) return key
      const link = new FilesLink({
        egress,
        protocol,
        baseUrl,
        key: key.value,
        times: { ...FILES_TIMES, ...times },
      })
      return ok(new ProviderHost({ link, intake, boundary }))
    },
  }
}

/** Address of a provider's files: the one of the catalogue, else the default. */
export function filesAddress(provider: FileProvider, providers: ProviderFilesOptions['providers']): string {
  const named = providers.find(({ slug }) => slug === provider)?.baseUrl ?? ''
  return named === '' ? PROTOCOLS[provider].baseUrl : named
}

/**
 * The workspace's key for a provider. Failures: provider_key_missing, provider_key_unfit, and those of a
 * release.
 */
async function keyOf(
  { scope, operation, by }: FilesCaller,
  { slug, name, baseUrl }: Pick<Provider, 'slug' | 'name' | 'baseUrl'>,
  releases: SecretReleases,
): Promise<Outcome<Secret>> {
  const secret = providerKeyName(slug)
  const host = providerKeyHost(baseUrl)
  const missing = fail('provider_key_missing', {
    fields: { provider: name, slug, secret, host: host ?? new URL(baseUrl).hostname },
  })
  if (host === null) return missing
  const released = await releases.release({ scope, name: secret, host, operation, by })
  if (!released.ok) return released.failure.name === 'secret_not_released' ? missing : released
  return isProviderKey(released.value.reveal())
    ? released
    : fail('provider_key_unfit', { fields: { secret } })
}
