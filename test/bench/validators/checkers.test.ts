import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readValidatorsOptions } from '../../../bench/validators/options.ts'
import { checkersOf } from '../../../bench/validators/checkers.ts'
import { SAMPLES } from '../../../bench/validators/samples.ts'
import { VALIDATED, VALIDATORS } from '../../../bench/validators/settings.ts'
import { startValidator } from '../../../bench/validators/subjects.ts'
import type { ScenarioRecord } from '../../../bench/record.ts'
import { plainEnvironment } from '../../support/load/load.ts'
import { ROOT } from '../../support/source.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What is judged is the record, and not the figures in it. */
const SHORTLY = ['--repeats', '1', '--warm-up-ms', '10']
const packages = join(ROOT, 'tools/peers')

for (const name of VALIDATORS) {
  t.test(`${name} accepts the valid samples and refuses the invalid ones`, async (t) => {
    const started = await startValidator(name, ROOT)
    if ('absent' in started) return void t.comment(started.absent)
    await started.stop()
    const checkers = checkersOf({ name, packages })
    for (const body of VALIDATED) {
      for (const { name: sample, value, isGood } of SAMPLES[body])
        t.equal(checkers.get(body)?.(value), isGood, `${body}: ${sample}`)
    }
  })
}

t.test('a validator in its own process reports its number of checks and its verdicts', async (t) => {
  const one = await startValidator('sluice', ROOT)
  if ('absent' in one) throw new Error(one.absent)
  t.teardown(() => one.stop())
  const [good, ...others] = SAMPLES.embeddings
  const found = await one.run({ body: 'embeddings', sample: good?.name ?? '', durationMs: 20 })
  t.ok(found.validations > 0 && found.cpuUs >= 0 && found.wallMs >= 20)
  t.equal(found.isAccepted, true)
  t.match(await one.run({ body: 'embeddings', sample: others.at(-1)?.name ?? '', durationMs: 5 }), {
    isAccepted: false,
  })
})

t.test('reports a validator that exits, without waiting for it', async (t) => {
  const one = await startValidator('sluice', ROOT)
  if ('absent' in one) throw new Error(one.absent)
  const asked = one.run({ body: 'video', sample: 'a prompt', durationMs: 60_000 })
  const ended = t.rejects(asked, /a validator ended/)
  await one.stop()
  await ended
})

t.test('leaves out a validator that is not installed, and says how to install it', async (t) => {
  t.match(await startValidator('zod', '/nowhere'), { name: 'zod', absent: /npm ci/ })
})

t.test('the validator of Sluice always runs, and others run when they are named', async (t) => {
  t.match(readValidatorsOptions(['--against', 'zod', '--duration', '2']), {
    only: ['sluice', 'zod'],
    seconds: 2,
  })
  t.match(readValidatorsOptions([]), { only: [...VALIDATORS] })
  t.match(readValidatorsOptions(['--against', 'joi']), /^--against takes some of/)
})

t.test('the scenario leaves a record with a row of each subject in each case', async (t) => {
  const folder = temporaryFolder(t, 'validators')
  const file = join(folder, 'record.json')
  const args = ['dist/bench/validators.js', '--against', 'typebox-0.34', ...SHORTLY, '--record', file]
  const ran = spawnSync(process.execPath, args, { cwd: ROOT, env: plainEnvironment(), encoding: 'utf8' })
  t.equal(ran.status, 0, ran.stderr)
  const record = JSON.parse(await readFile(file, 'utf8')) as ScenarioRecord
  const cases = VALIDATED.flatMap((body) => SAMPLES[body].map(({ name }) => `${body}: ${name}`))
  t.same(
    record.rows.map(({ case: name, subject }) => [name, subject]),
    cases.flatMap((name) => [
      [name, 'sluice'],
      [name, 'typebox-0.34'],
    ]),
  )
  t.equal(
    record.rows.every(({ failed, cpu_us_per_request: { median } }) => failed === 0 && median > 0),
    true,
  )
  t.equal(record.ratios.length, cases.length)
})
