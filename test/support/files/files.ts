/** File rows in a database of their own, with a workspace to put them in. */
import type { Outcome } from '../../../src/schemas/failures.ts'
import type { FileFacts, Files, PendingFile, UploadInput } from '../../../src/server/ports/files/files.ts'
import { openFiles, type FilesOptions } from '../../../src/server/store/files/files.ts'
import { insertOrganization } from '../../../src/server/store/workspaces/organizations.ts'
import { insertWorkspace } from '../../../src/server/store/workspaces/workspaces.ts'
import type { Store } from '../../../src/server/store/base/open.ts'
import { must } from '../must.ts'
import { openTestStore } from '../stores/postgres.ts'
import { until } from '../wait.ts'

export interface FileStand {
  readonly store: Store
  readonly files: Files
  readonly organizationId: string
  readonly workspaceId: string
  readonly otherWorkspaceId: string
  /** Another process on the same database. */
  open(more?: Partial<FilesOptions>): Files
}

export async function openFileStand(
  t: Parameters<typeof openTestStore>[0],
  more: Partial<FilesOptions> = {},
  poolMax = 8,
): Promise<FileStand> {
  const store = await openTestStore(t, poolMax)
  const { organizationId, workspace, other } = await store.sql.begin(async (tx) => {
    const { organization, workspace } = await insertOrganization(tx, 'Test')
    return {
      organizationId: organization.id,
      workspace,
      other: await insertWorkspace(tx, { organizationId: organization.id, name: 'Other', slug: 'other' }),
    }
  })
  const open = (again: Partial<FilesOptions> = {}): Files => {
    const files = openFiles({
      store,
      now: () => performance.now(),
      random: Math.random,
      quotaWaitMs: 0,
      idempotencyWaitMs: 0,
      ...more,
      ...again,
    })
    t.teardown(async () => files.close())
    return files
  }
  return { store, files: open(), organizationId, workspaceId: workspace.id, otherWorkspaceId: other.id, open }
}

export const FACTS: FileFacts = {
  filename: 'a.txt',
  mimeType: 'text/plain',
  sizeBytes: 100,
  sha256: 'a'.repeat(64),
  dataKeyId: '0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b',
  isDownloadable: false,
  purpose: null,
}

export async function begun(
  files: Files,
  workspaceId: string,
  reserveBytes: number,
  more: Partial<UploadInput> = {},
): Promise<PendingFile> {
  const value = must(await files.begin({ workspaceId, reserveBytes, idempotency: null, ...more }))
  if (value.kind !== 'new') throw new Error('the preparation met an earlier call')
  return value.upload
}

/** Its id comes after that of every file stored so before: ids of one millisecond have no order. */
export async function storedFile(
  files: Files,
  workspaceId: string,
  facts: Partial<FileFacts> = {},
): Promise<string> {
  const upload = await begun(files, workspaceId, facts.sizeBytes ?? FACTS.sizeBytes)
  const { id } = must(await files.commit(upload, { ...FACTS, ...facts }))
  for (const storedAt = Date.now(); Date.now() <= storedAt;) await new Promise((next) => setImmediate(next))
  return id
}

/** Resolves when so many of the calls were refused as `busy`. */
export async function untilBusy(calls: readonly Promise<Outcome<unknown>>[], count: number): Promise<void> {
  let busy = 0
  for (const call of calls)
    void call.then((outcome) => (busy += !outcome.ok && outcome.failure.name === 'busy' ? 1 : 0))
  await until(() => busy >= count)
}
