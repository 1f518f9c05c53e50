import { ok, fail, type Outcome } from '../../schemas/failures.ts'
import type {
  Storage,
  ContainerFile,
  ContainerFolders,
  ContainerPage,
  ContainerRef,
} from '../ports/files/storage.ts'
import { diskFailure } from './disk-failure.ts'
import { S3Calls, type S3Options } from './s3-client.ts'
import {
  listKeys,
  openKey,
  putFile,
  removeKey,
  statKey,
  deleteListed,
  factsOf,
  head,
  type ListedKey,
} from './s3-objects.ts'
import { StagingFolder } from './staging.ts'
import { isObjectId, objectIdOf, isWorkspaceId, partsOf } from './stored-ids.ts'
import { endedBy } from '../../schemas/values/call-ended.ts'
import { isContainerId, parseContainerPath } from '../../schemas/containers/container-paths.ts'
import { Semaphore } from '../structures/semaphore.ts'

const PAGE_KEYS = 1_000

/**
 * Storage in a bucket: `objects/<id>` and `containers/…` below the prefix; staging is a folder of this
 * machine. Throws the system's error when that folder cannot be created; does not check the bucket.
 */
export async function openS3Storage(options: S3Options): Promise<Storage> {
  const calls = new S3Calls(options)
  const staging = new StagingFolder(options.stagingFolder, options.owner)
  await staging.prepare()
  const root = `${calls.prefix}objects/`
  const keyOf = (objectId: string): string => root + objectIdOf(objectId)
  return {
    stage: (expectedBytes) => staging.stage(expectedBytes),
    publish: (objectId, staged, signal) =>
      putFile(calls, { key: keyOf(objectId), staging: staged, mayReplace: false }, signal),
    open: (objectId, signal) =>
      openKey(calls, keyOf(objectId), {
        signal,
        names: { missing: 'content_missing', replaced: 'content_damaged' },
      }),
    stat: (objectId) => statKey(calls, keyOf(objectId)),
    remove: (objectId) => removeKey(calls, keyOf(objectId)),
    async list(cursor) {
      const listed = await listKeys(calls, root, { after: cursor ?? '', countMax: PAGE_KEYS })
      if (!listed.ok) return listed
      const { keys, hasMore } = listed.value
      return ok({
        objects: keys
          .filter(({ name }) => isObjectId(name))
          .map(({ name, facts: { sizeBytes, changedAt } }) => ({ objectId: name, sizeBytes, changedAt })),
        cursor: hasMore ? (keys.at(-1)?.name ?? null) : null,
      })
    },
    stagingOwners: () => staging.owners(),
    sweepStaging: (idleMs, gone) => staging.sweep(idleMs, gone),
    containers: s3Containers(calls),
    failureOf: diskFailure,
    close() {
      calls.client.destroy()
      return Promise.resolve()
    },
  }
}

/** Objects that are removed at once. Decision. */
const REMOVALS_MAX = 8
/** The character after the slash: every key below a folder sorts before it. */
const AFTER_FOLDER = '0'

/** Containers as prefixes `containers/<workspace id>/<container id>/` of the bucket. S3 has no links. */
function s3Containers(calls: S3Calls): ContainerFolders {
  const root = `${calls.prefix}containers/`
  const prefixOf = (container: ContainerRef): string => `${root}${partsOf(container).join('/')}/`
  const keyOf = (container: ContainerRef, path: string): string | null =>
    parseContainerPath(path) === null ? null : prefixOf(container) + path
  return {
    list: (container, after, countMax, signal) =>
      listFiles(calls, prefixOf(container), { after: after ?? '', countMax, signal }),
    listWhole: (container, after, countMax) =>
      listFiles(calls, prefixOf(container), { after: after ?? '', countMax }),
    async stat(container, path) {
      const key = keyOf(container, path)
      if (key === null) return fail('container_file_unknown')
      const there = await head(calls, key)
      if (!there.ok) return there.failure.name === 'content_missing' ? fail('container_file_unknown') : there
      return ok({ path, ...factsOf(there.value) })
    },
    open(container, path, signal) {
      const key = keyOf(container, path)
      if (key === null) return Promise.resolve(fail('container_file_unknown'))
      return openKey(calls, key, {
        signal,
        names: { missing: 'container_file_unknown', replaced: 'storage_unavailable' },
      })
    },
    publish(container, path, staging, signal) {
      const key = keyOf(container, path)
      if (key === null) return Promise.resolve(fail('container_path_invalid'))
      return putFile(calls, { key, staging, mayReplace: true }, signal)
    },
    async newestChange(container) {
      let newest: Date | null = null
      const walked = await eachKey(calls, prefixOf(container), ({ facts }) => {
        if (newest === null || facts.changedAt > newest) newest = facts.changedAt
      })
      return walked.ok ? ok(newest) : walked
    },
    listContainers: (cursor) => listContainers(calls, root, cursor),
    removeContainer: (container, unchangedSince) =>
      removeAll(calls, prefixOf(container), unchangedSince ?? null),
    emptyTrash: () => Promise.resolve(ok(0)),
  }
}

