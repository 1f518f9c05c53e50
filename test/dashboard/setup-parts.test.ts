import t from 'tap'
import { ROOT } from '../support/source.ts'

/** A module of the page as the compiler made it, before the build joins it with the others. */
async function moduleOf<T>(path: string): Promise<T> {
  return (await import(`${ROOT}dist/.page/src/server/dashboard/page/${path}`)) as T
}

interface Line {
  readonly mark: string
  readonly text: string
}
const { lineChanges, COMPARED_LINES_MAX } = await moduleOf<{
  lineChanges(from: string, to: string): readonly Line[]
  readonly COMPARED_LINES_MAX: number
}>('pages/setup/preset-diff.js')

const shown = (lines: readonly Line[]): string => lines.map(({ mark, text }) => mark + text).join('|')
/** What both texts are made of, by the changes between them. */
const sides = (lines: readonly Line[]): readonly string[] =>
  ['-', '+'].map((mark) =>
    lines
      .filter((line) => line.mark === ' ' || line.mark === mark)
      .map(({ text }) => text)
      .join('\n'),
  )

t.test('the comparison of two texts shows as few changed lines as possible', async (t) => {
  t.equal(shown(lineChanges('', '')), '')
  t.equal(shown(lineChanges('', 'a\nb')), '+a|+b')
  t.equal(shown(lineChanges('a\nb', '')), '-a|-b')
  t.equal(shown(lineChanges('a\nb\nc', 'a\nx\nc')), ' a|-b|+x| c')
  t.equal(shown(lineChanges('a\na\nb', 'a\nb')).match(/-/g)?.length, 1)
  t.equal(shown(lineChanges('a\n\nb', 'a\nb')), ' a|-| b')
})

t.test('for any two texts, the changes turn the first into the second', async (t) => {
  let seed = 7
  const next = (below: number): number => (seed = (seed * 16_807) % 2_147_483_647) % below
  const text = (): string => Array.from({ length: 1 + next(12) }, () => 'abcd'[next(4)]).join('\n')
  for (let nth = 0; nth < 500; nth++) {
    const [from, to] = [text(), text()]
    t.same(sides(lineChanges(from, to)), [from, to])
  }
})

t.test('shows texts with very many lines one after the other, without a slow comparison', async (t) => {
  const many = Array.from({ length: COMPARED_LINES_MAX + 1 }, (_, nth) => String(nth)).join('\n')
  const lines = lineChanges(many, many)
  t.equal(lines.length, 2 * (COMPARED_LINES_MAX + 1))
  t.same(sides(lines), [many, many])
})

interface Member {
  readonly user_id: string
  readonly role: string
  readonly grants: readonly { readonly mapping_id: string | null; readonly role: string }[]
}
interface Effect {
  readonly member: Member
  readonly effect: string
}
const { previewOf, sumOf } = await moduleOf<{
  previewOf(mapping: string, members: readonly Member[], change: string | null): readonly Effect[]
  sumOf(previewed: readonly Effect[]): string
}>('pages/setup/mapping-dialog.js')

const member = (
  user_id: string,
  role: string,
  ...grants: readonly (readonly [string | null, string])[]
): Member => ({
  user_id,
  role,
  grants: grants.map(([mapping_id, role]) => ({ mapping_id, role })),
})
const MEMBERS = [
  member('alone', 'admin', ['m', 'admin']),
  member('by hand too', 'admin', ['m', 'admin'], [null, 'member']),
  member('by another group too', 'admin', ['m', 'admin'], ['n', 'admin']),
  member('without it', 'member', [null, 'member']),
]
const effects = (change: string | null): string =>
  previewOf('m', MEMBERS, change)
    .map(({ member: { user_id: id }, effect }) => `${id} ${effect}`)
    .join(', ')

t.test('ending a mapping removes only members that have no other reason for membership', async (t) => {
  t.equal(effects('end'), 'alone leaves, by hand too becomes member, by another group too stays')
  t.equal(effects('keep'), 'alone stays, by hand too stays, by another group too stays')
  t.equal(effects('member'), 'alone becomes member, by hand too becomes member, by another group too stays')
  t.equal(effects(null), effects('keep'))
  t.equal(
    sumOf(previewOf('m', MEMBERS, 'end')),
    'Of 3 members: 1 leave the workspace, 1 become member, 1 stay unchanged.',
  )
  t.equal(sumOf(previewOf('nobody', MEMBERS, 'end')), 'This mapping adds no members.')
})

interface Entry {
  readonly id: string
  readonly kind: string
  readonly text: string
  readonly note?: string
  run(): void
}
const { matching, isRequestId, isJobId, ENTRIES_MAX } = await moduleOf<{
  matching(entries: readonly Entry[], typed: string): readonly Entry[]
  isRequestId(text: string): boolean
  isJobId(text: string): boolean
  readonly ENTRIES_MAX: number
}>('palette/entries.js')

const entry = (text: string, note = '', kind = 'Key'): Entry => ({
  id: text,
  kind,
  text,
  note,
  run: () => undefined,
})
const texts = (entries: readonly Entry[], typed: string): readonly string[] =>
  matching(entries, typed).map(({ text }) => text)

t.test('finds commands by each word, and lists those that begin with the text first', async (t) => {
  const entries = [entry('my key'), entry('monkey'), entry('Keys', 'g k', 'Page'), entry('key')]
  t.same(texts(entries, 'key'), ['key', 'Keys', 'my key', 'monkey'])
  t.same(texts(entries, 'KEY page'), ['Keys'])
  t.same(texts(entries, 'key nowhere'), [])
  t.same(texts([entry('prod', 'inference 0a1b2c')], '0a1b'), ['prod'])
  t.equal(
    texts(
      Array.from({ length: 500 }, (_, nth) => entry(`k${nth}`)),
      'k',
    ).length,
    ENTRIES_MAX,
  )
})

t.test('a text without a digit, with a space or with other signs is not a call id', async (t) => {
  for (const text of [
    '',
    'short1',
    'without-digit',
    'two words 12',
    'a/b/c/d/12',
    '<img 12345>',
    '1'.repeat(129),
  ])
    t.notOk(isRequestId(text), text)
  for (const text of ['01985e3f-1a52-7c0d-8f4e-5b9d8a7c6e01', 'trace.1_2-3', '1'.repeat(128)])
    t.ok(isRequestId(text), text)
  t.ok(isJobId('vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'))
  t.notOk(isRequestId('vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'), 'a job is found as a job')
})
