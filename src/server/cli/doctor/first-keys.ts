import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { FIRST_KEYS_FILE } from '../../supervisor/first-keys.ts'
import { doubtful, type Finding } from './finding.ts'

/** The keys that the first start made, in plain text, until somebody deletes them. C9. */
export function firstKeys({ dataDir }: Pick<Config, 'dataDir'>): readonly Finding[] {
  const file = join(dataDir, FIRST_KEYS_FILE)
  if (!existsSync(file)) return []
  return [doubtful('first_keys', `${file} holds plain keys`, 'keep them in a safe place and delete the file')]
}
