import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { clusterFolderOf } from '../../../../src/server/supervisor/postgres/postgres-cluster.ts'
import {
  nodeSettings,
  runToEnd,
  startNode,
  until,
  type Settings,
  type TestNode,
} from '../../../support/nodes/node.ts'
import type { Proof } from '../../proof.ts'

const FILE_BYTES = 1_000

/** A node with a stored file, started again without its root key, and as of another Postgres. */
export async function brokenData(proof: Proof): Promise<void> {
  const settings = await nodeSettings(proof, { isEmbedded: true })
  const node = await startNode(proof, settings)
  await store(node)
  await node.stop()
  const file = join(node.dataDir, 'root-key')
  const key = readFileSync(file)
  rmSync(file)
  await refused(proof, settings, {
    what: 'the root key is gone',
    says: /root key [0-9a-f]{16} is missing: \d+ keys? encrypted with it cannot be decrypted; before you start the node, restore the key/,
  })
  proof.check('no other key is made', !existsSync(file), existsSync(file) ? 'one was' : 'none')
  writeFileSync(file, key, { mode: 0o600 })
  const version = join(clusterFolderOf(node.dataDir) ?? '', 'data/PG_VERSION')
  const ours = readFileSync(version, 'utf8')
  writeFileSync(version, '16\n')
  await refused(proof, settings, {
    what: 'the cluster is of another Postgres',
    says: /belongs to Postgres 16, but this Sluice includes Postgres \d+: .*sluice backup/,
  })
  writeFileSync(version, ours)
}

/** On a file system of its own: a start, and a node that runs while it fills up. */
export async function fullDisk(proof: Proof): Promise<void> {
  const plain = await nodeSettings(proof)
  const folder = plain['SLUICE_DATA'] ?? ''
  mkdirSync(folder)
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder], { stdio: 'ignore' })
  } catch {
    return proof.say('a full disk: left out, no file system can be mounted here')
  }
  proof.after(async () => execFileSync('umount', ['-l', folder]))
  const settings = { ...plain, SLUICE_DATA: join(folder, 'data') }
  const ballast = join(folder, 'ballast')
  fill(ballast)
  await refused(proof, settings, {
    what: 'the disk is full',
    says: /the disk of \S+ is full: free space on it/,
  })
  rmSync(ballast)
  const node = await startNode(proof, settings)
  fill(ballast)
  let body = ''
  const untilSays = (what: string) =>
    until(`readiness says ${what}`, async () => (body = (await node.admin('/readyz')).body).includes(what))
  await untilSays('"degraded":["storage"]')
  proof.check(
    'a node whose disk is full is degraded by storage',
    body.includes('"status":"degraded"'),
    '"degraded":["storage"]',
  )
  rmSync(ballast)
  await untilSays('"status":"ready"')
  proof.check('and ready when there is room again', body.includes('"degraded":[]'), '"degraded":[]')
  await node.stop()
}

interface Refusal {
  readonly what: string
  readonly says: RegExp
}

async function refused(proof: Proof, settings: Settings, { what, says }: Refusal): Promise<void> {
  const { code, stdout, stderr } = await runToEnd(settings)
  const sentence = stderr.trim().split('\n').at(-1) ?? ''
  // The log may say more, as that Redis is in memory where no server is on the PATH.
  const isRefused = code !== 0 && !stdout.includes('"event":"ready"') && says.test(sentence)
  proof.check(
    `${what}: no ready line, one sentence with the remedy, exit code other than 0`,
    isRefused,
    `${code}: ${sentence}`,
  )
}

/** A key of the workspace for files is made with the first of them. */
async function store(node: TestNode): Promise<void> {
  const { inference_key: key } = JSON.parse(readFileSync(join(node.dataDir, 'first-keys.json'), 'utf8')) as {
    inference_key: string
  }
  const form = new FormData()
  form.set('purpose', 'assistants')
  form.set('file', new Blob([Buffer.alloc(FILE_BYTES, 'text ')], { type: 'text/plain' }), 'a.txt')
  const answer = await fetch(`${node.ready.url}/api/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  })
  if (!answer.ok) throw new Error(`the file was not stored: ${answer.status} ${await answer.text()}`)
}

function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(80 * 2 ** 20))
  } catch {
    // So it is full.
  }
}
