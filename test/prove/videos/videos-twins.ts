/** Equal simultaneous submissions under one key make one job, and another body under it is refused. */
import { randomUUID } from 'node:crypto'
import type { Answer } from './offers.ts'
import { some } from './judging.ts'
import { startKindsProvider } from './provider.ts'
import { modelOf, startVideoStand } from './video-stand.ts'
import { tally, type Program } from '../proof.ts'

const PAIRS = 1_000
const AT_ONCE = 16

export const program: Program = {
  text: '1,000 pairs of equal simultaneous video submissions with one Idempotency-Key on two fronts: 1,000 jobs',
  async run(proof) {
    const provider = await startKindsProvider(proof)
    const bench = await startVideoStand(proof, { fronts: 2, runners: 1, providers: provider.baseUrls })
    const pairs = proof.isShort ? 30 : PAIRS
    const statuses: Record<number, number> = {}
    const found = { different: [] as string[], replayed: 0, ids: new Set<string>(), others: [] as string[] }
    const submit = async (nth: number, key: string, more = ''): Promise<Answer> => {
      const body = { model: modelOf('token'), prompt: `pair ${proof.seed}-${nth};${more}`, duration: 4 }
      const answer = await bench.client.call('POST', '/videos', { body, headers: { 'idempotency-key': key } })
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      return answer
    }
    const pair = async (nth: number): Promise<void> => {
      const key = randomUUID()
      const [one, other] = await Promise.all([submit(nth, key), submit(nth, key)])
      const isTwin = one.status === 202 && other.status === 202 && one.text === other.text
      if (!isTwin)
        found.different.push(
          `${one.status} ${one.text.slice(0, 150)} | ${other.status} ${other.text.slice(0, 150)}`,
        )
      else found.ids.add((JSON.parse(one.text) as { id: string }).id)
      found.replayed += [one, other].filter(({ headers }) => headers['idempotent-replayed'] === 'true').length
      const another = await submit(nth, key, ' but blue')
      if (another.status !== 400) found.others.push(`${another.status} ${another.text.slice(0, 150)}`)
    }
    const turns = Array.from({ length: pairs }, (_, nth) => nth).values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const nth of turns) await pair(nth)
      }),
    )
    const [rows] = await bench.store.sql<{ count: number }[]>`SELECT count(*)::int AS count FROM video_jobs`
    proof.check(
      'twins get the same answer',
      found.different.length === 0,
      `${found.different.length} of ${pairs} differ${some(found.different)}`,
    )
    proof.check(
      'one of each two says that it is a repetition',
      found.replayed === pairs,
      `${found.replayed} of ${pairs}`,
    )
    const isExact = rows?.count === pairs && found.ids.size === pairs
    proof.check(
      'there are as many jobs as pairs',
      isExact,
      `${rows?.count} rows, ${found.ids.size} ids; ${tally(statuses)}`,
    )
    proof.check(
      'another body under the key is 400',
      found.others.length === 0,
      `${found.others.length} are not${some(found.others)}`,
    )
  },
}
