/** Keys for providers of files come from the vault of the caller. §4.7, B1.7, B2.4, design §8. */
import t, { type Test } from 'tap'
import { hashOfKey } from '../../../../src/schemas/keys/api-keys.ts'
import { Secret } from '../../../../src/schemas/vault/secret.ts'
import { OPERATIONS } from '../../../../src/server/operations/index.ts'
import type { AuditEvent } from '../../../../src/server/ports/audit/audit.ts'
import type { KeyRecord } from '../../../../src/server/ports/keys/keys.ts'
import type { Ports } from '../../../../src/server/ports/ports.ts'
import type { SecretReleases, VaultScope } from '../../../../src/server/ports/vault/vault.ts'
import { openReleases } from '../../../../src/server/vault/releases.ts'
import {
  accessTo,
  AUTHORIZATION,
  INTERN_KEY,
  KEY,
  keyRecords,
  openFront,
  OTHER_KEY,
  type TestFront,
} from '../../../support/front.ts'
import { gate, type Gate } from '../../../support/gate.ts'
import { SILENT } from '../../../support/log.ts'
import { must } from '../../../support/must.ts'
import { NO_FILES } from '../../../support/files/no-files.ts'
import { openFilesStand, PROVIDER_KEY, type FilesStand } from '../../../support/files/provider-files.ts'
import { answerOf, beginUpload } from '../../../support/files/upload-echo.ts'
import { BY, openVaultStand, type VaultStand } from '../../../support/vault/vault-front.ts'

const FILE = '/files/file-1?provider=openai'

interface Stand extends TestFront {
  readonly vault: VaultStand
  readonly events: readonly AuditEvent[]
  readonly files: FilesStand
  put(scope: VaultScope, value?: string, hosts?: readonly string[]): Promise<void>
  ask(
    path?: string,
    key?: string,
  ): Promise<{ readonly status: number; readonly type: string | undefined; readonly text: string }>
}

interface Options {
  readonly facts?: Partial<KeyRecord>
  /** Holds a key between its release and its use. */
  readonly held?: { readonly released: Gate; readonly go: Gate }
}

