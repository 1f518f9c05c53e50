import t from 'tap'
import { REQUESTS_ROW_REST_MS } from '../../src/schemas/requests/request-limits.ts'
import { OPERATIONS } from '../../src/server/operations/index.ts'
import { ROOT } from '../support/source.ts'

/** A module of the page as the compiler made it, before the build joins it with the others. */
async function moduleOf<T>(path: string): Promise<T> {
  return (await import(`${ROOT}dist/.page/src/server/dashboard/page/${path}`)) as T
}

interface Steps {
  stepsOf(call: object): readonly { name: string; fromMs: number; ms: number; tone: string; note?: string }[]
  commandFor(call: { operation: string }): string | null
  readonly REPEATABLE: Readonly<Record<string, string>>
}

const { stepsOf, commandFor, REPEATABLE } = await moduleOf<Steps>('pages/calls/request-steps.js')

t.test('the parts of a call follow each other, with attempts at the times when they began', async (t) => {
  const parts = {
    auth_ms: 1,
    limits_ms: null,
    validation_ms: 2,
    hold_ms: 0.5,
    provider_ms: 40,
    first_byte_ms: null,
  }
  const failed_attempts = [{ provider: 'first', status: 503, code: 'busy', started_ms: 4, duration_ms: 10 }]
  const call = { parts, failed_attempts, attempts: 2, provider: 'second', duration_ms: 60 }
  t.same(
    stepsOf(call).map(({ name, fromMs, ms, tone }) => [name, fromMs, ms, tone]),
    [
      ['Key', 0, 1, 'own'],
      ['Body and checks', 1, 2, 'own'],
      ['Reservation', 3, 0.5, 'own'],
      ['first', 4, 10, 'failed'],
      ['second', 14, 40, 'provider'],
      ['Other', 54, 6, 'own'],
    ],
  )
  const nothing = {
    auth_ms: null,
    limits_ms: null,
    validation_ms: null,
    hold_ms: null,
    provider_ms: null,
    first_byte_ms: null,
  }
  t.same(stepsOf({ parts: nothing, failed_attempts: [], attempts: 0, provider: null, duration_ms: null }), [])
})

t.test('calls to models can be repeated at the paths of their operations', async (t) => {
  for (const [id, path] of Object.entries(REPEATABLE)) {
    const operation = OPERATIONS.find((one) => one.id === id)
    t.same([operation?.method, operation?.path], ['post', path], id)
  }
  t.match(commandFor({ operation: 'chat.create' }), /\/api\/v1\/chat\/completions/)
  t.equal(commandFor({ operation: 'keys.list' }), null)
})

interface Found {
  readonly rows: readonly Ended[]
  readonly cursor: string | null
}
interface Answer {
  readonly data: readonly Ended[]
  readonly next_cursor: string | null
}
interface Feed {
  lookAgain(
    find: (more: { readonly from: string; readonly cursor: string | null }) => Promise<Answer>,
    found: Found,
    span: { readonly fromMs: number; readonly atMs: number; readonly from: string | null },
  ): Promise<Found & { readonly lookedMs: number; readonly nextMs: number }>
  joined(fresh: readonly Ended[], rows: readonly Ended[]): readonly Ended[]
}
interface Ended {
  readonly id: string
  readonly ended_at: string
}

const { joined, lookAgain } = await moduleOf<Feed>('pages/calls/request-feed.js')

const AT_MS = Date.parse('2026-03-18T12:00:10Z')
const SPAN = { fromMs: AT_MS - 1_000, atMs: AT_MS, from: null }
const rowAt = (second: number, id = `r${second}`): Ended => ({
  id,
  ended_at: `2026-03-18T12:00:0${second}.000Z`,
})
const idsOf = (rows: readonly Ended[]): readonly string[] => rows.map(({ id }) => id)

t.test('a refresh of a search without recent results reads only the last seconds', async (t) => {
  for (const rows of [[], [{ id: 'old', ended_at: '2026-03-11T12:00:00.000Z' }]]) {
    const asked: string[] = []
    const find = async ({ from }: { from: string }) => {
      asked.push(from)
      return { data: [], next_cursor: null }
    }
    const { lookedMs } = await lookAgain(find, { rows, cursor: 'older' }, SPAN)
    await lookAgain(find, { rows, cursor: null }, { ...SPAN, fromMs: lookedMs, atMs: AT_MS + 1_000 })
    t.same(asked, ['2026-03-18T12:00:04.000Z', '2026-03-18T12:00:05.000Z'])
  }
})

