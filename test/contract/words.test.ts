import t from 'tap'
import { sourceFile } from '../support/source.ts'
import { refusedInProduct, refusedWords } from '../support/words/refused-words.ts'
import { textsOf, textsOfPage, userTexts } from '../support/words/user-texts.ts'

const planted = (path: string, text: string) => refusedWords(textsOf(sourceFile(path, text)))

t.test('no text for users contains a word that has a plainer equivalent', async (t) => {
  const texts = userTexts()
  for (const source of ['failures', 'messages', 'api', 'cli', 'settings', 'metrics', 'dashboard', 'pages'])
    t.ok(texts.filter((text) => text.source === source).length > 20, source)
  t.same(refusedInProduct(), [])
})

t.test('finds such words in literals, joined literals, templates and between tags', async (t) => {
  t.match(planted('src/server/x.ts', "log.warn('the caller is told so')"), [/^src\/server\/x\.ts:1 “told”/])
  t.match(planted('src/server/x.ts', "const text = 'in the ' +\n  'place of it'"), [/“in the place of”/])
  t.match(planted('src/server/cli/x.ts', 'fail(`$' + '{name} stands beside it`)'), [/“beside”/])
  t.match(planted('src/server/dashboard/page/x.tsx', '<p>Wait so long.{b} More</p>'), [/“so long”/])
})

t.test('ignores comments, SQL statements, single words, and servers behind a proxy', async (t) => {
  t.same(planted('src/server/x.ts', "// nobody is told\nconst state = 'told' /* who is told */"), [])
  t.same(planted('src/server/store/x.ts', 'sql`select told from jobs where told is null`'), [])
  t.same(refusedWords(textsOfPage({ path: 'docs/use/x.md', text: 'Run it behind a proxy.' })), [])
  t.same(refusedWords(textsOfPage({ path: 'docs/use/x.md', text: '```\nnobody is told\n```\n' })), [])
  t.match(refusedWords(textsOfPage({ path: 'docs/use/x.md', text: 'It is told\nso.' })), [/“told”/])
})
