import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Texts } from '../../config/texts.ts'
import type { DataDirectory } from '../data-directory/data-directory.ts'
import type { ChildPart } from './ipc.ts'
import type { NodeGeneration } from '../node-setup.ts'
import { connectionsNeeded, sessionThreads } from './shares.ts'

/** The inputs that all children of a node share in every configuration. */
export interface ChildPlace {
  readonly data: Pick<DataDirectory, 'node' | 'path' | 'writePrivate'>
  readonly databaseUrl: string
  readonly redis: ChildPart['redis']
}

/** The inputs of every child of a generation; writes the copies of the files that children read. */
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

/** Removes the copies of other generations: no child reads them any more. */
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
 * The name of a copy contains its digest: a front that restarts after a failed roll reads the file with
 * which its own generation was checked.
 */
function copyOf(name: string, text: string): string {
  return `${FROZEN}${name.toLowerCase()}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`
}
