import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Texts } from '../../config/texts.ts'
import type { DataDirectory } from '../data-directory/data-directory.ts'
import type { ChildPart } from './ipc.ts'
import type { NodeGeneration } from '../node-setup.ts'
import { connectionsNeeded, sessionThreads } from './shares.ts'

/** What all children of a node share, whatever its configuration. */
export interface ChildPlace {
  readonly data: Pick<DataDirectory, 'node' | 'path' | 'writePrivate'>
  readonly databaseUrl: string
  readonly redis: ChildPart['redis']
}

/** What every child of a generation is started with; writes the copies of files that they read. */
export function childSetup(generation: NodeGeneration, place: ChildPlace): readonly ChildPart[] {
  const { config, providerKeys } = generation
  const { data, databaseUrl, redis } = place
  const common = {
    node: data.node,
    settings: settingsOf(generation, data),
    providerKeys,
    databaseUrl,
    redis,
    connections: connectionsNeeded(config),
  }
  return [
    ...sessionThreads(config.workers, config.fronts).map((threads, slot) => ({
      ...common,
      role: 'front' as const,
      slot,
      sessionThreads: threads,
    })),
    ...Array.from({ length: config.runners }, (_, slot) => ({
      ...common,
      role: 'runner' as const,
      slot,
      sessionThreads: 1,
    })),
  ]
}

const FROZEN = 'frozen-'

/** Takes the copies of other generations away: no child reads them any more. */
export function removeOtherCopies({ frozen }: NodeGeneration, data: Pick<DataDirectory, 'keepOnly'>): void {
  data.keepOnly(FROZEN, new Set(Object.entries(frozen).map(([name, text]) => copyOf(name, text))))
}

/** The settings, with the files that they name replaced by this generation's own copies. */
function settingsOf({ settings, frozen }: NodeGeneration, data: ChildPlace['data']): Texts {
  const copies = Object.entries(frozen).map(([name, text]) => {
    const file = copyOf(name, text)
    data.writePrivate(file, text)
    return [name, join(data.path, file)] as const
  })
  return { ...settings, ...Object.fromEntries(copies) }
}

/**
 * By content: a front that comes back after a roll that failed reads what its own generation was checked
 * with.
 */
function copyOf(name: string, text: string): string {
  return `${FROZEN}${name.toLowerCase()}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
