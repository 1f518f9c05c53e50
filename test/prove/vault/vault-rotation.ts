/** Keys are replaced under load and through a kill, and nothing is lost or seen to change. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { plainEnvironment } from '../../support/load/load.ts'
import { monotonicMs } from '../../support/load/load-plan.ts'
import { runToEnd, sluice } from '../../support/nodes/node.ts'
import { ROOT } from '../../support/source.ts'
import type { Program, Proof } from '../proof.ts'
import { nameOf, prefixOf, seed } from './rotation/seed.ts'
import { startRotationStand, HOST, type RotationStand } from './rotation/stand.ts'
import { startTraffic, WRITES_PER_S, type Tally } from './rotation/traffic.ts'

const FULL = { vaults: 10_000, secretsEach: 10 }
const SHORT = { vaults: 200, secretsEach: 3 }
/** Milliseconds between two looks at how far a rotation is. */
const LOOK_MS = 15

export const program: Program = {
  text: 'rotate-root over 10,000 vaults and rotate-data over 100,000 secrets under 200 writes/s, each killed half way',
  async run(proof) {
    const size = proof.isShort ? SHORT : FULL
    const stand = await startRotationStand(proof)
    const interns = await seed(stand, size)
    proof.say(`${interns.length} vaults with ${interns.length * size.secretsEach} secrets`)
    const before = await fingerprints(stand, interns)
    const file = await sealedFile(stand)
    const oldId = await currentRoot(stand)
    const traffic = await startTraffic(proof, stand, { interns, secretsEach: size.secretsEach, file })
    await rotateRoot(proof, stand, oldId)
    await rotateData(proof, stand)
    reportTraffic(proof, await traffic.stop())
    await left(proof, stand, oldId)
    destroy(stand, oldId)
    await stand.restart()
    await readAll(proof, stand, { interns, secretsEach: size.secretsEach })
    const { status, text } = await stand.call('GET', `/files/${file.id}/content`)
    proof.check(
      'with the old root key destroyed a file that was sealed before is readable',
      status === 200 && text === file.text,
      String(status),
    )
    const after = await fingerprints(stand, interns)
    proof.check(
      'a value has the fingerprint that it had before both rotations',
      after.own === before.own && after.again === before.own,
      after.own,
    )
    proof.check(
      'in another vault it has another one, as before',
      after.other === before.other && after.other !== after.own,
      after.other,
    )
  },
}

async function rotateRoot(proof: Proof, stand: RotationStand, oldId: string): Promise<void> {
  const { store, settings } = stand
  const counts = async () => {
    const [row] = await store.sql<{ old: number; all: number }[]>`
      SELECT count(*) FILTER (WHERE root_key_id = ${oldId})::int AS old, count(*)::int AS all FROM vault_keys`
    return { left: row?.old ?? 0, all: row?.all ?? 0 }
  }
  const killed = await killedHalfWay(proof, stand, { args: ['rotate-root', '--new', '--json'], counts })
  proof.checkTimed(
    'rotate-root is killed half way',
    killed.left > 0 && killed.left < killed.all,
    `${killed.left} of ${killed.all} keys are left`,
  )
  const beganAt = monotonicMs()
  const { code, stdout, stderr } = await runToEnd(settings, sluice('vault', 'rotate-root', '--json'))
  const logged = code === 0 ? stdout.trim() : `${stdout} ${stderr}`
  proof.check(
    'rotate-root ends what the killed one has left',
    code === 0,
    `exit code ${code}, ${logged}, ${seconds(beganAt)}`,
  )
}

async function rotateData(proof: Proof, stand: RotationStand): Promise<void> {
  const { store, settings } = stand
  const [{ now } = { now: '' }] = await store.sql<{ now: string }[]>`SELECT clock_timestamp()::text AS now`
  const counts = async () => {
    const [row] = await store.sql<{ old: number; all: number }[]>`
      SELECT count(*) FILTER (WHERE created_at < ${now}::text::timestamptz)::int AS old, count(*)::int AS all
      FROM vault_keys WHERE purpose = 'sealing' AND is_current`
    return { left: row?.old ?? 0, all: row?.all ?? 0 }
  }
  const killed = await killedHalfWay(proof, stand, {
    args: ['rotate-data', '--made-before', now, '--json'],
    counts,
  })
  proof.checkTimed(
    'rotate-data is killed half way',
    killed.left > 0 && killed.left < killed.all,
    `${killed.left} of ${killed.all} vaults are left`,
  )
  const beganAt = monotonicMs()
  const { code, stdout, stderr } = await runToEnd(
    settings,
    sluice('vault', 'rotate-data', '--made-before', now, '--json'),
  )
  const logged = code === 0 ? stdout.trim() : `${stdout} ${stderr}`
  proof.check(
    'rotate-data ends what the killed one has left',
    code === 0,
    `exit code ${code}, ${logged}, ${seconds(beganAt)}`,
  )
}

/**
 * Runs the verb and kills it when half is left; a short run is over sooner, and killed at its first batch.
 * @returns what was left then
 */
async function killedHalfWay<C extends { readonly left: number; readonly all: number }>(
  proof: Proof,
  { settings }: RotationStand,
  { args, counts }: { readonly args: readonly string[]; readonly counts: () => Promise<C> },
): Promise<C> {
  const [command = '', ...words] = sluice('vault', ...args)
  const child = spawn(command, words, {
    env: { ...plainEnvironment(), ...settings },
    cwd: ROOT,
    stdio: 'ignore',
  })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  while (child.exitCode === null) {
    const { left, all } = await counts()
    if (proof.isShort ? left < all : left <= all / 2) break
    await after(LOOK_MS)
  }
  child.kill('SIGKILL')
  await ended
  return counts()
}

