import t, { type Test } from 'tap'
import { listOwn } from '../../../src/server/catalogue/own-models.ts'
import type { ResolvedModel } from '../../../src/server/ports/models/models.ts'
import { FOUR_MODELS } from '../../support/keys/model-reads.ts'
import { catalogueOf } from '../../support/models/catalogue.ts'

/** The list of a workspace with an endpoint of its own of the one model that declares no retention. */
function open(t: Test, isZdr: boolean | null) {
  const catalogue = catalogueOf(t, FOUR_MODELS)
  const known = catalogue.resolve('acme/chat')
  const [theirs] = known?.endpoints ?? []
  if (known === null || theirs === undefined) throw new Error('the catalogue lacks the model')
  const endpoint = { ...theirs, tag: 'private/1', isZdr }
  const own = { slug: known.id, createdAt: new Date(0), callable: known, known }
  const listing = listOwn([{ ...own, endpoints: [{ endpoint, pricing: null, region: null }] }], () => 0)
  const found = catalogue.select({ isZdr: true })
  return { found, list: () => listing.withoutRetention(found) }
}

const tagsOf = (models: readonly ResolvedModel[]): readonly unknown[] =>
  models.map(({ bodies }) =>
    (JSON.parse(`[${String(bodies.zdr)}]`) as { readonly tag: string }[]).map(({ tag }) => tag),
  )

t.test(
  'a model that a workspace has too is listed once, with the endpoints of the workspace first',
  async (t) => {
    const { list } = open(t, true)
    t.same(
      list().map(({ id }) => id),
      ['acme/chat'],
    )
    t.same(tagsOf(list()), [['private/1', 'near/chat']])
    t.equal(list(), list(), 'and made once')
  },
)

t.test('a zero-retention list drops own endpoints that do not declare it, and no others', async (t) => {
  for (const isZdr of [false, null]) t.same(tagsOf(open(t, isZdr).list()), [['near/chat']])
})
