/** Every edit of a secret's row that must make it useless. */
import type { Secret } from '../../../src/schemas/vault/secret.ts'
import type { Outcome } from '../../../src/schemas/failures.ts'
import type { AuditEvent } from '../../../src/server/ports/audit/audit.ts'
import { openReleases } from '../../../src/server/vault/releases.ts'
import type { ReleaseRequest, VaultScope } from '../../../src/server/ports/vault/vault.ts'
import { SILENT } from '../log.ts'
import type { VaultStand } from './vault-front.ts'

const BY = { actor: { kind: 'system', id: null }, requestId: null } as const

export interface TamperStand {
  readonly events: AuditEvent[]
  release(scope: VaultScope, name: string, host: string): Promise<Outcome<Secret>>
}

/** Releases of a stand, whose audit events are kept for the test to read. */
export function releasing({ rows, keys, jobs }: Pick<VaultStand, 'rows' | 'keys' | 'jobs'>): TamperStand {
  const events: AuditEvent[] = []
  const audit = { note: (event: AuditEvent) => events.push(event) > 0 }
  const releases = openReleases({ rows, keys, jobs, audit, log: SILENT })
  const request = (scope: VaultScope, name: string, host: string): ReleaseRequest => ({
    scope,
    name,
    host,
    operation: 'test',
    by: BY,
  })
  return { events, release: (scope, name, host) => releases.release(request(scope, name, host)) }
}

type Stored = Pick<VaultStand, 'store'>

export interface RawSecret {
  readonly vault_id: string
  readonly name: string
  readonly hosts: readonly string[] | null
  readonly fingerprint: string | null
  readonly version: string
  readonly key_id: string
  readonly sealed: Buffer
}

export type Edit = Partial<Omit<RawSecret, 'hosts'> & { readonly hosts: readonly string[] }>

export interface Tampering {
  readonly what: string
  readonly edit: Edit
  /** Asked for afterwards. */
  readonly name: string
  readonly host: string
}

export async function rawOf({ store }: Stored, vaultId: string, name: string): Promise<RawSecret> {
  const [row] = await store.sql<RawSecret[]>`
    SELECT vault_id, name, array_to_json(hosts) AS hosts, fingerprint, version, key_id, sealed FROM secrets
    WHERE vault_id = ${vaultId} AND name = ${name}`
  if (row === undefined) throw new Error(`there is no ${name}`)
  return row
}

/** Replaces the row by one that differs in the edit alone. */
export async function rewrite({ store }: Stored, row: RawSecret, edit: Edit = {}): Promise<void> {
  const { vault_id: vaultId, name, hosts, version, key_id: keyId, sealed } = { ...row, ...edit }
  await store.sql.begin(async (tx) => {
    await tx`DELETE FROM secrets WHERE vault_id = ${row.vault_id} AND name = ${row.name}`
    await tx`
      INSERT INTO secrets (vault_id, name, hosts, fingerprint, version, key_id, sealed)
      VALUES (${vaultId}, ${name}, ARRAY(SELECT jsonb_array_elements_text(${tx.json([...(hosts ?? [])])})), ${row.fingerprint}, ${version},
        ${keyId}, ${sealed})`
  })
}

/** Takes an edited row away again. */
export async function restore(stand: Stored, row: RawSecret, edit: Edit): Promise<void> {
  await stand.store
    .sql`DELETE FROM secrets WHERE vault_id = ${edit.vault_id ?? row.vault_id} AND name = ${edit.name ?? row.name}`
  await rewrite(stand, row)
}

/**
 * One edit for every byte: of the sealed value, of the name, of each host and of the version, and hosts that
 * were added, dropped, doubled and put in another order. Each edit names the row to ask for afterwards.
 * @param bit which bit of a sealed byte is flipped
 */
export function bytewise(row: RawSecret, bit: (at: number) => number): readonly Tampering[] {
  const hosts = row.hosts ?? []
  const [host = ''] = hosts
  const { name } = row
  const sealed = Array.from(row.sealed, (byte, at) => {
    const copy = Buffer.from(row.sealed)
    copy[at] = byte ^ (1 << bit(at))
    return { what: `sealed byte ${at}`, edit: { sealed: copy }, name, host }
  })
  const names = Array.from(name, (_, at) => {
    const other = replaced(name, at)
    return { what: `name byte ${at}`, edit: { name: other }, name: other, host }
  })
  const hostBytes = hosts.flatMap((text, nth) =>
    Array.from(text, (_, at) => {
      const other = replaced(text, at)
      return { what: `host ${nth} byte ${at}`, edit: { hosts: hosts.with(nth, other) }, name, host: other }
    }),
  )
  const versions = Array.from(row.version, (digit, at) => {
    const version = `${row.version.slice(0, at)}${(Number(digit) + 1) % 10}${row.version.slice(at + 1)}`
    return { what: `version digit ${at}`, edit: { version }, name, host }
  })
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['a host added', [...hosts, 'evil.example']],
    ['a host put before', ['evil.example', ...hosts]],
    ['a host dropped', hosts.slice(0, -1)],
    ['a host doubled', [...hosts, host]],
    ['hosts in another order', [...hosts].reverse()],
    ['hosts joined', [hosts.join('')]],
  ]
  return [
    ...sealed,
    ...names,
    ...hostBytes,
    ...versions,
    ...lists.flatMap(([what, list]) =>
      list.map((asked) => ({ what, edit: { hosts: list }, name, host: asked })),
    ),
    { what: 'the next version', edit: { version: String(Number(row.version) + 1) }, name, host },
    { what: 'an empty value', edit: { sealed: Buffer.alloc(0) }, name, host },
    { what: 'a value cut short', edit: { sealed: row.sealed.subarray(0, -1) }, name, host },
    {
      what: 'a value made longer',
      edit: { sealed: Buffer.concat([row.sealed, Buffer.alloc(1)]) },
      name,
      host,
    },
  ]
}

/** Another letter or digit in that place: a row that the schema takes and that is asked for. */
function replaced(text: string, at: number): string {
  return `${text.slice(0, at)}${text[at] === 'a' ? 'b' : 'a'}${text.slice(at + 1)}`
}
