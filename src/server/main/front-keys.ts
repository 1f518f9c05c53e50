import { KEYS_HANDED_MS_MAX } from '../../schemas/keys/key-limits.ts'
import { createAccess, type Access, type AccessOptions } from '../access/access.ts'
import type { Log } from '../ports/observe.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'

export interface FrontKeys {
  readonly channel: Pick<Channel, 'keys' | 'onKnownKeys'>
  readonly log: Log
}

/**
 * Access of a front that begins with the keys that another front of its node knew, and passes its own on: a
 * reload has no cold start. To be called when the feed follows the epoch. Waits KEYS_HANDED_MS_MAX at most,
 * whatever the store does.
 */
export async function openAccess(options: AccessOptions, { channel, log }: FrontKeys): Promise<Access> {
  const access = createAccess(options)
  const endsAt = performance.now() + KEYS_HANDED_MS_MAX
  const begin = async (): Promise<void> => {
    const hashes = (await channel.keys).split(',').filter((hash) => hash !== '')
    const loaded = await access.beginWith(hashes, () => performance.now() < endsAt)
    if (hashes.length > 0) log.info('keys_handed_over', { handed: hashes.length, loaded })
  }
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, KEYS_HANDED_MS_MAX)
  })
  await Promise.race([begin(), late])
  clearTimeout(timer)
  channel.onKnownKeys(() => access.knownKeys().join(','))
  return access
}
