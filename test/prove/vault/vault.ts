/** Secrets are released to exactly their hosts, and no edit of their rows changes that. */
import { openRootKeys } from '../../../src/server/vault/root-keys.ts'
import { VaultKeys } from '../../../src/server/vault/vault-keys.ts'
import { openSecretRows } from '../../../src/server/store/vault/secrets.ts'
import type { VaultScope } from '../../../src/server/ports/vault/vault.ts'
import { openPools } from '../../../src/workers/pool.ts'
import { startFileStand, type FileStand } from '../../support/files/file-stand.ts'
import { SILENT } from '../../support/log.ts'
import { NEAR_MISSES } from '../../support/egress/near-hosts.ts'
import {
  bytewise,
  rawOf,
  releasing,
  restore,
  rewrite,
  type Edit,
  type RawSecret,
  type TamperStand,
} from '../../support/vault/tampering.ts'
import { median, type Program, type Proof } from '../proof.ts'

const HOST = 'api.example.com'
const HOSTS = [HOST, 'b.example', 'zz.example']
const VALUE = 'the value that nobody reads back'
/** Hosts that are nearly the host of a secret. */
const NEAR_MISSES_MIN = 60
const BITS = 8
const RELEASES_TIMED = 400

export const program: Program = {
  text: 'Near-miss hosts, flipped bytes, swapped ciphertexts and fingerprints of secrets in a real node',
  async run(proof) {
    const node = await startFileStand(proof)
    const vault = await openVault(proof, node)
    await put(node, 'github_token', VALUE)
    await nearMisses(proof, vault)
    await flips(proof, vault)
    await swaps(proof, vault)
    await fingerprints(proof, vault)
    await timed(proof, vault)
  },
}

interface ProvedVault {
  readonly node: FileStand
  readonly release: TamperStand['release']
  readonly events: TamperStand['events']
  /** The first workspace's, and another one of the same organization. */
  readonly scope: VaultScope
  readonly intern: VaultScope & { readonly internId: string }
  row(name: string): Promise<RawSecret>
}

/** Releases as a front makes them, over the node's own database and root key. */
async function openVault(proof: Proof, node: FileStand): Promise<ProvedVault> {
  const { store, stand } = node
  const rows = openSecretRows(store)
  const keys = new VaultKeys({
    rows,
    rootKeys: openRootKeys({ setting: null, file: null, dataDir: stand.dataDir }),
  })
  const pools = openPools({ shortThreads: 1, sessionThreads: 1, queueMax: 64, log: SILENT })
  proof.after(() => pools.close())
  const scope = { organizationId: stand.keys.organization_id, workspaceId: node.workspaceId, internId: null }
  const answer = await asManager(node, 'POST', '/interns', { name: 'Prove', provision: false })
  const { id } = JSON.parse(answer.text) as { id: string }
  return {
    node,
    ...releasing({ rows, keys, jobs: pools.jobs }),
    scope,
    intern: { ...scope, internId: id },
    async row(name) {
      const [found] = await store.sql<{ vault_id: string }[]>`
        SELECT s.vault_id FROM secrets s JOIN vaults v ON v.id = s.vault_id WHERE s.name = ${name} AND v.kind = 'workspace'`
      return rawOf(node, found?.vault_id ?? '', name)
    },
  }
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly fingerprint: string
}

async function put(node: FileStand, path: string, value: string): Promise<Answer> {
  const place = path.includes('/') ? path : `secrets/${path}`
  return ask(node, {
    method: 'PUT',
    path: `/vault/${place}`,
    body: { hosts: HOSTS, value },
    apiKey: node.stand.keys.inference_key,
  })
}

function asManager(node: FileStand, method: string, path: string, body: unknown): Promise<Answer> {
  return ask(node, { method, path, body, apiKey: node.stand.keys.management_key })
}

