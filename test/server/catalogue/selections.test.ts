import t from 'tap'
import {
  MODEL_SELECTIONS_CACHED_MAX,
  MODELS_SELECTED_CACHED_MAX,
} from '../../../src/schemas/models/model-limits.ts'
import type { Listed, Selectable } from '../../../src/server/catalogue/select.ts'
import { Selections } from '../../../src/server/catalogue/selections.ts'
import { WordSearch } from '../../../src/server/catalogue/word-search.ts'

const DAY_MS = 86_400_000

/** What has been walked over, model by model, is counted at the author of each: `a0`, `a1`, `a2` in turn. */
function modelsOf(count: number): { readonly models: Selectable; readonly walked: () => number } {
  let walked = 0
  const all = Array.from(
    { length: count },
    (_, at) =>
      ({
        model: { id: `a/${at}` },
        promptNano: at,
        completionNano: 0,
        createdMs: DAY_MS * (at + 1),
        get author() {
          walked += 1
          return `a${at % 3}`
        },
      }) as unknown as Listed,
  )
  return { models: { all, words: new WordSearch(all.map((_, at) => `model ${at}`)) }, walked: () => walked }
}

t.test('the same filter walks over the catalogue once, another one again', async (t) => {
  const { models, walked } = modelsOf(20)
  const selections = new Selections(models, () => 0)
  const first = selections.of({ authors: ['a1'], sort: 'pricing-low-to-high' })
  t.equal(selections.of({ authors: ['a1'], sort: 'pricing-low-to-high' }), first)
  t.equal(walked(), 20)
  t.same(selections.of({ authors: ['a1'], sort: 'pricing-high-to-low' }), [...first].reverse())
  t.same(
    selections.of({ words: ['2'] }).map(({ id }) => id),
    ['a/2', 'a/12'],
  )
  t.equal(walked(), 40)
})

t.test('what asks for an age is found anew as time goes by', async (t) => {
  let now = 0
  const selections = new Selections(modelsOf(3).models, () => now)
  const old = (): number => selections.of({ ageDaysMin: 1 }).length
  t.equal(old(), 0)
  now = 3 * DAY_MS
  t.equal(old(), 2)
  now = 9 * DAY_MS
  t.equal(old(), 3)
  const young = (): number => selections.of({ ageDaysMax: 7 }).length
  t.equal(young(), 2)
  now = 99 * DAY_MS
  t.equal(young(), 0)
})

t.test('somebody who makes up filters makes the oldest results be forgotten', async (t) => {
  const { models, walked } = modelsOf(2)
  const selections = new Selections(models, () => 0)
  for (let at = 0; at <= MODEL_SELECTIONS_CACHED_MAX; at++) selections.of({ authors: [`${at}`] })
  const before = walked()
  selections.of({ authors: [`${MODEL_SELECTIONS_CACHED_MAX}`] })
  t.equal(walked(), before)
  selections.of({ authors: ['0'] })
  t.equal(walked(), before + 2)
})

t.test('long results are bounded by the models in them', async (t) => {
  const { models } = modelsOf(1_000)
  const selections = new Selections(models, () => 0)
  const first = selections.of({ promptPriceMin: 0 })
  const kept = Math.floor(MODELS_SELECTED_CACHED_MAX / 1_001)
  for (let at = 1; at < kept; at++)
    selections.of({ promptPriceMin: 0, contextMin: undefined, promptPriceMax: 1_000 + at })
  t.equal(selections.of({ promptPriceMin: 0 }), first)
  for (let at = 0; at < kept; at++) selections.of({ promptPriceMin: 0, promptPriceMax: 9_000 + at })
  t.not(selections.of({ promptPriceMin: 0 }), first)
})
