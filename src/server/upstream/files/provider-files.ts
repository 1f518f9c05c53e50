import { randomBytes } from 'node:crypto'
import { fail, ok } from '../../../schemas/failures.ts'
import type { KeyedProvider } from '../../../schemas/provider-keys.ts'
import type { Egress } from '../../ports/egress.ts'
import type { ProviderFiles } from '../../ports/file-hosts.ts'
import type { Intake } from '../../ports/intake.ts'
import type { Provider } from '../../ports/models.ts'
import type { ProviderKeys } from '../../ports/provider-keys.ts'
import { anthropicFiles } from './anthropic-files.ts'
import { FILES_TIMES, FilesLink, type FilesTimes } from './files-link.ts'
import { openAiFiles } from './openai-files.ts'
import type { FilesProtocol } from './protocol.ts'
import { ProviderHost } from './provider-host.ts'

const BOUNDARY_BYTES = 24

const PROTOCOLS: Readonly<Record<KeyedProvider, FilesProtocol>> = { openai: openAiFiles, anthropic: anthropicFiles }

export interface ProviderFilesOptions {
  readonly egress: Egress
  readonly keys: ProviderKeys
  readonly intake: Intake
  /** Those of the catalogue: the base URLs of `openai` and `anthropic` there take the place of the usual ones. */
  readonly providers: readonly Pick<Provider, 'slug' | 'baseUrl'>[]
  readonly times?: Partial<FilesTimes>
  readonly random?: (count: number) => Uint8Array
}

/** Files at providers, each workspace's under its own key. Contract B1.7, B2.7. */
export function createProviderFiles(
  { egress, keys, intake, providers, times, random = randomBytes }: ProviderFilesOptions,
): ProviderFiles {
  const boundary = (): string => `sluice-${Buffer.from(random(BOUNDARY_BYTES)).toString('hex')}`
  return {
    async of(workspaceId, provider) {
      const key = await keys.get(workspaceId, provider)
      if (!key.ok) return key
      const protocol = PROTOCOLS[provider]
      if (key.value === null) return fail('provider_key_missing', { fields: { provider: protocol.name, slug: provider } })
      const named = providers.find(({ slug }) => slug === provider)?.baseUrl ?? ''
      const baseUrl = named === '' ? protocol.baseUrl : named
      const link = new FilesLink({ egress, protocol, baseUrl, key: key.value, times: { ...FILES_TIMES, ...times } })
      return ok(new ProviderHost({ link, intake, boundary }))
    },
  }
}
