import t from 'tap'
import {
  ASKED_MODEL_ORGANIZATIONS_MAX,
  ASKED_MODELS_MAX,
  AskedModels,
} from '../../../../src/server/observe/requests/sampling.ts'
import { settledCall } from '../../../support/requests/settled-call.ts'

const asks = (askedModel: string | undefined, organizationId: string | null = 'o') =>
  settledCall({ status: 404, failure: 'model_unknown', organizationId, askedModel })

t.test(`keeps up to ASKED_MODELS_MAX (${ASKED_MODELS_MAX}) names a minute per organization`, async (t) => {
  const models = new AskedModels()
  for (let n = 0; n < ASKED_MODELS_MAX; n++) t.equal(models.of(0, asks(`a/${n}`)), `a/${n}`)
  t.equal(models.of(59_999, asks('a/more')), undefined)
  t.equal(models.of(59_999, asks('a/0')), 'a/0', 'one that is kept stays so')
  t.equal(models.of(59_999, asks('a/more', 'other')), 'a/more')
  t.equal(models.of(60_000, asks('a/more')), 'a/more', 'the next minute has room again')
})

t.test(
  `keeps names of at most ASKED_MODEL_ORGANIZATIONS_MAX (${ASKED_MODEL_ORGANIZATIONS_MAX}) organizations a minute`,
  async (t) => {
    const models = new AskedModels()
    for (let n = 0; n < ASKED_MODEL_ORGANIZATIONS_MAX; n++) models.of(0, asks('a/one', `o${n}`))
    t.equal(models.of(0, asks('a/one', 'late')), undefined)
    t.equal(models.of(0, asks('a/two', 'o0')), 'a/two')
    t.equal(models.of(60_000, asks('a/one', 'late')), 'a/one')
  },
)

t.test('no name is kept for a call without a key or without a requested model', async (t) => {
  const models = new AskedModels()
  t.equal(models.of(0, asks('a/one', null)), undefined)
  t.equal(models.of(0, asks(undefined)), undefined)
})
