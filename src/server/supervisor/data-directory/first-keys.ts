import type { FirstKeys } from '../../ports/keys/keys.ts'
import type { Log } from '../../ports/observe.ts'
import type { DataDirectory } from './data-directory.ts'
import type { BannerKeys } from '../banner.ts'

/** File with the keys of the first start, the one exception to "shown once". */
export const FIRST_KEYS_FILE = 'first-keys.json'

/**
 * Creates an organization, its workspace `default` and two keys in a store without an organization.
 * @param make calls `keep` before it commits, so that no key is lost in between; null when the store has an
 * organization
 */
export async function firstKeys(
  data: DataDirectory,
  { baseUrl, log }: { readonly baseUrl: string; readonly log: Log },
  make: (keep: (keys: FirstKeys) => Promise<void>) => Promise<FirstKeys | null>,
): Promise<BannerKeys> {
  const made = await make((keys) => Promise.resolve(write(data, baseUrl, keys)))
  const text = data.read(FIRST_KEYS_FILE)
  if (made === null && text !== null && !refresh(data, baseUrl, text)) {
    log.warn('first_keys_unreadable', { file: FIRST_KEYS_FILE, effect: 'the file is left unchanged' })
  }
  return {
    inference: made?.inferenceKey ?? null,
    management: made?.managementKey ?? null,
    file: text === null ? null : `${data.path}/${FIRST_KEYS_FILE}`,
  }
}

function write(data: DataDirectory, baseUrl: string, keys: FirstKeys): void {
  const value = {
    base_url: baseUrl,
    inference_key: keys.inferenceKey,
    management_key: keys.managementKey,
    organization_id: keys.organizationId,
    workspace_id: keys.workspaceId,
  }
  data.writePrivate(FIRST_KEYS_FILE, `${JSON.stringify(value, null, 2)}\n`)
}

/** Updates the address, which may differ from that of the first start. False for a file with other content. */
function refresh(data: DataDirectory, baseUrl: string, text: string): boolean {
  const value = parsed(text)
  if (typeof value !== 'object' || value === null) return false
  if (Reflect.get(value, 'base_url') === baseUrl) return true
  data.writePrivate(FIRST_KEYS_FILE, `${JSON.stringify({ ...value, base_url: baseUrl }, null, 2)}\n`)
  return true
}

/** Parses without Node's own error message, which would quote the file. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
