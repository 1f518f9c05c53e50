import { Secret } from '../../schemas/vault/secret.ts'
import { operatorKeys, type OperatorKeys } from '../catalogue/operator-keys.ts'
import { ConfigInvalid, hasColour, readFrom, type Config } from '../config.ts'
import { endOnCrash } from '../observe/crash.ts'
import { takeLibraryLines } from '../observe/library-lines.ts'
import { createLog, type OwnedLog } from '../observe/log.ts'
import type { ModelCatalogue } from '../ports/models/models.ts'
import type { Log } from '../ports/observe.ts'
import type { Channel } from '../supervisor/fleet/channel.ts'
import { holdLog } from '../supervisor/held-log.ts'
import type { ChildPart } from '../supervisor/fleet/ipc.ts'
import type { NodeGeneration } from '../supervisor/node-setup.ts'
import { loadCatalogue, type LoadedCatalogue } from '../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'

/** The settings generation that the supervisor chose, as read by the child itself. */
export function configOfPart(part: ChildPart): Config {
  const reading = readFrom(part.settings)
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation.config
}

/** Values that no line of the log may hold, in any process: every secret setting, and the keys of providers. */
export function secretsOf({
  config,
  providerKeys,
}: Pick<NodeGeneration, 'config' | 'providerKeys'>): readonly Secret[] {
  const settings = Object.values(config).filter((value) => value instanceof Secret)
  const { objects } = config
  if (objects.kind === 's3') settings.push(objects.secretAccessKey, new Secret(objects.accessKeyId))
  // The setting may hold several root keys, with or without their ids: each key is a secret.
  for (const part of config.rootKey?.reveal().split(/[\s,]+/) ?? [])
    settings.push(new Secret(part.slice(part.indexOf(':') + 1)))
  return [...settings, ...Object.values(providerKeys).map((key) => new Secret(key))]
}

/** The secrets of a forked process: secrets of its settings, and the addresses of the stores that the node started itself. */
export function secretsOfPart(part: ChildPart): readonly Secret[] {
  const { databaseUrl, redis, providerKeys } = part
  const urls = [databaseUrl, ...('url' in redis ? [redis.url] : [])].map((url) => new Secret(url))
  return [...secretsOf({ config: configOfPart(part), providerKeys }), ...urls]
}

/** The log of a forked process, held back until the node has written its ready line. */
export function childLog(part: ChildPart, channel: Channel): Log & Pick<OwnedLog, 'dropped'> {
  const { role, slot } = part
  const { logLevel: level, logFormat: format } = configOfPart(part)
  const lines = createLog({
    ...{ level, format, hasColour: hasColour(process.stdout) },
    base: { role, slot, pid: process.pid },
    secrets: secretsOfPart(part),
  })
  const log = holdLog(lines, lines.flush)
  endOnCrash({ error: log.error, flush: lines.flush })
  takeLibraryLines((text) => log.warn('library_line', { text }))
  channel.onAnnounced(() => log.release())
  return {
    ...log,
    get dropped() {
      return lines.dropped
    },
  }
}

/** The address that `openState` connects to. */
export function stateAddress(redis: ChildPart['redis']): { url: string | null; socketPath?: string } {
  return 'url' in redis ? { url: redis.url } : { url: null, socketPath: redis.socketPath }
}

export function operatorKeysOf(
  { providerKeys }: Pick<ChildPart, 'providerKeys'>,
  { providers }: Pick<ModelCatalogue, 'providers'>,
): OperatorKeys {
  const keys = Object.entries(providerKeys).map(([name, text]) => [name, new Secret(text)] as const)
  return operatorKeys(providers, new Map(keys))
}

/** The catalogue of a forked process; the supervisor has checked the same files, so that mistakes are thrown. */
export function catalogueOf({ catalogFile }: Pick<Config, 'catalogFile'>): LoadedCatalogue['catalogue'] {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: catalogFile })
  if (!loaded.ok) throw new Error(`the catalogue has ${loaded.problems.length} errors`)
  return loaded.catalogue
}
