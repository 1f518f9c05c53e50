import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { FILE_BYTES_MAX } from '../../../../schemas/files/file-limits.ts'
import type { Config } from '../../../config.ts'
import type { ObjectsConfig } from '../../../config/objects.ts'
import { objectsPlace, placeOfObjects } from '../../../main/storage.ts'
import { msText } from '../../../observe/load-advice.ts'
import { clock } from './clock.ts'
import { readingOf } from '../../../observe/clock-reading.ts'
import { placeOfAnother } from '../../../supervisor/joining.ts'
import { bad, doubtful, good, type Finding } from './finding.ts'
import { reasonOf } from '../../parts/reasons.ts'
import { roomAt, roomText, whyNotWritable } from './folders.ts'
import type { Look } from './look.ts'

/** Free bytes on the disk of objects, or of staging, below which uploads are soon refused: ten of the largest files. Decision. */
export const STORAGE_FREE_BYTES_MIN = 10 * FILE_BYTES_MAX

/** Checks that files can be written, and the room for them. */
export function storage(look: Look, signal: AbortSignal): Promise<readonly Finding[]> {
  const { objects } = look.generation.config
  return objects.kind === 'disk' ? onDisk(look, objects) : inBucket(look, objects, signal)
}

type OnDisk = Extract<ObjectsConfig, { kind: 'disk' }>
type InBucket = Extract<ObjectsConfig, { kind: 's3' }>

async function onDisk({ generation: { config } }: Look, { folder }: OnDisk): Promise<readonly Finding[]> {
  const place = placeOfObjects(config)
  // Its subfolders may belong to another user, if a node once ran as that user.
  const made = ['staging', 'objects'].map((name) => join(folder, name)).filter((path) => existsSync(path))
  const problem = await whyNotWritable([folder, ...made])
  if (problem !== null)
    return [bad('storage', problem, 'set SLUICE_OBJECTS to a directory this user can write to')]
  return [await room(existsSync(folder) ? place : `${place}, not created yet`, folder)]
}

async function inBucket(
  { generation: { config }, now }: Look,
  objects: InBucket,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const place = placeOfObjects(config)
  // The client takes longer to load than all other checks together.
  const { lookAtBucket } = await import('../../../storage/s3-look.ts')
  const { refused, tripMs, date } = await lookAtBucket(objects, { signal, now })
  // A header has whole seconds.
  const clocks = date === null ? [] : [clock('the object store', readingOf(date.serverMs, date, SECOND_MS))]
  if (refused === null)
    return [await room(`${place}, answers in ${msText(tripMs)}`, config.dataDir, ' for staging'), ...clocks]
  const why = refused.cause === undefined ? 'no answer in time' : reasonOf(refused.cause)
  const fix =
    'check SLUICE_OBJECTS, SLUICE_S3_ENDPOINT and the permissions of the access key (list, read, write, delete)'
  return [bad('storage', `${place}: cannot ${refused.what}: ${why}`, fix), ...clocks]
}

const SECOND_MS = 1_000

async function room(place: string, folder: string, what = ''): Promise<Finding> {
  const free = await roomAt(folder)
  const detail = `${place}, ${roomText(free)}${what}`
  if (free.bytes >= STORAGE_FREE_BYTES_MIN && free.inodesLeft === null) return good('storage', detail)
  return doubtful(
    'storage',
    detail,
    'free up space and inodes (one per file): uploads are refused when either runs out',
  )
}

/** A problem where the objects belong to another installation, in which case a node refuses to start. */
export async function owner(config: Pick<Config, 'objects'>, mark: string): Promise<readonly Finding[]> {
  const place = await objectsPlace(config)
  // An unreachable place is reported by the check of the storage.
  const seen = await place.mark.read().catch(() => null)
  if (seen === null || seen === mark) return []
  const { detail, fix } = placeOfAnother(place)
  return [bad('storage', detail, fix)]
}
