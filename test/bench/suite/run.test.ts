import { EventEmitter } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { optionReader } from '../../../bench/options.ts'
import { checkRecord, type ResultsFile } from '../../../bench/record.ts'
import type { Scenario } from '../../../bench/scenarios.ts'
import { spread } from '../../../bench/statistics.ts'
import { interruptsOf, runBench, type Interrupts } from '../../../bench/suite/main.ts'
import { resultsFile, rowRecord, scenarioRecord } from '../../support/load/bench-records.ts'
import { processRow } from '../../support/load/process-cpu.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { until } from '../../support/wait.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

/** What the scenarios of these tests do, after the file of their record is read from their arguments. */
const HEAD = `const { writeFileSync, mkdirSync } = require('node:fs')
const file = process.argv[process.argv.indexOf('--record') + 1]
mkdirSync(require('node:path').dirname(file), { recursive: true })
`

const NEVER = new AbortController().signal

/** A file is there before its text is. @returns the process that a scenario noted */
async function notedIn(file: string): Promise<number> {
  await until('a process is noted', () => existsSync(file) && readFileSync(file, 'utf8') !== '')
  return Number(readFileSync(file, 'utf8'))
}

interface Ran {
  readonly code: number
  readonly printed: string
  readonly shown: string
  readonly results: ResultsFile
  readonly folder: string
}

async function run(
  bodies: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  interrupts: Partial<Interrupts> = {},
): Promise<Ran> {
  const place = temporaryFolder(t, 'suite')
  const [printed, shown]: [string[], string[]] = [[], []]
  const scenarios = Object.keys(bodies).map((name): Scenario => ({
    name,
    text: `what ${name} costs`,
    help: name,
    hasPeers: false,
    options: optionReader({ numbers: {}, lists: {}, flags: [] }, () => ({})),
    // Far more than any takes: a bar is full at the end of what was expected.
    suite: { args: [], seconds: 100 },
  }))
  for (const [name, body] of Object.entries(bodies)) writeFileSync(join(place, `${name}.cjs`), HEAD + body)
  const code = await runBench(
    args,
    {
      scenarios,
      screen: { write: (text) => shown.push(text) },
      print: (text) => printed.push(text),
      program: (name) => [join(place, `${name}.cjs`)],
      resultsFolder: join(place, 'results'),
      installPeers: async () => undefined,
    },
    { signal: NEVER, hurry: NEVER, ...interrupts },
  )
  const path = /written: (\S+results\.json)/.exec(printed.join('\n'))?.[1] ?? ''
  const results = (path === '' ? null : JSON.parse(readFileSync(path, 'utf8'))) as ResultsFile
  return {
    code,
    printed: printed.join('\n'),
    shown: shown.join(''),
    results,
    folder: path.replace('results.json', ''),
  }
}

const leaves = (name: string, isMet = true, repeats = 3): string => {
  const row = rowRecord('sluice', [1, 2, 3].slice(0, repeats), { head: { scenario: name } })
  const checks = [checkRecord('cheap', spread([1]), { bound: { atMost: isMet ? 1 : 0 }, rows: [row] })]
  const text = JSON.stringify(JSON.stringify(scenarioRecord([row], { checks })))
  return `process.stderr.write('half way\\n'); writeFileSync(file, ${text}); process.exitCode = ${isMet ? 0 : 1}`
}

