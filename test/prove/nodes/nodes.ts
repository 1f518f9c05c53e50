/**
 * Two nodes as deploy/compose.yaml runs them, on one Postgres, one Redis and one bucket, behind the load
 * balancer of deploy/.
 */
import { startLoad } from '../../support/load/load.ts'
import type { LoadRequest } from '../../support/load/load-plan.ts'
import { pause } from '../../support/nodes/spawned.ts'
import type { FirstKeys } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'
import { install, replaceNode, whyNotInstalled, type Installation } from './installation.ts'

export const program: Program = {
  text: 'two nodes behind the load balancer of deploy/: what one keeps the other one serves, and each is replaced under load',
  async run(proof) {
    proof.skipped = await whyNotInstalled()
    if (proof.skipped !== null) return
    const installation = await install(proof)
    await shared(proof, installation)
    await replaced(proof, installation)
    for (const node of installation.nodes.slice(proof.isShort ? 1 : 0)) {
      const code = await node.stop()
      proof.check(`the node on ${node.port} ends by itself`, code === 0, `exit code ${code}`)
    }
  },
}

/** What is written through the balancer is read at either node. */
async function shared(proof: Proof, { url, nodes, keys, balancer }: Installation): Promise<void> {
  const authorization = `Bearer ${keys.inference_key}`
  const text = 'day,calls\nmonday,7\ntuesday,9\n'
  const path = '/api/v1/containers/sess_nodes/files/out/a.csv'
  const put = await fetch(url + path, { method: 'PUT', headers: { authorization }, body: text })
  const id = `cfile_${Buffer.from('out/a.csv').toString('base64url')}`
  for (const { port } of nodes) {
    const read = await fetch(`http://127.0.0.1:${port}/api/v1/containers/sess_nodes/files/${id}/content`, {
      headers: { authorization },
    })
    const isSame = (await read.text()) === text
    proof.check(
      `a file that was put through the balancer is read at the node on ${port}`,
      put.ok && read.ok && isSame,
      `${put.status}, ${read.status}`,
    )
  }
  await revoked(proof, { url, nodes, keys })
  await Promise.all(
    Array.from({ length: 8 }, () =>
      fetch(`${url}/api/v1/models/count`, { headers: { authorization } }).then((answer) => answer.text()),
    ),
  )
  const isToBoth = (): boolean => Object.keys(balancer.answered()).length === 2
  // It logs a call after its answer.
  for (let look = 0; look < LOOKS_MAX && !isToBoth(); look++) await pause(LOOK_MS)
  proof.check('the balancer sends to both', isToBoth(), JSON.stringify(balancer.answered()))
}

async function revoked(
  proof: Proof,
  { url, nodes, keys }: Pick<Installation, 'url' | 'nodes' | 'keys'>,
): Promise<void> {
  const headers = { authorization: `Bearer ${keys.management_key}`, 'content-type': 'application/json' }
  const made = await fetch(`${url}/api/v1/keys`, { method: 'POST', headers, body: '{"name":"short"}' })
  const { key, data } = (await made.json()) as {
    readonly key: string
    readonly data: { readonly hash: string }
  }
  const ask = (port: number): Promise<number> =>
    fetch(`http://127.0.0.1:${port}/api/v1/models/count`, {
      headers: { authorization: `Bearer ${key}` },
    }).then(({ status }) => status)
  const statuses = (): Promise<readonly number[]> => Promise.all(nodes.map(({ port }) => ask(port)))
  const before = await statuses()
  await fetch(`${url}/api/v1/keys/${data.hash}`, { method: 'DELETE', headers })
  let behind = await statuses()
  for (let look = 0; look < LOOKS_MAX && behind.includes(200); look++) {
    await pause(LOOK_MS)
    behind = await statuses()
  }
  const isApplied = `${before} ${behind}` === '200,200 401,401'
  proof.check(
    'a key works at both nodes, and is refused at both once it is deleted at one',
    isApplied,
    `${before}; ${behind}`,
  )
}

const LOOKS_MAX = 600
const LOOK_MS = 50
/** Of the short form, for a slow machine. */
const ANSWER_MS_MAX = 120_000

/** Each node is ended and started again, as in an upgrade, while calls go on. */
async function replaced(proof: Proof, installation: Installation): Promise<void> {
  const { nodes, port } = installation
  const load = await startLoad({
    host: '127.0.0.1',
    port,
    connections: 16,
    durationMs: 600_000,
    // In short no more at once than a slow machine answers.
    ...(proof.isShort
      ? { pace: { kind: 'closed' }, ratePerSMax: 50, answerTimeoutMs: ANSWER_MS_MAX }
      : { pace: { kind: 'open', ratePerS: 500 } }),
    requests: requestsOf(installation.keys),
  })
  const restMs = proof.isShort ? 500 : 10_000
  await pause(restMs)
  // In short the other one goes on alone.
  for (const index of proof.isShort ? [0] : nodes.keys()) {
    await replaceNode(proof, installation, { index, isStarted: !proof.isShort })
    await pause(restMs)
  }
  const result = await load.stop()
  const failed = result.requests - (result.statuses[200] ?? 0)
  proof.check(
    'no call fails while nodes are replaced',
    failed === 0 && result.requests > 0,
    `${tally(result.statuses)} ${result.failures.join(', ')}`,
  )
}

function requestsOf(keys: FirstKeys): readonly LoadRequest[] {
  const headers = { authorization: `Bearer ${keys.inference_key}` }
  const body = JSON.stringify({ model: 'sluice/lexical-1', input: 'The quick brown fox', dimensions: 8 })
  return [
    { method: 'GET', path: '/api/v1/models/count', headers, body: '' },
    {
      method: 'POST',
      path: '/api/v1/embeddings',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    },
  ]
}
