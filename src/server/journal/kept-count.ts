import { readFileSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { KeptCount } from '../ports/money/lending.ts'
import type { Log } from '../ports/observe.ts'

const COUNT_FILE = 'money-count'

/** Opens the money counter of the node, which is kept in the data directory. */
export function openKeptCount(dataDir: string, node: string, log: Log): KeptCount {
  return {
    node,
    read: () => readCount(dataDir),
    async keep(n) {
      if (n <= readCount(dataDir)) return
      try {
        await write(join(dataDir, COUNT_FILE), String(n))
      } catch (cause) {
        // An outdated lower number never causes money to be refused wrongly.
        log.warn('money_count_not_kept', { cause })
      }
    },
  }
}

/** The counter in the data directory; 0 without a file, since earlier versions kept none. */
export function readCount(dataDir: string): number {
  try {
    const n = Number(readFileSync(join(dataDir, COUNT_FILE), 'utf8'))
    return Number.isSafeInteger(n) && n > 0 ? n : 0
  } catch {
    return 0
  }
}

async function write(path: string, text: string): Promise<void> {
  // Fronts of the node write the same file, each through its own draft.
  const draft = `${path}.${process.pid}`
  const file = await open(draft, 'w', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}
