import { fail, ok, type FailureName, type Outcome } from '../../../schemas/failures.ts'
import { isFileId, type FileScopeQuery } from '../../../schemas/files/files.ts'
import type { FileRecord } from '../../ports/files/files.ts'
import type { FileHost, HostedPageInput } from '../../ports/files/file-hosts.ts'
import type { KeyRecord } from '../../ports/keys/keys.ts'
import type { Ports } from '../../ports/ports.ts'
import { changedBy, ownWorkspaceOf, type Call } from '../define.ts'

/** Failures of every operation of files before it reaches a file. */
export const HOST_FAILURES = [
  'workspace_forbidden',
  'provider_key_missing',
  'provider_key_unfit',
  'busy',
  'data_key_unavailable',
  'store_unavailable',
  'client_gone',
  'draining',
  'upstream_failed',
  'upstream_credential',
  'upstream_overloaded',
  'upstream_slow',
  'upstream_invalid',
  'upstream_too_large',
  'upstream_refused',
  'deadline_exceeded',
] as const satisfies readonly FailureName[]

/** The workspace of the caller. Failure: workspace_forbidden (the query names another one). B1.7. */
export function workspaceOf(key: KeyRecord, named?: string): Outcome<string> {
  const own = ownWorkspaceOf(key)
  return named === undefined || named.toLowerCase() === own ? ok(own) : fail('workspace_forbidden')
}

type FilesCall = Pick<Call<unknown, FileScopeQuery>, 'key' | 'query' | 'requestId' | 'operationId'>

/**
 * The host of the call's files. Each call requests the release of the key for a provider, since an intern may
 * have its own key. Failures: workspace_forbidden, and those of the release.
 */
export async function hostOf(call: FilesCall, ports: Ports): Promise<Outcome<FileHost>> {
  const {
    key,
    query: { provider, workspace_id: named },
  } = call
  const workspace = workspaceOf(key, named)
  if (!workspace.ok) return workspace
  if (provider === undefined) return ok(ownHost(workspace.value, ports))
  const scope = { organizationId: key.organizationId, workspaceId: workspace.value, internId: key.internId }
  return ports.providerFiles.of({ scope, operation: call.operationId, by: changedBy(call) }, provider)
}

/** The host that is Sluice's own storage. */
function ownHost(workspaceId: string, { files, transfers }: Ports): FileHost {
  const get = (id: string): Promise<Outcome<FileRecord>> =>
    isFileId(id) ? files.get(workspaceId, id) : Promise.resolve(fail('file_unknown'))
  return {
    async store(upload, input) {
      const stored = await transfers.store(upload, input)
      return stored.ok ? ok({ ...stored.value, sha256: stored.value.file.sha256 }) : stored
    },
    async list(input) {
      const unsupported = refusalOf(input)
      if (unsupported !== null) return fail('query_invalid', { metadata: { issues: [unsupported] } })
      return files.list(workspaceId, input)
    },
    get,
    async open(id, signal) {
      const file = await get(id)
      if (!file.ok) return file
      if (!file.value.isDownloadable) return fail('file_not_downloadable')
      const content = await transfers.openFile(file.value, signal)
      return content.ok ? ok({ content: content.value, file: file.value }) : content
    },
    async remove(id) {
      if (!isFileId(id)) return fail('file_unknown')
      const removed = await transfers.remove(workspaceId, id)
      return removed.ok ? ok(null) : removed
    },
  }
}

function refusalOf({ after, before, ids, placeName, order }: HostedPageInput) {
  const wrong = ids?.findIndex((id) => !isFileId(id)) ?? -1
  if (wrong >= 0) return { path: `/ids/${wrong}`, message: 'is not a file id', expected: 'a file id' }
  const path = `/${placeName}`
  if (after !== null && !isFileId(after)) return { path, message: 'is not a file id', expected: 'a file id' }
  if (before !== null && !isFileId(before))
    return { path, message: 'is not a file id', expected: 'a file id' }
  return order === 'desc'
    ? { path: '/order', message: 'is not supported for files stored by Sluice', expected: 'asc' }
    : null
}
