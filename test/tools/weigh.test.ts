import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { ROOT } from '../support/source.ts'

type Texts = Readonly<Record<string, string>>
type Counts = Readonly<Record<string, number>>

interface Weigh {
  readonly weigh: (input: {
    readonly code: ReadonlyMap<string, string>
    readonly pages: ReadonlyMap<string, string>
    readonly times: Counts
  }) => Counts
}

const { weigh } = (await import(pathToFileURL(join(ROOT, 'tools/weigh.mjs')).href)) as Weigh

const of = (code: Texts, pages: Texts = {}, times: Counts = {}): Counts =>
  weigh({ code: new Map(Object.entries(code)), pages: new Map(Object.entries(pages)), times })

t.test('files, lines and importers are counted within src alone', async (t) => {
  const found = of({
    'src/a.ts': "import { b } from './b.ts'\nimport('./c.ts')\n",
    'src/b.ts': "import type { C } from './c.ts'\n",
    'src/c.ts': `${'x\n'.repeat(40)}`,
    'test/a.test.ts': "import { b } from '../src/b.ts'\n",
  })
  t.match(found, {
    'files of src': 3,
    'lines of src': 43,
    'files of src below 40 lines': 2,
    'files of src with one importer': 1,
    'lines of test': 1,
  })
})

t.test('counts for each type of the ports the files that import it by name', async (t) => {
  const found = of({
    'src/server/ports/a.ts': 'export interface None {}\nexport type One = 1\nexport interface Two {}\n',
    'src/server/b.ts': "import type { One, Two as Other } from './ports/a.ts'\n",
    'src/server/c.ts': "import {\n  type Two,\n} from './ports/a.ts'\n",
  })
  t.match(found, { 'types of ports without an importer': 1, 'types of ports with one importer': 1 })
})

t.test('counts rule citations and habits in comments, and habits in titles of tests', async (t) => {
  const found = of({
    'src/a.ts': "/** Told by nobody. C24, B2.9 */\n// behind it\nconst at = '0xA1'; const told = 1\n",
    'test/a.test.ts': "t.test('a caller is told', async () => {})\nconst title = 'told'\n",
  })
  t.match(found, {
    'citations in src': 2,
    'lines of comments in src': 2,
    'tell or told, comments of src': 1,
    'nobody or whoever, comments of src': 1,
    'behind for after, comments of src': 1,
    'tell or told, titles of tests': 1,
  })
})

t.test('sums words of pages and seconds of tests, except for proofs and tests of the tools', async (t) => {
  const found = of(
    {},
    { 'docs/use/a.md': '# One two\n\nthree', 'docs/inside/b.md': 'four five' },
    { 'test/a.test.ts': 3, 'test/prove/b.test.ts': 50, 'test/bench/c.test.ts': 7 },
  )
  t.match(found, {
    'words of docs/use and docs/operate': 4,
    'words of docs/inside': 2,
    'seconds of npm test': 3,
  })
})
