import type { Installation, PlaceMark, SharedPlaces } from '../ports/installation.ts'
import type { Log } from '../ports/observe.ts'
import type { NodeRedis, NodeStore, ObjectsPlace } from './node-setup.ts'
import type { Services } from './services.ts'
import { StartRefused } from './start-refused.ts'

/** Attempts to join while other nodes join at the same time. Decision. */
const JOINS_MAX = 8

export interface JoinInput {
  readonly store: Pick<NodeStore, 'installation' | 'join'>
  readonly redis: Pick<NodeRedis, 'isUp' | 'mark'>
  readonly redisMode: Services['redisMode']
  readonly objects: ObjectsPlace
  readonly log: Log
}

/** The mark found at a shared place; null: it has none. */
type Seen = string | null | 'away'

interface Marks {
  readonly redis: Seen
  readonly objects: Seen
}

/**
 * Admits this node to the installation of its Postgres. While another node lives, a node with an embedded Redis or a
 * folder where the others use outside ones, or with the place of another installation, would count rates by itself or
 * keep files that the others do not find: such a node is refused. A node that is alone may use any place, except one
 * with the files of another installation: they have no rows here, and the sweep would remove them. Throws
 * `StartRefused`.
 * @returns the mark of the installation
 */
export async function joinNodes(input: JoinInput): Promise<string> {
  for (let tries = 0; tries < JOINS_MAX; tries++) {
    const found = await input.store.installation()
    const marks: Marks = {
      redis: await seenAt(isOutside(input) && (await input.redis.isUp()) ? input.redis.mark : null),
      objects: await seenAt(input.objects.mark),
    }
    const reasons = found.isShared ? refusals(input, found, marks) : refusalsAlone(input, found, marks)
    if (reasons.length > 0) throw new StartRefused(reasons.join('\n'))
    const [redis, objects] = await Promise.all([
      put(input.redis.mark, marks.redis, found.mark),
      put(input.objects.mark, marks.objects, found.mark),
    ])
    const places: SharedPlaces = {
      redis: isOutside(input) ? 'outside' : 'embedded',
      objects: objects === 'unmarked' ? null : input.objects.kind,
    }
    if (!(await input.store.join(found.joins, places))) continue
    if (found.isShared) warn(input, found, marks)
    report(input.log, { found, places, put: { redis, objects } })
    return found.mark
  }
  throw new StartRefused('other nodes kept starting at the same time; start this node again')
}

/** Writes the mark again whenever Redis returns without it: a restart may have lost it. */
export async function keepRedisMark(
  redis: Pick<NodeRedis, 'isUp' | 'mark'>,
  { mark, log }: { readonly mark: string; readonly log: Log },
): Promise<void> {
  if (!(await redis.isUp())) return
  const seen = await seenAt(redis.mark)
  if (seen !== null && seen !== 'away' && seen !== mark)
    log.error('redis_of_another_installation', {
      fix: 'set REDIS_URL to a Redis used only by this installation',
    })
  if (seen === null) await put(redis.mark, seen, mark)
}

function refusals(input: JoinInput, found: Installation, marks: Marks): readonly string[] {
  const { kind, place } = input.objects
  const reasons: string[] = []
  if (!isOutside(input) && found.redis === 'outside')
    reasons.push(
      `REDIS_URL is not set, but the other nodes share a Redis: this node would apply rate limits separately; ${SAME}`,
    )
  if (isOther(marks.redis, found))
    reasons.push(`REDIS_URL and DATABASE_URL belong to different installations; ${SAME}`)
  if (kind === 'folder' && found.objects === 'bucket')
    reasons.push(
      `SLUICE_OBJECTS is the folder ${place}, but the other nodes keep files in a bucket, so they would not find ` +
        `the files of this node; ${SAME}`,
    )
  else if (isOther(marks.objects, found))
    reasons.push(
      `SLUICE_OBJECTS, ${place}, contains files from an installation with a different database; use the same value ` +
        'as the other nodes',
    )
  else if (kind === 'bucket' && found.objects === 'bucket' && marks.objects === null)
    reasons.push(
      `SLUICE_OBJECTS, ${place}, has no file \`installation\`, so the other nodes use another ` +
        `bucket; ${SAME}`,
    )
  return reasons
}

const SAME = 'use the same value as the other nodes, or stop those nodes first'

function refusalsAlone({ objects }: JoinInput, found: Installation, marks: Marks): readonly string[] {
  if (!isOther(marks.objects, found)) return []
  const { detail, fix } = placeOfAnother(objects)
  return [`${detail}: ${fix}`]
}

/** Why this installation must not use a place, and the three possible solutions. */
export function placeOfAnother({ place, markAt }: Pick<ObjectsPlace, 'place' | 'markAt'>): {
  readonly detail: string
  readonly fix: string
} {
  return {
    detail:
      `SLUICE_OBJECTS, ${place}, contains files from an installation with a different database, and a sweep ` +
      'would delete them',
    fix:
      'use the database of these files, set SLUICE_OBJECTS to another storage, or, to use the storage for ' +
      `this installation, delete its id file ${markAt}`,
  }
}

/** Warns of differences that are allowed while an operator moves all nodes to other places. */
function warn({ log, objects: { kind }, ...input }: JoinInput, found: Installation, marks: Marks): void {
  const isOut = isOutside(input)
  if (!isOut || found.redis === 'embedded')
    log.warn('rates_not_shared', { fix: 'set REDIS_URL to the same Redis at each node' })
  const isApart = kind === 'folder' && marks.objects === null
  if (found.objects === 'folder' && (kind === 'bucket' || isApart))
    log.warn('files_not_shared', {
      fix: 'set SLUICE_OBJECTS to the same bucket or shared folder at each node',
    })
}

type Put = 'kept' | 'written' | 'replaced' | 'unmarked'

async function put(place: PlaceMark, seen: Seen, mark: string): Promise<Put> {
  if (seen === 'away') return 'unmarked'
  if (seen === mark) return 'kept'
  return place.write(mark).then(
    () => (seen === null ? 'written' : 'replaced'),
    () => 'unmarked',
  )
}

interface Joined {
  readonly found: Installation
  readonly places: SharedPlaces
  readonly put: { readonly redis: Put; readonly objects: Put }
}

function report(log: Log, { found, places, put }: Joined): void {
  const isFirst = found.redis === null
  const isMoved = (['redis', 'objects'] as const).some(
    (name) => (found[name] !== null && found[name] !== places[name]) || /written|replaced/.test(put[name]),
  )
  if (!isFirst && isMoved)
    log.info('places_taken', { ...places, redis_mark: put.redis, objects_mark: put.objects })
  if (put.objects === 'unmarked') log.warn('objects_not_marked')
}

/** @param place null: the place cannot be reached, or is not shared */
async function seenAt(place: PlaceMark | null): Promise<Seen> {
  return place === null ? 'away' : place.read().catch(() => 'away' as const)
}

function isOther(seen: Seen, { mark }: Installation): boolean {
  return seen !== null && seen !== 'away' && seen !== mark
}

function isOutside({ redisMode }: Pick<JoinInput, 'redisMode'>): boolean {
  return redisMode === 'external'
}