async function ask(
  node: FileStand,
  asked: { method: string; path: string; body: unknown; apiKey: string },
): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${node.stand.port}/api/v1${asked.path}`, {
    method: asked.method,
    headers: {
      authorization: `Bearer ${asked.apiKey}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify(asked.body),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${asked.method} ${asked.path}: ${answer.status} ${text}`)
  const { data } = JSON.parse(text) as { data?: { fingerprint?: string } }
  return { status: answer.status, text, fingerprint: data?.fingerprint ?? '' }
}

async function nearMisses(proof: Proof, { release, scope }: ProvedVault): Promise<void> {
  const released: string[] = []
  for (const host of NEAR_MISSES) if ((await release(scope, 'github_token', host)).ok) released.push(host)
  const isMet = released.length === 0 && NEAR_MISSES.length >= NEAR_MISSES_MIN
  proof.check('near-miss hosts get nothing', isMet, `${released.length} of ${NEAR_MISSES.length} released`)
  const exact = await release(scope, 'github_token', HOST)
  proof.check(
    'the exact host gets the value',
    exact.ok && exact.value.reveal() === VALUE,
    exact.ok ? 'released' : exact.failure.name,
  )
}

/** Every byte of the row; of the sealed ones every bit, or in the short form one. */
async function flips(proof: Proof, vault: ProvedVault): Promise<void> {
  const row = await vault.row('github_token')
  const released: string[] = []
  let tried = 0
  const before = vault.events.length
  for (let bit = 0; bit < (proof.isShort ? 1 : BITS); bit++) {
    for (const { what, edit, name, host } of bytewise(row, (at) => (at + bit) % BITS)) {
      tried++
      if (await isReleased(vault, { row, edit, name, host })) released.push(what)
    }
  }
  for (const what of released.slice(0, 10)) proof.say(`released: ${what}`)
  proof.check(
    'a row with any byte edited is refused',
    released.length === 0,
    `${tried - released.length} of ${tried} refused`,
  )
  const audited = vault.events.slice(before).filter(({ outcome }) => outcome === 'refused').length
  proof.check('every refusal is audited', audited === tried, `${audited} events`)
}

interface Tried {
  readonly row: RawSecret
  readonly edit: Edit
  readonly name: string
  readonly host: string
}

async function isReleased(
  { node, release, scope }: ProvedVault,
  { row, edit, name, host }: Tried,
): Promise<boolean> {
  await rewrite(node, row, edit)
  const { ok } = await release(scope, name, host)
  await restore(node, row, edit)
  return ok
}

async function swaps(proof: Proof, vault: ProvedVault): Promise<void> {
  const { node, intern } = vault
  const old = await vault.row('github_token')
  await put(node, 'github_token', `${VALUE} anew`)
  await put(node, 'other', VALUE)
  await put(node, `interns/${intern.internId}/secrets/github_token`, VALUE)
  const row = await vault.row('github_token')
  const [ofIntern] = await node.store.sql<
    RawSecret[]
  >`SELECT s.* FROM secrets s JOIN interns i ON i.vault_id = s.vault_id`
  let released = 0
  let tried = 0
  for (const other of [old, await vault.row('other'), ofIntern]) {
    if (other === undefined) continue
    for (const edit of [{ sealed: other.sealed }, { sealed: other.sealed, key_id: other.key_id }]) {
      tried++
      if (await isReleased(vault, { row, edit, name: 'github_token', host: HOST })) released++
    }
  }
  proof.check(
    'values of other versions, names and vaults are refused',
    released === 0 && tried === 6,
    `${released} of ${tried} released`,
  )
}

async function fingerprints(proof: Proof, { node, intern }: ProvedVault): Promise<void> {
  const own = await put(node, 'print_a', VALUE)
  const twin = await put(node, 'print_b', VALUE)
  const again = await put(node, 'print_a', VALUE)
  const changed = await put(node, 'print_b', `${VALUE}.`)
  const other = await put(node, `interns/${intern.internId}/secrets/print_a`, VALUE)
  const isForm = /^sha256:[0-9a-f]{64}$/.test(own.fingerprint)
  const isEqual = own.fingerprint === twin.fingerprint && own.fingerprint === again.fingerprint
  proof.check(
    'one value in one vault has one fingerprint, also when it is written again',
    isForm && isEqual,
    own.fingerprint,
  )
  const isOther = other.fingerprint !== own.fingerprint && changed.fingerprint !== own.fingerprint
  proof.check('another vault or value has another', isOther, other.fingerprint)
}

async function timed(proof: Proof, { release, scope }: ProvedVault): Promise<void> {
  const durations: number[] = []
  for (let nth = 0; nth < RELEASES_TIMED; nth++) {
    const begun = performance.now()
    await release(scope, 'print_a', HOST)
    durations.push(performance.now() - begun)
  }
  proof.checkTimed(
    'a release takes at most 2 ms',
    median(durations) <= 2,
    `median ${median(durations).toFixed(2)} ms`,
  )
}
