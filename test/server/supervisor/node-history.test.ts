import t from 'tap'
import { NodeHistory } from '../../../src/server/supervisor/node-history.ts'
import { packed } from '../../../src/server/observe/history/saved-history.ts'
import { SERIES_LAYOUT } from '../../../src/server/observe/history/series.ts'
import { askedFor, came } from '../../support/operator/history.ts'

const START_MS = 1_800_000_000_000
const NONE = came('operation', {})

/** The history of a node at one instant, and its events. */
function stand(left: string | null = null, version = '1.2.3') {
  const runs: string[] = []
  const clock = { ms: START_MS }
  const history = new NodeHistory({
    version,
    now: () => clock.ms,
    keep: ({ run }) => {
      runs.push(run)
      return Promise.resolve(true)
    },
  })
  history.begin(left)
  const sinceS = START_MS / 1_000
  return {
    history,
    runs,
    /** Calls of the first second, when it is over. */
    calls: () => {
      clock.ms = START_MS + 1_000
      return history.read(askedFor({ sinceS, untilS: sinceS + 1 })).lines[0]?.values
    },
    events: () =>
      history
        .read(askedFor({ sinceS, untilS: sinceS + 1 }))
        .events.map(({ kind, text }) => `${kind} ${text}`),
  }
}

t.test('a breaker is open while it is open in any front, and closes when that front dies', async (t) => {
  const { history, events } = stand()
  history.take('a', { counts: NONE, breakers: ['acme one'] })
  history.take('b', { counts: NONE, breakers: ['acme one', 'acme two'] })
  history.take('a', { counts: NONE, breakers: [] })
  history.take('a', { counts: NONE })
  t.same(events().slice(1), ['breaker_open acme one', 'breaker_open acme two'])
  history.gone('b')
  history.gone('b')
  t.same(events().slice(3), ['breaker_closed acme one', 'breaker_closed acme two'])
})

t.test('the start, reloads, and lost and restored stores are events', async (t) => {
  const { history, events } = stand()
  for (const state of ['none', 'running', 'done'] as const) history.reloaded({ state, reason: null })
  history.reloaded({ state: 'refused', reason: 'SLUICE_PORT: no port' })
  history.dependency('redis', false)
  history.dependency('redis', true)
  t.same(events(), [
    'start Sluice 1.2.3',
    'reload settings reloaded',
    'reload_refused SLUICE_PORT: no port',
    'degraded redis',
    'restored redis',
  ])
})

t.test('a history file that is damaged, missing or of another version starts a new history', async (t) => {
  const { history } = stand()
  history.take('a', { counts: came('operation', { a: { calls: 3 } }) })
  const left = history.leave()
  for (const text of [
    null,
    '',
    '!',
    left.slice(0, -20),
    packed('another layout', {}),
    packed(SERIES_LAYOUT, { run: 'r' }),
    packed(SERIES_LAYOUT, { run: 'r', history: { all: [{ newest: 1, cells: new Float32Array(1) }] } }),
  ]) {
    const next = stand(text)
    t.same(next.events(), ['start Sluice 1.2.3'], String(text).slice(0, 9))
    t.same(next.calls(), [0])
  }
})

t.test(
  'the next start continues the figures, the events, and the run that hours are stored under',
  async (t) => {
    const first = stand(null, '1.0.0')
    const counts = came('operation', { a: { calls: 3 } })
    first.history.take('a', { counts })
    first.history.take('a', { counts: came('key', { k: { calls: 3 } }) })
    await first.history.rollUp()
    const next = stand(first.history.leave(), '1.1.0')
    next.history.take('b', { counts })
    t.same(next.calls(), [6])
    t.same(next.events(), ['start Sluice 1.0.0', 'start Sluice 1.1.0'])
    await next.history.rollUp()
    t.same(next.runs, first.runs)
    t.equal(first.runs.length, 1)
  },
)
