import t from 'tap'
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

t.test('the parts of a call stand one behind the other, attempts where they began', async (t) => {
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
      ['Rest', 54, 6, 'own'],
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

t.test('calls of models are repeated at the paths of their operations', async (t) => {
  for (const [id, path] of Object.entries(REPEATABLE)) {
    const operation = OPERATIONS.find((one) => one.id === id)
    t.same([operation?.method, operation?.path], ['post', path], id)
  }
  t.match(commandFor({ operation: 'chat.create' }), /\/api\/v1\/chat\/completions/)
  t.equal(commandFor({ operation: 'keys.list' }), null)
})

interface Feed {
  joined(fresh: readonly Ended[], rows: readonly Ended[]): readonly Ended[]
}
interface Ended {
  readonly id: string
  readonly ended_at: string
}

const { joined } = await moduleOf<Feed>('pages/calls/request-feed.js')

t.test('calls that have come since get their places once, also those that are late', async (t) => {
  const row = (second: number, id = `r${second}`): Ended => ({
    id,
    ended_at: `2026-03-18T12:00:0${second}.000Z`,
  })
  const ids = (rows: readonly Ended[]): readonly string[] => rows.map(({ id }) => id)
  const rows = [row(5), row(3), row(1)]
  t.same(ids(joined([row(7), row(5), row(4, 'late'), row(3)], rows)), ['r7', 'r5', 'late', 'r3', 'r1'])
  t.equal(joined([row(5), row(3)], rows), rows, 'nothing new is nothing to draw')
  t.same(ids(joined([row(2)], [])), ['r2'])
})
