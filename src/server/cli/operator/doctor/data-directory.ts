import { existsSync } from 'node:fs'
import { MIB } from '../../../../schemas/limits/limits.ts'
import { whyForeign } from '../../../supervisor/data-directory/data-directory.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { roomAt, roomText, whyNotWritable } from './folders.ts'
import type { Look } from './look.ts'

/** Free bytes below which journals, settings and an embedded Postgres soon lack space. Decision. */
export const DATA_FREE_BYTES_MIN = 1_024 * MIB

export async function dataDirectory({
  generation: {
    config: { dataDir },
  },
  running,
}: Look): Promise<readonly Finding[]> {
  const fix = 'set SLUICE_DATA to a separate directory that this user can write to'
  const isThere = existsSync(dataDir)
  // When root runs doctor, the directory of a running node may belong to another user.
  const foreign = isThere && running === null ? whyForeign(dataDir) : null
  if (foreign !== null) return [bad('data_directory', `${dataDir} ${foreign}`, fix)]
  const problem = running === null ? await whyNotWritable([dataDir]) : null
  if (problem !== null) return [bad('data_directory', problem, fix)]
  const free = await roomAt(dataDir)
  const state =
    running !== null ? `, in use by the node (pid ${running.pid})` : isThere ? '' : ', not created yet'
  const detail = `${dataDir}${state}, ${roomText(free)}`
  if (free.bytes >= DATA_FREE_BYTES_MIN && free.inodesLeft === null) return [good('data_directory', detail)]
  return [
    doubtful(
      'data_directory',
      detail,
      'free up space on that disk: journals and an embedded Postgres are written there',
    ),
  ]
}
