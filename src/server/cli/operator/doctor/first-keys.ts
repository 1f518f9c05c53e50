import type { Config } from '../../../config.ts'
import { firstKeysLeft } from '../../../main/safekeeping.ts'
import { doubtful, type Finding } from './finding.ts'

/** Warns about the plain keys of the first start until they are deleted. C9. */
export function firstKeys(config: Pick<Config, 'dataDir'>): readonly Finding[] {
  const advice = firstKeysLeft(config)
  return advice === null ? [] : [doubtful('first_keys', advice.detail, advice.fix)]
}
