import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { besideOthers } from '../../../bench/limits/beside.ts'
import { limiterRequest, startLimiter } from '../../../bench/limits/limiter-targets.ts'
import { LIMITERS, openLimiter } from '../../../bench/limits/limiters.ts'
import { scenarioComparisons } from '../../../bench/report/comparisons.ts'
import { burstOf } from '../../../src/schemas/values/rate-burst.ts'
import type { LoadRequest } from '../../support/load/load-plan.ts'
import { processes, tree } from '../../support/load/process-cpu.ts'
import { scenarioRecord } from '../../support/load/results-file.ts'
import { ROOT } from '../../support/source.ts'
import { until } from '../../support/wait.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const LIMIT_RPM = 50
const ASKED = LIMIT_RPM + 10
/** A folder of our own, so that the files of another suite on the machine do not count. */
const TEMPORARY = temporaryFolder(t, 'limits')
process.env['TMPDIR'] = TEMPORARY

async function statuses(
  port: number,
  count: number,
  { headers } = limiterRequest(),
): Promise<readonly number[]> {
  const found: number[] = []
  for (let at = 0; at < count; at++)
    found.push(
      (await fetch(`http://127.0.0.1:${port}/`, { headers: { ...headers, connection: 'close' } })).status,
    )
  return found
}

for (const name of LIMITERS) {
  t.test(`${name} admits the calls that the limit of a key allows, and exits with its Redis`, async (t) => {
    const target = await startLimiter(name, { limitRpm: LIMIT_RPM })
    if ('absent' in target) return void t.comment(target.absent)
    const pids = tree(target.pid).map(({ pid }) => pid)
    const admitted = async (request: LoadRequest): Promise<number> => {
      const found = await statuses(target.port, ASKED, request)
      t.same(
        found.filter((status) => status !== 200 && status !== 429),
        [],
      )
      return found.filter((status) => status === 200).length
    }
    if (name === 'direct') t.equal(await admitted(target.request), ASKED)
    else if (name !== 'sluice') t.equal(await admitted(target.request), LIMIT_RPM)
    // A Redis that is late with an answer counts as away: a fresh key is refused then, as one that may be used up.
    else
      await until('the burst of a key is let in', async () => {
        const count = await admitted(limiterRequest())
        t.ok(count < LIMIT_RPM, `${count} of ${ASKED}`)
        return count >= burstOf(LIMIT_RPM)
      })
    await until('another key is not over its own', async () => (await statuses(target.port, 1))[0] === 200)
    await target.stop()
    const left = processes().filter(({ pid, state }) => pids.includes(pid) && state !== 'Z')
    t.same(
      left.map(({ arguments: words }) => words.join(' ')),
      [],
    )
  })
}

t.test('leaves no Redis files', async (t) => {
  t.same(
    readdirSync(TEMPORARY).filter((one) => existsSync(join(TEMPORARY, one, 'redis.sock'))),
    [],
  )
})

t.test('a limiter without its Redis fails before the first call', async (t) => {
  const means = {
    limitRpm: LIMIT_RPM,
    socketPath: '/nowhere/redis.sock',
    packages: join(ROOT, 'tools/peers'),
    reachableMsMax: 100,
  }
  await t.rejects(openLimiter('sluice', means))
})

t.test('leaves out a limiter that is not installed, and says how to install it', async (t) => {
  for (const name of LIMITERS.slice(1, 3))
    t.match(await startLimiter(name, { limitRpm: 1, packages: '/nowhere' }), { name, absent: /npm ci/ })
})

t.test(
  'each limiter has a row under load, alone and at each limit, and a note of its admissions',
  async (t) => {
    const input = { seconds: 0.2, connections: 4, repeats: 1, warmUpMs: 50, limits: [600] }
    const { rows, notes, subjects, absent } = await besideOthers(input, () => undefined)
    t.equal(subjects.length + absent.length, LIMITERS.length)
    const limiters = subjects.length - 1
    t.equal(rows.length, 2 * subjects.length + limiters)
    // A machine that does ten other things may answer nothing in the fifth of a second that a cell has here.
    const wrong = rows.filter(({ failures }) => failures.some((one) => one !== 'nothing was answered'))
    t.same(
      wrong.map(({ case: name, subject, failures }) => [name, subject, failures]),
      [],
    )
    t.ok(rows.filter(({ failed }) => failed > 0).length < rows.length / 2)
    t.equal(notes.length, limiters)
    // Against no limiter at all there is nothing to win or to lose.
    const kinds = scenarioComparisons(scenarioRecord({ scenario: 'limits', rows }))
      .filter(({ under }) => under === 'direct')
      .map(({ kind }) => kind)
    t.same(
      [...new Set(kinds)].filter((kind) => kind !== 'own'),
      [],
    )
  },
)
