/** What the calls of an upgrade came to: none failed, and each was charged once. */
import type { Store } from '../../../../src/server/store/base/open.ts'
import { sluice, STAND_MODEL } from '../../../support/nodes/stand.ts'
import { until } from '../../../support/wait.ts'
import { checkCharged } from '../../inference/paced/charged.ts'
import { tally, type Proof } from '../../proof.ts'
import { judgeRun } from '../../videos/videos.ts'
import { untilCalm } from '../../videos/video-stand.ts'
import type { Installation } from '../installation.ts'
import { EMBEDDINGS_NANO, type Providers } from './providers.ts'
import type { Traffic } from './traffic.ts'

const CALM_MS_MAX = 120_000

interface Judged {
  readonly installation: Installation
  readonly store: Store
  readonly providers: Providers
  readonly traffic: Traffic
}

export async function judgeTraffic(
  proof: Proof,
  { installation, store, providers, traffic }: Judged,
): Promise<void> {
  const { embeddings, streams, jobs } = traffic
  for (const line of installation.balancer.errors()) proof.say(line)
  const answered = embeddings.statuses[200] ?? 0
  proof.check(
    'no embeddings call fails',
    answered === embeddings.requests && answered > 0,
    `${tally(embeddings.statuses)} ${embeddings.failures.slice(0, 3).join(', ')}`,
  )
  const broken = streams.filter(({ status, end }) => status !== 200 || end !== 'whole')
  proof.check(
    'no stream is refused or breaks',
    broken.length === 0 && streams.length > 0,
    `${broken.length} of ${streams.length} ${broken.map(({ status, end, refusal }) => `${status} ${end} ${refusal}`).slice(0, 3)}`,
  )
  proof.check(
    'each job is accepted at its first offer',
    jobs.accepted.length === jobs.offered && Object.keys(jobs.refused).length === 0,
    `${jobs.accepted.length} of ${jobs.offered}, otherwise: ${tally(jobs.refused)}`,
  )
  await checkEmbeddings(proof, store, answered)
  await checkCharged(proof, { store, provider: providers.paced }, { name: 'streams', calls: streams })
  const calmMs = await untilCalm(store, CALM_MS_MAX)
  proof.check('all jobs end and are told', calmMs !== null, calmMs === null ? 'never' : 'all calm')
  await judgeRun(
    proof,
    { store, receiver: providers.receiver, stand: { cli: (...args) => sluice(args, installation.env) } },
    { offered: jobs.offered, accepted: jobs.accepted, submissions: await providers.videos.submissions() },
  )
}

interface Booked {
  readonly rows: number
  readonly wrong: number
}

/** Rows are written in batches. */
async function checkEmbeddings(proof: Proof, { sql }: Store, answered: number): Promise<void> {
  let booked: Booked = { rows: 0, wrong: 0 }
  await until('all is charged', async () => {
    const [found] = await sql<Booked[]>`
      SELECT count(*)::int AS rows,
        (count(*) FILTER (WHERE kind <> 'usage' OR cost_nano <> ${EMBEDDINGS_NANO}))::int AS wrong
      FROM ledger WHERE model = ${STAND_MODEL}`
    booked = found ?? booked
    return booked.rows >= answered
  }).catch(() => undefined)
  proof.check(
    'each embeddings call has one row, with what it cost',
    booked.rows === answered && booked.wrong === 0,
    `${answered} calls, ${booked.rows} rows, ${booked.wrong} wrong`,
  )
}