t.test('a refresh begins no earlier than the search', async (t) => {
  const from = '2026-03-18T12:00:07.000Z'
  await lookAgain(
    async (more) => {
      t.equal(more.from, from)
      return { data: [], next_cursor: null }
    },
    { rows: [], cursor: null },
    { ...SPAN, from },
  )
})

t.test('a refresh adds all new rows, even more than a page', async (t) => {
  const pages = [[rowAt(9), rowAt(8)], [rowAt(7)], [rowAt(6), rowAt(5)]]
  const found = await lookAgain(
    async ({ cursor }) => {
      const nth = Number(cursor ?? 0)
      return { data: pages[nth] ?? [], next_cursor: nth + 1 < pages.length ? String(nth + 1) : null }
    },
    { rows: [rowAt(5), rowAt(1)], cursor: 'older' },
    SPAN,
  )
  t.same(idsOf(found.rows), ['r9', 'r8', 'r7', 'r6', 'r5', 'r1'])
  t.equal(found.cursor, 'older')
})

t.test(
  `after a refresh, the next one waits REQUESTS_ROW_REST_MS (${REQUESTS_ROW_REST_MS}) for each row read`,
  async (t) => {
    const rows = [rowAt(9), rowAt(8), rowAt(7)]
    const pages = [rows, rows]
    const find = async () => ({ data: pages.pop() ?? [], next_cursor: pages.length > 0 ? 'more' : null })
    const busy = await lookAgain(find, { rows, cursor: null }, SPAN)
    t.equal(busy.nextMs, AT_MS + 6 * REQUESTS_ROW_REST_MS, 'also for rows that were there')
    t.equal((await lookAgain(find, { rows, cursor: null }, SPAN)).nextMs, AT_MS)
  },
)

t.test('loads the list again when there are more new rows than a refresh reads', async (t) => {
  let reads = 0
  const find = async () => {
    reads++
    return { data: [rowAt(9 - reads)], next_cursor: `behind ${reads}` }
  }
  const found = await lookAgain(find, { rows: [rowAt(1)], cursor: 'older' }, SPAN)
  t.same(idsOf(found.rows), ['r8', 'r7', 'r6', 'r5'])
  t.equal(found.cursor, 'behind 4')
})

t.test('new calls are sorted into the list once each, including calls that arrive late', async (t) => {
  const rows = [rowAt(5), rowAt(3), rowAt(1)]
  const fresh = [rowAt(7), rowAt(5), rowAt(4, 'late'), rowAt(3)]
  t.same(idsOf(joined(fresh, rows)), ['r7', 'r5', 'late', 'r3', 'r1'])
  t.equal(joined([rowAt(5), rowAt(3)], rows), rows, 'nothing new is nothing to draw')
  t.same(idsOf(joined([rowAt(2)], [])), ['r2'])
})

interface Node {
  readonly props: { readonly children?: unknown }
}

/** All texts of a rendered part, one after the other. */
function textOf(part: unknown): string {
  if (typeof part === 'string' || typeof part === 'number') return String(part)
  if (Array.isArray(part)) return part.map(textOf).join('')
  return typeof part === 'object' && part !== null ? textOf((part as Node).props.children) : ''
}

t.test('a failed call shows its message, and the wrong inputs with the expected ones', async (t) => {
  const { Cause } = await moduleOf<{ Cause(props: object): unknown }>('pages/calls/request-dialog.js')
  const words = { errors: { budget_exceeded: { cause: 'The `budget`.', remedy: 'Raise `it`.', page: null } } }
  const shown = (reason: object | null): string => {
    const request = {
      error_type: 'budget_exceeded',
      docs_url: '/d',
      limit: null,
      failed_attempts: [],
      reason,
    }
    return textOf(Cause({ request, words }))
  }
  t.match(shown(null), /^budget_exceeded The budget\.Raise it\./)
  t.match(
    shown({ message: '9 of 10 USD is used.', issues: [], facts: {} }),
    /^budget_exceeded 9 of 10 USD is used\.Raise/,
  )
  const issues = [
    { path: '/messages/0/content', expected: 'string' },
    { path: '/*', expected: null },
  ]
  t.match(
    shown({ message: null, issues, facts: {} }),
    'The budget.Invalid inputs/messages/0/content: expected string/*Raise',
  )
  t.match(shown({ message: null, issues: [], facts: { variables: 'A_KEY for a' } }), /Set A_KEY for a\./)
})
