// `node tools/weight.mjs`: what makes the source heavy to read, as counts, and the most that each may be. CI
// runs it: the counts may only fall. A commit that raises one says why.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { codeFiles } from './code.mjs'
import { weigh } from './weigh.mjs'

/** What was measured when the bound was set. Lower a bound with what lowers its count. */
const BOUNDS = {
  'files of src': 1_282,
  'lines of src': 168_334,
  'files of src below 40 lines': 226,
  'files of src with one importer': 463,
  'types of ports without an importer': 2,
  'types of ports with one importer': 83,
  'lines of comments in src': 18_857,
  'lines of comments in ports': 1_487,
  'citations in src': 483,
  'words of docs/use and docs/operate': 65_342,
  'words of docs/inside': 27_238,
  'lines of test': 207_062,
  'lines of bench': 23_554,
  'tell or told, comments of src': 0,
  'nobody or whoever, comments of src': 0,
  'behind for after, comments of src': 3,
  'beside for besides, comments of src': 0,
  'in the place of, comments of src': 0,
  'so long, comments of src': 0,
  'begins anew, comments of src': 0,
  'is none, comments of src': 0,
  'tell or told, titles of tests': 1,
  'nobody or whoever, titles of tests': 0,
  'behind for after, titles of tests': 10,
  'beside for besides, titles of tests': 0,
  'in the place of, titles of tests': 0,
  'so long, titles of tests': 0,
  'begins anew, titles of tests': 0,
  'is none, titles of tests': 0,
  'seconds of npm test': 1_395,
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const textsOf = (paths) => new Map(paths.map((path) => [path, readFileSync(path, 'utf8')]))
const pages = ['docs/use', 'docs/operate', 'docs/inside'].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`),
)
const figures = weigh({
  code: textsOf(codeFiles(['src', 'test', 'bench'])),
  pages: textsOf(pages),
  times: JSON.parse(readFileSync('tools/test-times.json', 'utf8')),
})
let failed = 0
for (const [name, count] of Object.entries(figures)) {
  const most = BOUNDS[name] ?? 0
  if (count > most) failed++
  const bound = count > most ? `OVER ${most}` : `at most ${most}`
  process.stdout.write(`${String(count).padStart(8)}  ${name}, ${bound}\n`)
}
process.stdout.write(`\n${Object.keys(figures).length - failed} passed, ${failed} failed\n`)
process.exitCode = failed === 0 ? 0 : 1
