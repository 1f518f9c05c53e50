import type { Config } from '../../../config.ts'
import { firstKeysLeft } from '../../../main/safekeeping.ts'
import { doubtful, type Finding } from './finding.ts'

/** The keys that the first start made, in plain text, until somebody deletes them. C9. */
export function firstKeys(config: Pick<Config, 'dataDir'>): readonly Finding[] {
  const advice = firstKeysLeft(config)
  return advice === null ? [] : [doubtful('first_keys', advice.detail, advice.fix)]
}
