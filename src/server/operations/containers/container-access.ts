import { pathOfContainerFileId } from '../../../schemas/containers/container-paths.ts'
import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { Ports } from '../../ports/ports.ts'
import type { ContainerRef } from '../../ports/files/storage.ts'
import type { ContainerPath } from '../../ports/files/transfer.ts'
import { ownWorkspaceOf } from '../define.ts'

export const CONTAINER_FAILURES = [
  'storage_unavailable',
  'containers_unsupported',
  'client_gone',
  'draining',
] as const satisfies readonly FailureName[]

interface ContainerCall {
  readonly key: KeyRecord
  readonly params: { readonly container_id: string }
}

/** Containers are per workspace. C22. */
export function containerOf({ key, params }: ContainerCall): ContainerRef {
  return { workspaceId: ownWorkspaceOf(key), containerId: params.container_id }
}

/** Failure: container_file_unknown, for an id that is not the encoding of a path. */
export function containerPathOf(
  call: ContainerCall & { readonly params: { readonly file_id: string } },
): Outcome<ContainerPath> {
  const path = pathOfContainerFileId(call.params.file_id)
  return path === null ? fail('container_file_unknown') : ok({ container: containerOf(call), path })
}

/**
 * Records the use of a container with files, so that the files are kept. The call does not wait for the
 * record: if it is lost, the container only appears to have been last used earlier. C10.
 */
export function noteUse(
  { containerUses, observer }: Ports,
  { workspaceId, containerId }: ContainerRef,
): void {
  containerUses
    .touch(workspaceId, containerId)
    .catch((cause: unknown) => observer.log.error('container.use_lost', { cause }))
}
