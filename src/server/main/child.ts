import { Secret } from '../../schemas/secret.ts'
import { ConfigInvalid, readFrom, type Config } from '../config.ts'
import { createLog, type OwnedLog } from '../observe/log.ts'
import type { ChildPart } from '../supervisor/ipc.ts'

/** The child's own view of the generation that the supervisor chose. */
export function configOf(part: ChildPart): Config {
  const reading = readFrom(part.settings)
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation.config
}

/** The log of a forked process; neither the keys nor the addresses of the stores ever appear in it. */
export function childLog(part: ChildPart, config: Config, keys: Iterable<Secret>): OwnedLog {
  const { databaseUrl, redis } = part
  const urls = [databaseUrl, ...('url' in redis ? [redis.url] : [])].map((url) => new Secret(url))
  return createLog({
    level: config.logLevel,
    base: { role: part.role, slot: part.slot, pid: process.pid },
    secrets: [...keys, ...urls],
  })
}

/** Where `openState` connects. */
export function stateAddress(redis: ChildPart['redis']): { url: string | null; socketPath?: string } {
  return 'url' in redis ? { url: redis.url } : { url: null, socketPath: redis.socketPath }
}