/** Skips keys that are not valid paths (folder marks, `//`); they may cause another request, but never a short page. */
async function listFiles(
  calls: S3Calls,
  prefix: string,
  page: { readonly after: string; readonly countMax: number; readonly signal?: AbortSignal | undefined },
): Promise<Outcome<ContainerPage>> {
  const files: ContainerFile[] = []
  for (let { after } = page; ;) {
    if (page.signal?.aborted === true) return { ok: false, failure: endedBy(page.signal) }
    const listed = await listKeys(calls, prefix, {
      after,
      countMax: Math.min(PAGE_KEYS, page.countMax + 1 - files.length),
    })
    if (!listed.ok) return listed
    for (const { name, facts } of listed.value.keys)
      if (parseContainerPath(name) !== null) files.push({ path: name, ...facts })
    after = listed.value.keys.at(-1)?.name ?? after
    const hasMore = files.length > page.countMax
    if (hasMore || !listed.value.hasMore) return ok({ files: files.slice(0, page.countMax), hasMore })
  }
}

/** After the first key of a container the next request skips all other keys of the container. */
async function listContainers(
  calls: S3Calls,
  root: string,
  cursor: string | null,
): Promise<Outcome<{ containers: ContainerRef[]; cursor: string | null }>> {
  const listed = await listKeys(calls, root, { after: cursor ?? '', countMax: PAGE_KEYS })
  if (!listed.ok) return listed
  const found = new Map<string, ContainerRef>()
  let last = ''
  for (const { name } of listed.value.keys) {
    const [workspaceId = '', containerId = ''] = name.split('/')
    last = `${workspaceId}/${containerId}${AFTER_FOLDER}`
    if (isWorkspaceId(workspaceId) && isContainerId(containerId))
      found.set(last, { workspaceId, containerId })
  }
  return ok({ containers: [...found.values()], cursor: listed.value.hasMore ? last : null })
}

/** Removes key by key: objects that are written meanwhile are kept, even under a listed key. */
async function removeAll(
  calls: S3Calls,
  prefix: string,
  unchangedSince: Date | null,
): Promise<Outcome<number | null>> {
  const turns = new Semaphore(REMOVALS_MAX)
  let removed = 0
  for (let after = ''; ;) {
    const listed = await listKeys(calls, prefix, { after, countMax: PAGE_KEYS })
    if (!listed.ok) return listed
    const { keys, hasMore } = listed.value
    const old = keys.filter(({ facts }) => unchangedSince === null || facts.changedAt <= unchangedSince)
    const answers = await Promise.all(
      old.map(({ name, etag }) => turns.run(() => deleteListed(calls, prefix + name, etag))),
    )
    for (const answer of answers) if (!answer.ok) return answer
    removed += answers.filter((answer) => answer.ok && answer.value).length
    if (!hasMore) return ok(removed === 0 ? null : removed)
    after = keys.at(-1)?.name ?? after
  }
}

async function eachKey(
  calls: S3Calls,
  prefix: string,
  look: (key: ListedKey) => void,
): Promise<Outcome<null>> {
  for (let after = ''; ;) {
    const listed = await listKeys(calls, prefix, { after, countMax: PAGE_KEYS })
    if (!listed.ok) return listed
    listed.value.keys.forEach(look)
    if (!listed.value.hasMore) return ok(null)
    after = listed.value.keys.at(-1)?.name ?? ''
  }
}
