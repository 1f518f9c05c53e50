import t from 'tap'
import { FAILURES, type FailureName } from '../../../../src/schemas/failures.ts'
import type { Provider } from '../../../../src/server/ports/models/models.ts'
import { isStrike, mayFallBack } from '../../../../src/server/upstream/routing/fallbacks.ts'
import { Trail } from '../../../../src/server/upstream/routing/attempts.ts'

const PROVIDER: Provider = {
  slug: 'p',
  name: 'P',
  protocol: 'openai',
  baseUrl: '',
  apiKeyEnv: null,
  timeoutMs: 1,
  rename: {},
  video: null,
}
const NAMES = Object.keys(FAILURES) as FailureName[]

/** The failure that is reported when every endpoint failed, each with one of the names. */
function reportedOf(names: readonly FailureName[]): string {
  const trail = new Trail()
  for (const name of names) {
    const failure = { name }
    if (mayFallBack(failure)) trail.add(failure, PROVIDER, 'm')
  }
  return trail.last().name
}

t.test('of several models the failure of the last one tried is reported, with the others. D11', async (t) => {
  const trail = new Trail()
  trail.add({ name: 'upstream_overloaded' }, PROVIDER, 'one')
  trail.add({ name: 'upstream_refused', fields: { refusal: 'context' } }, PROVIDER, 'two')
  t.match(trail.last(), {
    name: 'upstream_refused',
    metadata: { previous_errors: [{ code: 'upstream_overloaded' }] },
  })
  trail.add({ name: 'upstream_invalid' }, PROVIDER, 'three')
  trail.add({ name: 'upstream_failed' }, PROVIDER, 'three')
  const reported = trail.last()
  t.equal(reported.name, 'upstream_failed')
  t.equal(reported.metadata?.previous_errors?.length, 3)
})

t.test(
  'an overloaded provider is reported in preference to every other failure that allows a fallback, in any order',
  async (t) => {
    const others = NAMES.filter((name) => name !== 'upstream_overloaded' && mayFallBack({ name }))
    t.ok(others.length > 0)
    for (const other of others) {
      t.equal(reportedOf([other, 'upstream_overloaded']), 'upstream_overloaded')
      t.equal(reportedOf(['upstream_overloaded', other]), 'upstream_overloaded')
      t.equal(reportedOf([other, 'field_unsupported']), other)
    }
  },
)

t.test('every failure that counts against an endpoint allows a fallback to the next one', async (t) => {
  for (const name of NAMES) if (isStrike({ name })) t.ok(mayFallBack({ name }), name)
})
