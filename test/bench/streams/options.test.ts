import t from 'tap'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { routed } from '../../../bench/suite/routed.ts'
import { bodiesOf } from '../../../bench/streams/prompts.ts'
import { randomOf } from '../../../bench/streams/draws.ts'
import { readStreamsOptions, type StreamsOptions } from '../../../bench/streams/options.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { isWithin, sloOf } from '../../../bench/streams/slo.ts'

const TARGET = ['--target', 'https://sluice.example', '--key', 'sk-1', '--stream']
const read = (...args: readonly string[]): StreamsOptions | string => readStreamsOptions([...TARGET, ...args])
const taken = (...args: readonly string[]): StreamsOptions => {
  const options = read(...args)
  if (typeof options === 'string') throw new Error(options)
  return options
}

t.test('--stream selects the load test of streams', async (t) => {
  t.equal(routed(TARGET)[0], 'streams')
  t.equal(routed(TARGET.slice(0, 4))[0], 'deployment')
})

t.test('the load is a closed loop of few streams without a rate, and open with rates', async (t) => {
  t.match(taken(), {
    rates: [],
    connections: 8,
    dialect: 'chat',
    basePath: '/api/v1',
    model: 'sluice/echo-1:slow',
  })
  t.match(taken('--rates', '40,10'), { rates: [10, 40], connections: 4096, arrivals: 'poisson' })
  t.match(taken('--rate', '5', '--connections', '2', '--arrivals', 'uniform'), {
    rates: [5],
    connections: 2,
    arrivals: 'uniform',
  })
})

t.test('accepts any API as a target, under the path of its URL', async (t) => {
  const options = readStreamsOptions(['--target', 'http://127.0.0.1:8000/v1/', '--key', 'k', '--stream'])
  t.match(options, { basePath: '/v1', origin: { text: 'http://127.0.0.1:8000' } })
})

t.test('options that contradict each other, and values out of range, are refused in one line', async (t) => {
  for (const [args, message] of [
    [['--rate', '1', '--rates', '2,3'], /give one of them/],
    [['--rate', '1,2'], /several are --rates/],
    [['--arrivals', 'uniform'], /needs --rate/],
    [['--connections', '4097'], /from 1 to 4096/],
    [['--duration', '3601'], /from 1 to 3600/],
    [['--rates', '1,2,3,4', '--duration', '3600', '--repeats', '2'], /the most: a shorter --duration/],
    [['--prompts', 'x', '--answer-tokens', '3'], /has no meaning with it/],
    [['--prompts', '/does/not/exist'], /--prompts: the file cannot be read/],
    [['--slo', 'ttft=5'], /--slo takes ttft=500ms/],
    [['--max-errors', '10'], /a share from 0% to 100%/],
    [['--dialect', 'chat,messages'], /--dialect takes one value/],
  ] as const)
    t.match(read(...args), message, args.join(' '))
})

t.test('sends the bodies of a file in turn, streamed, each with its own model if it has one', async (t) => {
  const file = join(temporaryFolder(t, 'prompts'), 'prompts.ndjson')
  writeFileSync(file, '{"messages":[],"stream":false}\n\n{"model":"own","messages":[]}\n')
  const { prompts, dialect, model } = taken('--prompts', file, '--model', 'm')
  const bodies = bodiesOf(prompts, { dialect, model, random: randomOf(1) })
  const three = Array.from({ length: 3 }, () => JSON.parse(bodies.next().value) as Record<string, unknown>)
  t.match(three, [
    { model: 'm', stream: true, stream_options: { include_usage: true } },
    { model: 'own', stream: true },
    { model: 'm' },
  ])
  writeFileSync(file, '{"messages":[]}\n[1]\n')
  t.match(read('--prompts', file), /line 2 is no JSON object/)
})

t.test('a stream is good when it meets each given time, and a missing time is not a fault', async (t) => {
  const slo = sloOf('ttft=500ms,gap=50ms,total=2s')
  t.same(slo, { first: 500, gap: 50, total: 2_000 })
  t.ok(isWithin(slo, { first: 500, gap: 50, total: 2_000 }))
  t.ok(isWithin(slo, { first: 1, gap: Number.NaN, total: 1 }))
  for (const late of [{ first: 501 }, { gap: 51 }, { total: 2_001 }])
    t.notOk(isWithin(slo, { first: 1, gap: 1, total: 1, ...late }))
})