async function stand(t: Test, { facts, held }: Options = {}): Promise<Stand> {
  const vault = await openVaultStand(t)
  const events: AuditEvent[] = []
  const { rows, keys, jobs, workspace, otherWorkspace, intern } = vault
  const releases = openReleases({
    rows,
    keys,
    jobs,
    log: SILENT,
    audit: { note: (event) => events.push(event) > 0 },
  })
  const holding: SecretReleases = {
    async release(request) {
      const released = await releases.release(request)
      held?.released.open()
      await held?.go.opened
      return released
    },
  }
  const files = await openFilesStand(t, { releases: holding })
  const records = new Map(
    [...keyRecords(facts)].map(([hash, record]) => [
      hash,
      {
        ...record,
        organizationId: workspace.organizationId,
        workspaceId: hash === hashOfKey(OTHER_KEY) ? otherWorkspace.workspaceId : workspace.workspaceId,
        defaultWorkspaceId: workspace.workspaceId,
        internId: record.kind === 'intern' ? intern.internId : null,
      },
    ]),
  )
  const ports = { ...NO_FILES, providerFiles: files.providerFiles } as Ports
  const front = await openFront(
    t,
    OPERATIONS.filter(({ tag }) => tag === 'files'),
    { ports, access: accessTo(records) },
  )
  return {
    ...front,
    vault,
    events,
    files,
    async put(scope, value = PROVIDER_KEY, hosts = ['localhost']) {
      must(await vault.vaults.put(scope, { name: 'openai_api_key', hosts, value: new Secret(value) }, BY))
    },
    async ask(path = FILE, key = KEY) {
      const answer = await fetch(`${front.url}/api/v1${path}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      const text = await answer.text()
      const { error } = JSON.parse(text) as {
        readonly error?: { readonly metadata: { readonly error_type: string } }
      }
      return { status: answer.status, type: error?.metadata.error_type, text }
    },
  }
}

t.test(
  "a key is released from the vault of the caller's workspace, for the provider's host, and audited",
  async (t) => {
    const { vault, put, ask, events } = await stand(t)
    await put(vault.workspace)
    t.equal((await ask()).type, 'file_unknown')
    t.equal((await ask(FILE, OTHER_KEY)).type, 'provider_key_missing')
    t.match(events, [
      {
        outcome: 'released',
        operation: 'files.get',
        actor: { kind: 'key', id: hashOfKey(KEY) },
        after: { name: 'openai_api_key', host: 'localhost' },
      },
      {
        outcome: 'refused',
        operation: 'files.get',
        workspaceId: vault.otherWorkspace.workspaceId,
        after: { reason: 'no_such_secret' },
      },
    ])
    t.ok(events.every(({ requestId }) => requestId !== null))
  },
)

t.test('a key that is bound to other hosts is not released, and nothing is sent', async (t) => {
  const { vault, put, ask, events, files } = await stand(t)
  await put(vault.workspace, PROVIDER_KEY, ['a.localhost', 'localhost.example', 'api.openai.com'])
  const answer = await ask()
  t.match(answer, { status: 400, type: 'provider_key_missing' })
  t.match(answer.text, /bound to the host localhost/)
  t.match(events, [{ outcome: 'refused', after: { reason: 'other_host' } }])
  t.same(files.provider.calls, [])
})

t.test(
  "an intern's own key takes precedence over the key of an attached vault, and that over the workspace's key",
  async (t) => {
    const { vault, put, ask, events } = await stand(t)
    const { workspace, intern } = vault
    const vaultId = await vault.addVault('team')
    await vault.attach(intern, vaultId)
    await put(workspace)
    await ask(FILE, INTERN_KEY)
    await put({ ...workspace, attachableId: vaultId })
    await ask(FILE, INTERN_KEY)
    await put(intern)
    await ask(FILE, INTERN_KEY)
    await ask(FILE, KEY)
    t.match(
      events.map(({ after }) => after),
      ['workspace', 'attached', 'intern', 'workspace'].map((source) => ({ source })),
    )
  },
)

t.test('a workspace outside the programme, or without vault writes, can still use its key', async (t) => {
  const { vault, put, ask } = await stand(t, { facts: { isInProgramme: false, mayWriteVault: false } })
  await put(vault.workspace)
  t.equal((await ask()).type, 'file_unknown')
})

t.test('names a secret that is not a valid header value, and sends nothing', async (t) => {
  const { vault, put, ask, files } = await stand(t)
  await put(vault.workspace, 'canary\r\nx-canary: 1')
  const answer = await ask()
  t.match(answer, { status: 400, type: 'provider_key_unfit' })
  t.match(answer.text, /openai_api_key/)
  t.same(files.provider.calls, [])
})

t.test('an upload without a key is refused before its body is read', async (t) => {
  const { port } = await stand(t)
  const client = beginUpload(port, 1_000, { path: '/files?provider=openai' })
  t.match(await answerOf(client), { status: 400, type: 'provider_key_missing' })
})

t.test('an upload whose client disconnects during the key release sends the provider nothing', async (t) => {
  const held = { released: gate(), go: gate() }
  const { vault, put, port, files, untilSettled, settled } = await stand(t, { held })
  await put(vault.workspace)
  const client = beginUpload(port, 1_000, { path: '/files?provider=openai' })
  await held.released.opened
  client.socket.destroy()
  held.go.open()
  await untilSettled(1)
  t.match(settled, [{ failure: 'client_gone' }])
  t.same(files.provider.calls, [])
  await files.rest()
})

t.test('a read whose client disconnects during the key release sends the provider nothing', async (t) => {
  const held = { released: gate(), go: gate() }
  const { vault, put, url, ask, files, untilSettled } = await stand(t, { held })
  await put(vault.workspace)
  const leaving = new AbortController()
  const left = fetch(`${url}/api/v1${FILE}`, {
    headers: { authorization: AUTHORIZATION },
    signal: leaving.signal,
  })
  await held.released.opened
  leaving.abort()
  await t.rejects(left)
  await untilSettled(1)
  held.go.open()
  await ask('/files/file-2?provider=openai')
  t.same(files.provider.calls, ['GET /v1/files/file-2'])
})

t.test(
  'a key never appears in replies, logs or the audit log, even when the provider quotes it',
  async (t) => {
    const { vault, put, ask, lines, events, settled } = await stand(t)
    await put(vault.workspace, 'sk-canary-0123456789')
    const answer = await ask()
    t.match(answer, { status: 502, type: 'upstream_credential' })
    t.notMatch(answer.text + lines.join() + JSON.stringify([events, settled]), /canary/)
  },
)
