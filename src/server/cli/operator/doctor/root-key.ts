import { join } from 'node:path'
import type { Config } from '../../../config.ts'
import { rootKeyUses } from '../../../store/vault/root-rotation.ts'
import type { Queryable } from '../../../store/base/open.ts'
import { rootKeyCopies } from '../../../vault/root-key-copies.ts'
import { ROOT_KEY_FILE, type RootKeys } from '../../../vault/root-keys.ts'
import { missingRootKeys } from '../../../main/missing-root-keys.ts'
import { hasRootKey, loneRootKeys, ownRootKeysOf, rootKeyIdsInFiles } from '../../../main/safekeeping.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'

type Sources = Pick<Config, 'rootKey' | 'rootKeyFile' | 'dataDir'>

/** Checks the root key without creating one. */
export function rootKey(config: Sources): Finding {
  if (!hasRootKey(config)) return good('root_key', 'the first start of the node creates the root key')
  try {
    return copied(config, ownRootKeysOf(config))
  } catch (cause) {
    return bad('root_key', reasonOf(cause), 'fix SLUICE_ROOT_KEY or SLUICE_ROOT_KEY_FILE')
  }
}

/** Root keys that wrap rows and are missing here: a node refuses to start for the same reason. */
export async function missingKeys(
  sql: Queryable,
  config: Sources & Pick<Config, 'rootKeysLost'>,
): Promise<readonly Finding[]> {
  const uses = await rootKeyUses(sql)
  const here = uses.length === 0 ? [] : knownIds(config)
  if (here === null) return []
  return missingRootKeys(uses, { here, lost: config.rootKeysLost }).map(({ detail, fix, isGivenUp }) =>
    (isGivenUp ? doubtful : bad)('root_key', detail, fix),
  )
}

/** Ids of the known root keys; null when they cannot be read, which is another finding. */
function knownIds(config: Sources): readonly string[] | null {
  if (!hasRootKey(config)) return []
  try {
    return ownRootKeysOf(config).ids
  } catch {
    return null
  }
}

function copied(config: Sources, keys: RootKeys): Finding {
  const { rootKey: setting, rootKeyFile, dataDir } = config
  const file = rootKeyFile ?? join(dataDir, ROOT_KEY_FILE)
  const where = setting !== null ? 'from SLUICE_ROOT_KEY' : file
  const older = keys.ids.length - 1
  const all = older === 0 ? where : `${where}; ${older} more (see their use with \`sluice vault status\`)`
  const advice = loneRootKeys(config, keys)
  if (advice !== null) return doubtful('root_key', `${all}; ${advice.detail}`, advice.fix)
  const [copies, inFiles] = [rootKeyCopies(dataDir), rootKeyIdsInFiles(config, keys)]
  return good(
    'root_key',
    inFiles.length === 0
      ? all
      : `${all}; backup recorded on ${dayOf(inFiles.map((id) => copies.get(id)?.at ?? ''))}`,
  )
}

/** The oldest day: since then every key has had a copy. */
function dayOf(times: readonly string[]): string {
  return [...times].sort()[0]?.slice(0, 10) ?? ''
}