function reportTraffic(
  proof: Proof,
  { seconds: took, writes, reads, failedReads, failedWrites }: Tally,
): void {
  for (const text of [...failedReads.slice(0, 10), ...failedWrites.slice(0, 10)]) proof.say(text)
  const kinds = Object.entries(reads)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')
  proof.check(
    'no read fails meanwhile',
    failedReads.length === 0 && Object.keys(reads).length === 4,
    `${failedReads.length} of ${kinds}`,
  )
  proof.check(
    'no write fails meanwhile',
    failedWrites.length === 0 && writes > 0,
    `${failedWrites.length} of ${writes}`,
  )
  const [rate, wanted] = [writes / took, proof.isShort ? WRITES_PER_S.short : WRITES_PER_S.full]
  proof.checkTimed(
    `${wanted} writes a second`,
    rate >= 0.95 * wanted,
    `${rate.toFixed(0)}/s for ${took.toFixed(0)} s`,
  )
}

async function left(proof: Proof, { store, settings }: RotationStand, oldId: string): Promise<void> {
  const [rows] = await store.sql<{ roots: number; sealing: number; secrets: number }[]>`
    SELECT (SELECT count(*) FROM vault_keys WHERE root_key_id = ${oldId})::int
        + (SELECT count(*) FROM data_keys WHERE root_key_id = ${oldId})::int AS roots,
      (SELECT count(*) FROM vault_keys WHERE NOT is_current)::int AS sealing,
      (SELECT count(*) FROM secrets s JOIN vault_keys k ON k.id = s.key_id WHERE NOT k.is_current)::int AS secrets`
  proof.check('no row is left on the old root key', rows?.roots === 0, `${rows?.roots} rows`)
  const isNone = rows?.sealing === 0 && rows.secrets === 0
  proof.check(
    'no secret and no key is left of the old sealing keys',
    isNone,
    `${rows?.secrets} secrets, ${rows?.sealing} keys`,
  )
  const { code, stdout } = await runToEnd(settings, sluice('vault', 'status', '--json'))
  const status = JSON.parse(stdout) as { root_keys: { id: string; can_be_destroyed: boolean }[] }
  const old = status.root_keys.find(({ id }) => id === oldId)
  proof.check(
    'vault status says that the old root key can be destroyed',
    code === 0 && old?.can_be_destroyed === true,
    `exit code ${code}`,
  )
  const audit = await runToEnd(settings, sluice('audit', 'verify'))
  proof.check('the audit log verifies', audit.code === 0, audit.stdout.trim().split('\n').at(-1) ?? '')
}

/** As the operator does it: the line of the old key goes. */
function destroy({ node }: RotationStand, oldId: string): void {
  const path = join(node.dataDir, 'root-key')
  const lines = readFileSync(path, 'utf8').split('\n')
  writeFileSync(path, lines.filter((line) => !line.startsWith(oldId)).join('\n'))
}

async function readAll(
  proof: Proof,
  stand: RotationStand,
  { interns, secretsEach }: { readonly interns: readonly string[]; readonly secretsEach: number },
): Promise<void> {
  const release = stand.releaser()
  let wrong = 0
  for (const internId of interns) {
    const values = await Promise.all(
      Array.from({ length: secretsEach }, (_, nth) => release(internId, nameOf(nth))),
    )
    wrong += values.filter((value, nth) => value?.startsWith(prefixOf(internId, nameOf(nth))) !== true).length
  }
  const all = interns.length * secretsEach
  proof.check(
    'with the old root key destroyed every secret is readable',
    wrong === 0,
    `${all - wrong} of ${all}`,
  )
}

/** Of one value written by the node: into a vault, under another name of it, and into another vault. */
async function fingerprints(
  stand: RotationStand,
  interns: readonly string[],
): Promise<Readonly<Record<'own' | 'again' | 'other', string>>> {
  const put = async (internId: string | undefined, name: string): Promise<string> => {
    const body = JSON.stringify({ hosts: [HOST], value: 'the same value everywhere' })
    const { text } = await stand.call('PUT', `/vault/interns/${internId}/secrets/${name}`, { body })
    return (JSON.parse(text) as { data: { fingerprint: string } }).data.fingerprint
  }
  return {
    own: await put(interns[0], 'kept_one'),
    again: await put(interns[0], 'kept_two'),
    other: await put(interns[1], 'kept_one'),
  }
}

/** Written to a container and promoted, so that it may be read. */
async function sealedFile({ call }: RotationStand): Promise<{ readonly id: string; readonly text: string }> {
  const text = 'sealed before the rotation\n'.repeat(4_000)
  const headers = { 'content-type': 'text/plain' }
  const put = await call('PUT', '/containers/sess_prove/files/kept.txt', { headers, body: text })
  const promoted = await call(
    'POST',
    `/containers/sess_prove/files/cfile_${Buffer.from('kept.txt').toString('base64url')}/promote`,
  )
  const { id } = JSON.parse(promoted.text) as { id?: string }
  if (put.status !== 200 || id === undefined)
    throw new Error(`no promoted file: ${put.status}, ${promoted.text}`)
  return { id, text }
}

async function currentRoot({ store }: RotationStand): Promise<string> {
  const rows = await store.sql<
    { id: string }[]
  >`SELECT DISTINCT root_key_id AS id FROM vault_keys UNION SELECT root_key_id FROM data_keys`
  const [row] = rows
  if (row === undefined || rows.length > 1) throw new Error('the seed has one root key')
  return row.id
}

function seconds(beganAt: number): string {
  return `${((monotonicMs() - beganAt) / 1_000).toFixed(1)} s`
}
