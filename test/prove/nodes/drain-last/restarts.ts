/** Two nodes are restarted in turn behind a load balancer, as docs/operate/upgrading.md says. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startMock } from '../../../support/embeddings/mock.ts'
import { startLoad } from '../../../support/load/load.ts'
import { startHaproxy } from '../../../support/nodes/haproxy.ts'
import { startBalancer } from '../../../support/nodes/nodes.ts'
import { isOnPath } from '../../../support/nodes/outside-stores.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { embeddingsRequest, PROVIDER_KEY, standCatalogue } from '../../../support/nodes/stand.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'
import { startCall, type PacedCall } from '../../inference/paced/callers.ts'
import { drawDialect } from '../../inference/paced/dialects.ts'
import { startPacedProvider } from '../../inference/paced/provider.ts'
import { nativeCatalogue, PACED_MODEL } from '../../inference/paced/stand.ts'
import { tally, type Proof } from '../../proof.ts'
import { install, replaceNode, untilSentTo, type Installation } from '../installation.ts'

const RESTARTS = 12
const CALLS_PER_S = 100
/** Share of the rate that is held where the machine has time for it. */
const RATE_HELD = 0.98
const STREAMS = 8
/** Milliseconds between two words of a stream, and its words, at least and at most: up to 20 s. */
const WORD_MS = 100
const WORDS = [5, 200] as const
/** Milliseconds of a call's provider. */
const LATENCY_MS = 20
const PRICE = '0.000001'
const REST_MS = 2_000

const BALANCERS = [
  { name: 'nginx', balance: startBalancer },
  { name: 'haproxy', balance: startHaproxy },
]

/** Behind each load balancer that this machine has. */
export async function rollingRestarts(proof: Proof): Promise<void> {
  if (!(await isOnPath('redis-server'))) {
    proof.skipped = 'redis-server is not on the PATH: no rolling restarts'
    return
  }
  for (const balancer of BALANCERS)
    if (await isOnPath(balancer.name)) await restarts(proof, balancer)
    else proof.skipped = `${balancer.name} is not on the PATH: no rolling restarts behind it`
}

async function restarts(proof: Proof, { name, balance }: (typeof BALANCERS)[number]): Promise<void> {
  const installation = await install(proof, { settings: await providersOf(proof), balance })
  const load = await startLoad({
    host: '127.0.0.1',
    port: installation.port,
    connections: 32,
    durationMs: 3_600_000,
    pace: { kind: 'open', ratePerS: CALLS_PER_S },
    requests: [embeddingsRequest(installation.keys.inference_key)],
  })
  const streams = startStreams(proof, installation)
  await pause(REST_MS)
  for (let nth = 0; nth < RESTARTS; nth++) {
    const index = nth % installation.nodes.length
    await replaceNode(proof, installation, { index })
    await untilSentTo(installation, index)
    await pause(REST_MS)
  }
  const [calls, called] = [await load.stop(), await streams.stop()]
  const failed = calls.requests - (calls.statuses[200] ?? 0)
  proof.check(
    `${name}, ${RESTARTS} restarts: no call fails`,
    failed === 0 && calls.requests > 0,
    `${failed} of ${calls.requests}: ${tally(calls.statuses)} ${calls.failures.slice(0, 3).join(', ')}`,
  )
  const broken = called.filter(({ status, end }) => status !== 200 || end !== 'whole')
  proof.check(
    `${name}, ${RESTARTS} restarts: no stream is refused or cut`,
    broken.length === 0 && called.length >= STREAMS,
    `${broken.length} of ${called.length} ${broken.map(({ status, end, refusal }) => `${status} ${end} ${refusal}`).slice(0, 3)}`,
  )
  if (failed > 0 || broken.length > 0) for (const line of installation.balancer.errors()) proof.say(line)
  const perS = (calls.requests / calls.measuredMs) * 1_000
  proof.checkTimed(
    `${name}: the rate is held`,
    perS >= CALLS_PER_S * RATE_HELD,
    `${perS.toFixed(0)} a second, p50 ${calls.latency.p50} ms, p99 ${calls.latency.p99} ms`,
  )
}

/** Settings of nodes whose models answer at a steady pace, and after a while. */
async function providersOf(proof: Proof): Promise<Readonly<Record<string, string>>> {
  const paced = await startPacedProvider(WORD_MS)
  proof.after(() => paced.close())
  const mock = await startMock({ dimensions: 8, latencyMs: LATENCY_MS })
  proof.after(() => mock.stop())
  const parts = [standCatalogue(`http://127.0.0.1:${mock.port}`, PRICE), nativeCatalogue(paced.origin)]
  const file = join(temporaryFolder(proof, 'catalogue'), 'catalog.json')
  writeFileSync(
    file,
    JSON.stringify({
      providers: parts.flatMap(({ providers }) => providers),
      models: parts.flatMap(({ models }) => models),
    }),
  )
  return { SLUICE_CATALOG: file, [PROVIDER_KEY]: 'prove' }
}

/** Callers that begin another stream when theirs has ended, each on a connection of its own. */
function startStreams(proof: Proof, { port, keys }: Installation): { stop(): Promise<readonly PacedCall[]> } {
  const calls: PacedCall[] = []
  let isStopped = false
  const caller = async (): Promise<void> => {
    while (!isStopped) {
      const dialect = drawDialect((below) => proof.random(below))
      const words = WORDS[0] + proof.random(WORDS[1] - WORDS[0])
      const asked = { id: `restarts-${proof.seed}-${port}-${calls.length}`, words }
      const call = startCall({ port, model: PACED_MODEL }, { key: keys.inference_key, dialect, asked })
      calls.push(call)
      await call.over
      // A refusal comes at once.
      if (call.end !== 'whole') await pause(REST_MS)
    }
  }
  const callers = Array.from({ length: STREAMS }, caller)
  return {
    async stop() {
      isStopped = true
      await Promise.all(callers)
      return calls
    },
  }
}