t.test(
  'each scenario writes its record, results.json has all of them, and the table is printed',
  async (t) => {
    const { code, results, folder, printed, shown } = await run({ a: leaves('a'), b: leaves('b') })
    t.equal(code, 0)
    t.match(results, {
      form: 1,
      command: 'npm run bench',
      versions: { node: process.version },
      machine: { cores: Number },
      scenarios: [{ scenario: 'a' }, { scenario: 'b' }],
    })
    t.ok(existsSync(join(folder, 'raw/a.json')))
    t.match(readFileSync(join(folder, 'report.html'), 'utf8'), /^<!doctype html>/i)
    t.match(printed, /^sluice +2\.0 \(1\.0–3\.0\)/m)
    t.match(shown, /\n\[#+-+\] +\d+ % +\d:\d\d left {2}b: half way\n/)
  },
)

t.test('a missed check sets the exit code, and the run continues', async (t) => {
  const { code, results } = await run({ a: leaves('a', false), b: leaves('b') })
  t.equal(code, 1)
  t.equal(results.scenarios.length, 2)
})

t.test('a run with a peer ends with its one-line result, before the names of its files', async (t) => {
  const rows = ['sluice', 'nginx'].map((subject, at) =>
    rowRecord(subject, [80 - 40 * at, 82 - 40 * at], { head: { scenario: 'a' } }),
  )
  const text = JSON.stringify(JSON.stringify(scenarioRecord(rows)))
  const { printed } = await run({ a: `writeFileSync(file, ${text})` })
  t.match(
    printed,
    /\nin short: a call costs 81\.0 µs of CPU at sluice: 1\.98 × nginx \(a, b; [^\n]+\n\nwritten: /,
  )
  t.notMatch((await run({ a: leaves('a') })).printed, 'in short')
})

t.test('a check that one repeat cannot judge does not fail the run', async (t) => {
  const { code, printed } = await run({ a: leaves('a', false, 1) })
  t.equal(code, 0)
  t.match(printed, /^NOT JUDGED cheap/m)
})

const BROKEN = {
  dies: [
    `process.stderr.write('no such luck\\n'); process.exit(3)`,
    /no figures: it ended with 3; its last words: no such luck/,
  ],
  killed: [`process.kill(process.pid, 'SIGKILL')`, /no figures: it was killed/],
  silent: ['', /no figures: it ended with 0 and \S+ cannot be read/],
  half: [
    `writeFileSync(file, '{"scenario":'); process.exit(0)`,
    /no figures: it ended with 0 and \S+ cannot be read/,
  ],
  empty: [`writeFileSync(file, '{}')`, /no figures: it ended with 0 and \S+ is no record of a scenario/],
  liar: [leaves('a'), /no figures: it ended with 0 and its record is one of 'a'/],
} as const
for (const [name, [body, line]] of Object.entries(BROKEN)) {
  t.test(`reports a scenario that is ${name}, keeps it without figures and runs the others`, async (t) => {
    const { code, results, shown } = await run({ [name]: body, b: leaves('b') })
    t.equal(code, 1)
    t.match(shown, line)
    t.match(results.scenarios, [
      { scenario: name, rows: [], notes: [line] },
      { scenario: 'b', rows: [{ subject: 'sluice' }] },
    ])
  })
}

t.test('an interruption ends the scenario and its processes, and writes the results so far', async (t) => {
  const interrupt = new AbortController()
  const note = join(temporaryFolder(t, 'suite'), 'pid')
  // A server in a session of its own, which outlives its parent.
  const hangs = `const { spawn } = require('node:child_process')
    const server = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' })
    writeFileSync(${JSON.stringify(note)}, String(server.pid)); setInterval(() => {}, 1000)`
  const running = run({ a: leaves('a'), hangs, b: leaves('b') }, [], { signal: interrupt.signal })
  const pid = await notedIn(note)
  interrupt.abort()
  const { code, results } = await running
  t.equal(code, 130)
  t.match(results.scenarios, [{ scenario: 'a' }, { scenario: 'hangs', notes: ['interrupted'] }])
  t.equal(results.scenarios.length, 2)
  // What was ended by force may still be leaving.
  await until(() => !!['Z', undefined].includes(processRow(pid)?.state))
})

t.test('a second interruption kills the processes that do not end by themselves', async (t) => {
  const [first, second] = [new AbortController(), new AbortController()]
  const note = join(temporaryFolder(t, 'suite'), 'pid')
  const deaf = `process.on('SIGTERM', () => {}); writeFileSync(${JSON.stringify(note)}, String(process.pid)); setInterval(() => {}, 1000)`
  const running = run({ deaf }, [], { signal: first.signal, hurry: second.signal })
  const pid = await notedIn(note)
  first.abort()
  await pause(100)
  t.not(processRow(pid), null)
  second.abort()
  t.match(await running, {
    code: 130,
    results: { scenarios: [{ scenario: 'deaf', notes: ['interrupted'] }] },
  })
})

t.test(
  'two signals at once, also from a closing terminal, are one interruption; a later signal hurries the end',
  async (t) => {
    let now = 1_000
    const source = new EventEmitter()
    const { signal, hurry } = interruptsOf(source, () => now)
    t.same([signal.aborted, hurry.aborted], [false, false])
    for (const name of ['SIGHUP', 'SIGINT']) source.emit(name)
    t.same([signal.aborted, hurry.aborted], [true, false])
    now += 1_000
    source.emit('SIGINT')
    t.same([signal.aborted, hurry.aborted], [true, true])
  },
)

t.test('a scenario always removes its temporary files and the Postgres cluster of a node', async (t) => {
  const outside = join(temporaryFolder(t, 'suite'), 'cluster-0f')
  mkdirSync(outside)
  const dies = `const data = require('node:os').tmpdir() + '/stand/data'
    mkdirSync(data, { recursive: true }); writeFileSync(data + '/postgres.json', ${JSON.stringify(JSON.stringify({ cluster: outside }))})
    process.stderr.write(data + '\\n'); process.kill(process.pid, 'SIGKILL')`
  const { results } = await run({ dies })
  const [, folder = ''] = /last words: (\S+)\/stand\/data/.exec(results.scenarios[0]?.notes[0] ?? '') ?? []
  t.match(folder, /sluice-bench-\w+$/)
  t.same([existsSync(folder), existsSync(outside)], [false, false])
})

t.test('reports wrong options and an invalid baseline before anything runs', async (t) => {
  t.match(await run({ a: leaves('a') }, ['--bogus']), {
    code: 2,
    printed: '',
    shown: /^Unknown option '--bogus'/,
  })
  t.match(await run({ a: leaves('a') }, ['--baseline', '/nowhere']), {
    code: 2,
    printed: '',
    shown: /^\/nowhere cannot be read/,
  })
  t.match(await run({ a: leaves('a') }, ['--help']), { code: 0, printed: /what a costs/ })
})

t.test('a comparison fails without common figures, or with a broken run', async (t) => {
  const { folder } = await run({ a: leaves('a'), b: leaves('b') })
  const baseline = ['--baseline', join(folder, 'results.json')]
  t.match(await run({ a: leaves('a'), b: leaves('b') }, baseline), {
    code: 0,
    printed: /figures compared, none worse/,
  })
  t.match(await run({ a: leaves('a'), b: 'process.exit(3)' }, baseline), {
    code: 1,
    printed: /figures compared, none worse/,
  })
  t.match(await run({ c: leaves('c') }, baseline), {
    code: 1,
    shown: /nothing could be compared with the saved run/,
  })
})

t.test('writes the page of a saved run again next to the run, and refuses other files', async (t) => {
  const { folder } = await run({ a: leaves('a') })
  rmSync(join(folder, 'report.html'))
  t.match(await run({ a: leaves('a') }, ['--report', join(folder, 'results.json')]), {
    code: 0,
    printed: /report\.html$/,
  })
  t.ok(existsSync(join(folder, 'report.html')))
  t.match(await run({ a: leaves('a') }, ['--report', join(folder, 'raw/a.json')]), {
    code: 2,
    shown: /is no results\.json of a bench/,
  })
})

t.test('a saved run without common figures lists no slowdowns', async (t) => {
  const { folder } = await run({ a: leaves('a') })
  const { code, printed, shown } = await run({ b: leaves('b') }, ['--baseline', join(folder, 'results.json')])
  t.equal(code, 1)
  t.match(shown, /^nothing could be compared with the saved run$/m)
  t.notMatch(printed, 'none worse')
})

t.test('also writes the record of a single scenario to the file of --json', async (t) => {
  const file = join(temporaryFolder(t, 'suite'), 'record.json')
  await run({ a: leaves('a') }, ['a', '--json', file])
  t.match(JSON.parse(readFileSync(file, 'utf8')), { scenario: 'a' })
})

t.test('reports paths that cannot be written before anything runs', async (t) => {
  const place = temporaryFolder(t, 'suite')
  const file = join(place, 'file')
  writeFileSync(file, JSON.stringify(resultsFile([])))
  mkdirSync(join(place, 'report.html'))
  t.match(await run({ a: leaves('a') }, ['a', '--json', place]), {
    code: 2,
    printed: '',
    shown: /^\S+ cannot be written: it is a folder\n$/,
  })
  t.match(await run({ a: leaves('a') }, ['a', '--record', join(file, 'x')]), {
    code: 2,
    printed: '',
    shown: /^\S+ cannot be written: \w+/,
  })
  t.match(await run({ a: leaves('a') }, ['a', '--record=']), {
    code: 2,
    printed: '',
    shown: "'' cannot be written: it names no file\n",
  })
  t.match(await run({ a: leaves('a') }, ['--report', file]), {
    code: 2,
    printed: '',
    shown: /report\.html cannot be written: it is a folder\n$/,
  })
})
