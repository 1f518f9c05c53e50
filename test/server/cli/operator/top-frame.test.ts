import fc from 'fast-check'
import t from 'tap'
import { escapeControls } from '../../../../src/server/cli/parts/terminal-text.ts'
import { frameOf } from '../../../../src/server/cli/operator/top.ts'
import { widthOf } from '../../../../src/server/cli/operator/top/text.ts'
import type { LiveView } from '../../../../src/schemas/operator/live-view.ts'
import { liveView } from '../../../support/operator/live-view.ts'

const frame = (view: LiveView | null, more: Partial<Parameters<typeof frameOf>[0]> = {}): readonly string[] =>
  frameOf({ view, trouble: null, columns: 100, rows: null, hasColour: false, ...more })

t.test('one frame shows the activity of the node and its problems, the worst first', async (t) => {
  const view = liveView({
    findings: [
      { severity: 'bad', text: 'Postgres is away', fix: 'look at it' },
      { severity: 'warn', text: 'a front is busy', fix: 'more fronts' },
    ],
    requests_per_second: 1_234.4,
    webhooks: { waiting: 2, dead: 3 },
  })
  t.same(frame(view), [
    'Sluice 1.2.3  ready  10:11:12 UTC',
    'requests 1,234/s  refused 0.1/s  failed 0/s  in flight 4  CPU 1.25 cores  memory 512 MiB',
    'streams 12  first output 320 ms  p99 1250 ms  tokens 480/s  cost $0.0123/min',
    'fronts 2/2  worker threads 4/4  runners 1/1',
    '',
    'bad  Postgres is away',
    '     fix: look at it',
    'warn a front is busy',
    '     fix: more fronts',
    '',
    'Postgres up embedded  Redis up child',
    'videos 3 running  webhooks 2 waiting, 3 dead',
    'money 1 open, 0 waiting, refused 0/s, $0.50 lent, ledger delay 12.0 ms',
    '',
    'OPERATION          CALLS/s  4xx/s  5xx/s      P50      P99',
    'embeddings.create    1,000    0.1      0  1.20 ms  34.5 ms',
    'model.list             2.5      0   <0.1        -        -',
    '',
    'FRONT   PID  LOOP  DELAY P99      MAX  JOBS     WAIT  TRANSFERS     WAIT',
    '0      1234  42 %    1.50 ms  12.0 ms  10 %  0.50 ms        5 %  0.00 ms',
    '',
    'PROVIDER  ATTEMPTS/s  FAILED/s  STATE',
    'openai          12.0         0  ok',
  ])
})

t.test('an open circuit breaker shows when it opened and when its next probe is due', async (t) => {
  const row = { provider: 'openai', per_second: 0, failed_per_second: 0, state: 'open' } as const
  const breaker = {
    endpoints: ['openai/a'],
    since: '2026-11-21T10:11:02.000Z',
    next_probe_at: '2026-11-21T10:11:14.000Z',
  }
  const last = (
    one: typeof breaker | ({ next_probe_at: null } & Omit<typeof breaker, 'next_probe_at'>),
  ): string | undefined => frame(liveView({ providers: [{ ...row, breaker: one }] })).at(-1)
  t.match(last(breaker), 'open since 10:11:02, probe at 10:11:14')
  t.match(last({ ...breaker, next_probe_at: null }), 'open since 10:11:02, next call probes')
})

t.test('fits every screen, however small, in lines and in columns', async () => {
  const findings = Array.from({ length: 9 }, (_, nth) => ({
    severity: 'warn' as const,
    text: `finding ${nth} 東京 ${'long '.repeat(30)}`,
    fix: 'mend it',
  }))
  const [operation] = liveView({}).operations
  const operations = Array.from({ length: 70 }, (_, nth) => ({
    ...operation,
    operation: `operation.${nth}`,
    per_second: nth ** 4,
  })) as LiveView['operations']
  const view = liveView({ findings, operations })
  const size = fc.record({
    columns: fc.integer({ min: 0, max: 220 }),
    rows: fc.integer({ min: 1, max: 120 }),
    hasTrouble: fc.boolean(),
  })
  fc.assert(
    fc.property(size, ({ columns, rows, hasTrouble }) => {
      const lines = frame(view, {
        columns,
        rows,
        trouble: hasTrouble ? { reason: 'it is away', seconds: 3 } : null,
      })
      return lines.length <= rows && lines.every((line) => widthOf(line) <= columns)
    }),
    { numRuns: 300 },
  )
})

t.test(
  'a low screen keeps figures, findings and stores, and shows how many items it leaves out',
  async (t) => {
    const findings = Array.from({ length: 6 }, (_, nth) => ({
      severity: 'warn' as const,
      text: `finding ${nth}`,
      fix: 'mend it',
    }))
    const lines = frame(liveView({ findings }), { rows: 14 })
    t.equal(lines.length, 14)
    t.match(lines.join('\n'), /Sluice[^]*requests[^]*finding 0[^]*… \d more[^]*Postgres[^]*q quits$/)
    t.notMatch(lines.join('\n'), /finding 5/)
  },
)

t.test('a narrow screen drops the least important columns first, then shortens names', async (t) => {
  const narrow = frame(liveView({}), { columns: 36 })
  t.ok(narrow.includes('OPERATION          CALLS/s      P99'))
  t.ok(frame(liveView({}), { columns: 25 }).includes('embeddings.crea…    1,000'))
  t.ok(frame(liveView({}), { columns: 20 }).includes('embeddings…    1,000'))
})

t.test('colour changes no text, and without colour no escape sequences are written', async (t) => {
  const view = liveView({ findings: [{ severity: 'bad', text: 'x', fix: 'y' }] })
  const coloured = frame(view, { hasColour: true })
  t.match(coloured.join('\n'), '\u001b[1;31mbad')
  t.same(
    coloured.map((line) => line.replaceAll(/\u001b\[[0-9;]*m/g, '')).map((line) => line.trimEnd()),
    frame(view),
  )
  t.notMatch(frame(view).join('\n'), '\u001b')
})

t.test('text from a node cannot control the terminal', async (t) => {
  const view = liveView({
    version: '1\u001b]0;owned\u0007',
    findings: [{ severity: 'bad', text: 'a\u001b[2J\r\nb\u009b1m\u202e', fix: '\u0008' }],
  })
  t.notMatch(frame(view, { hasColour: false }).join('\n'), /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  t.equal(escapeControls('a\nb'), 'a?b')
})

t.test('a node that is down is shown with the reason, above the last figures', async (t) => {
  const [title, figures] = frame(liveView({}), { trouble: { reason: 'connect ECONNREFUSED', seconds: 130 } })
  t.same(title, 'Sluice 1.2.3  connect ECONNREFUSED; down for 2 min, retrying')
  t.match(figures, /^requests/)
  t.same(frame(null), ['Sluice  waiting for the node'])
})

t.test('wide characters count as two columns, and combining characters as none', async (t) => {
  t.same(['abc', '東京', 'e\u0301', '🚀', ''].map(widthOf), [3, 4, 1, 2, 0])
})
