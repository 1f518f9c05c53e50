import { Secret } from '../../schemas/secret.ts'
import { ConfigInvalid, readFrom, type Config } from '../config.ts'
import { createLog } from '../observe/log.ts'
import type { Log } from '../ports/observe.ts'
import type { Channel } from '../supervisor/channel.ts'
import { holdLog } from '../supervisor/held-log.ts'
import type { ChildPart } from '../supervisor/ipc.ts'

/** The child's own view of the generation that the supervisor chose. */
export function configOf(part: ChildPart): Config {
  const reading = readFrom(part.settings)
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation.config
}

/**
 * The log of a forked process, held until the node's ready line is out. Neither the keys nor the addresses of the
 * stores ever appear in it.
 */
export function childLog(part: ChildPart, channel: Channel, keys: Iterable<Secret> = []): Log {
  const { role, slot, databaseUrl, redis } = part
  const urls = [databaseUrl, ...('url' in redis ? [redis.url] : [])].map((url) => new Secret(url))
  const level = configOf(part).logLevel
  const log = holdLog(createLog({ level, base: { role, slot, pid: process.pid }, secrets: [...keys, ...urls] }))
  channel.onAnnounced(() => log.release())
  return log
}

/** Where `openState` connects. */
export function stateAddress(redis: ChildPart['redis']): { url: string | null; socketPath?: string } {
  return 'url' in redis ? { url: redis.url } : { url: null, socketPath: redis.socketPath }
}
