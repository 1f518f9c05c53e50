import { isContainerId } from '../../schemas/containers/container-paths.ts'
import type { ContainerRef } from '../ports/files/storage.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** True when a name found in storage is that of a folder for a workspace's containers. */
export function isWorkspaceId(name: string): boolean {
  return UUID.test(name)
}

/** Both ids were checked on input; this check prevents that a bug turns them into another path or key. */
export function partsOf({ workspaceId, containerId }: ContainerRef): readonly [string, string] {
  if (!isWorkspaceId(workspaceId) || !isContainerId(containerId)) throw new RangeError('not a container')
  return [workspaceId, containerId]
}

const OBJECT_ID = /^[A-Za-z0-9_-]{1,128}$/

/** Ids from Sluice's own rows. An id becomes a file name and a key, so any other text is a bug and throws. */
export function objectIdOf(text: string): string {
  if (!isObjectId(text)) throw new RangeError('not an object id')
  return text
}

export function isObjectId(text: string): boolean {
  return OBJECT_ID.test(text)
}
