/** Which endpoints a call may reach under a limit. C40, D11. */
import t from 'tap'
import type { LimitFlags } from '../../../../src/schemas/money/costs.ts'
import type { Endpoint } from '../../../../src/server/ports/models/models.ts'
import { pricedChoices } from '../../../../src/server/upstream/cost-bound.ts'

const [known, unknown, own] = [{ tag: 'known' }, { tag: 'unknown' }, { tag: 'own', ownWay: {} }].map(
  (endpoint) => ({ target: { endpoint: endpoint as unknown as Endpoint } }),
)
const CREDIT = { isCreditLimited: true } as LimitFlags
const OWN_TOO = { isKeyLimited: true, keyCountsByok: true } as LimitFlags

const left = (choices: readonly (typeof known)[], limits: LimitFlags | null): readonly string[] =>
  pricedChoices(
    choices.flatMap((one) => one ?? []),
    limits,
    ({ tag }) => tag === 'known',
  ).map(({ target }) => target.endpoint.tag)

t.test('under a limit endpoints without a known price are left out where another exists', async (t) => {
  t.same(left([unknown, known], CREDIT), ['known'])
  t.same(left([unknown, known], null), ['unknown', 'known'])
  t.same(left([unknown], CREDIT), ['unknown'], 'the refusal of the only one says why')
})

t.test("endpoints under the workspace's own key stay, unless a limit counts them", async (t) => {
  t.same(left([own, unknown], CREDIT), ['own'])
  t.same(left([own, unknown, known], OWN_TOO), ['known'])
})
