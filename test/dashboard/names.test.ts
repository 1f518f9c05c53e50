/** Names that the dashboard shows instead of ids. */
import t from 'tap'
import { ROOT } from '../support/source.ts'

/** A module of the page as the compiler made it, before the build joins it with the others. */
async function moduleOf<T>(path: string): Promise<T> {
  return (await import(`${ROOT}dist/.page/src/server/dashboard/page/${path}`)) as T
}

interface Choice {
  readonly value: string
  readonly text: string
  readonly note?: string
}
const { matching } = await moduleOf<{
  matching(choices: readonly Choice[], typed: string): readonly Choice[]
}>('parts/combo-field.js')
const { namesOf } = await moduleOf<{
  namesOf(keys: readonly { hash: string; name: string; label: string }[]): ReadonlyMap<string, string>
}>('parts/key-names.js')
const { deedOf } = await moduleOf<{ deedOf(event: object): string }>('parts/badge.js')
const { nameIn } = await moduleOf<{ nameIn(recorded: unknown): string | null }>('pages/audit/names.js')
const { keySearch } = await moduleOf<{ keySearch(text: string): object }>('pages/calls/request-filters.js')
const { sentence, countText } = await moduleOf<{
  sentence(text: string): string
  countText(findings: number): string
}>('pages/now/findings.js')
const { lastUsesOf } = await moduleOf<{
  lastUsesOf(calls: readonly object[], groups: readonly object[], sinceS: number): ReadonlyMap<string, object>
}>('pages/keys.js')
const { refusingText, loadRefusals } = await moduleOf<{
  refusingText(refused: object): string
  loadRefusals(api: object, input: object): Promise<{ of(owner: string, id: string): object }>
}>('pages/subjects/refusals.js')
const { sampleOf } = await moduleOf<{ sampleOf(language: string, trial: object): string }>(
  'pages/start-samples.js',
)

t.test('suggestions that begin with the text come first, then those that contain it', async (t) => {
  const choices = ['my shop', 'shop', 'other'].map((text) => ({ value: text, text }))
  t.same(
    matching(choices, 'SHOP').map(({ text }) => text),
    ['shop', 'my shop'],
  )
  t.equal(matching(Array(50).fill(choices[0]), '').length, 12)
})

t.test('keys with the same name are distinguished by their last letters', async (t) => {
  const names = namesOf([
    { hash: 'a', name: 'shop', label: 'sk-sluice-v1-abc...7Qa' },
    { hash: 'b', name: 'shop', label: 'sk-sluice-v1-def...kLm' },
    { hash: 'c', name: 'ops', label: 'sk-sluice-v1-ghi...000' },
  ])
  t.same([...names.values()], ['shop …7Qa', 'shop …kLm', 'ops'])
})

t.test('an event shows the name of its object, and if it was created, changed or deleted', async (t) => {
  t.equal(deedOf({ outcome: 'changed', before: null, after: {} }), 'created')
  t.equal(deedOf({ outcome: 'changed', before: {}, after: {} }), 'changed')
  t.equal(deedOf({ outcome: 'changed', before: {}, after: null }), 'deleted')
  t.equal(deedOf({ outcome: 'refused', before: null, after: null }), 'refused')
  t.equal(nameIn({ id: '0b8f5f0e-6c1e-4d53-9a56-3f1f6f0f2c11', name: 'shop' }), 'shop')
  t.equal(nameIn({ id: '0b8f5f0e-6c1e-4d53-9a56-3f1f6f0f2c11' }), null)
  t.equal(nameIn(null), null)
})

t.test('the text in the key field is the beginning of a hash, or of a name', async (t) => {
  t.same(keySearch('abcdef'), { key: 'abcdef', key_name: null })
  t.same(keySearch('facade shop'), { key: null, key_name: 'facade shop' })
  t.same(keySearch(''), { key: null, key_name: '' })
})

t.test('findings are written as sentences and counted', async (t) => {
  t.equal(sentence('the front with pid 3 does not answer'), 'The front with pid 3 does not answer.')
  t.equal(sentence('`sluice doctor` shows why.'), '`sluice doctor` shows why.')
  t.same([countText(1), countText(8)], ['1 finding', '8 findings'])
})

t.test('a key was last used at the end of its newest call, or else on its last day with spend', async (t) => {
  const calls = [
    { key: 'a', ended_at: '2026-03-18T12:00:02.000Z' },
    { key: 'a', ended_at: '2026-03-18T12:00:01.000Z' },
  ]
  const daily = [{ requests: 1 }, { requests: 2 }, { requests: 0 }]
  const uses = lastUsesOf(
    calls,
    [
      { name: 'a', daily },
      { name: 'b', daily },
    ],
    Date.UTC(2026, 2, 1) / 1_000,
  )
  t.same(uses.get('a'), { at: '2026-03-18T12:00:02.000Z', isDay: false })
  t.same(uses.get('b'), { at: '2026-03-02T00:00:00.000Z', isDay: true })
  t.equal(uses.get('c'), undefined)
})

t.test('a used-up limit says how many calls it refused in the last hour', async (t) => {
  const rows = [
    { key: 'a', workspace_id: 'w', weight: 10 },
    { key: 'a', workspace_id: 'w', weight: 1 },
    { key: 'b', workspace_id: 'w', weight: 1 },
  ]
  const asked: { from: string; error_type: string }[] = []
  const api = {
    get: async (_: unknown, query: { from: string; error_type: string }) => {
      asked.push(query)
      return { data: query.error_type === 'key_limit_exceeded' ? rows : [], next_cursor: null }
    },
  }
  const refusals = await loadRefusals(api, { nowMs: Date.UTC(2026, 2, 18, 12) })
  t.same(refusals.of('key', 'a'), { calls: 11, isPartial: false })
  t.same(refusals.of('workspace', 'w'), { calls: 0, isPartial: false })
  t.ok(asked.length === 3 && asked.every(({ from }) => from === '2026-03-18T11:00:00.000Z'))
  t.equal(refusingText({ calls: 142, isPartial: false }), 'refusing calls now (142 in the last hour)')
  t.equal(
    refusingText({ calls: 500, isPartial: true }),
    'refusing calls now (more than 500 in the last hour)',
  )
})

t.test('an example names a key whose value is unknown, and escapes quotes for the shell', async (t) => {
  const trial = { apiUrl: 'http://x', model: { id: 'a/b', kind: 'chat' } }
  t.match(sampleOf('curl', { ...trial, key: null, name: "sh'op" }), "SLUICE_KEY='value of the key shop'")
  t.match(sampleOf('curl', { ...trial, key: 'sk-1', name: 'shop' }), "SLUICE_KEY='sk-1'")
})
