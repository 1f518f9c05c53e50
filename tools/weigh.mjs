// Counts what makes the source heavy to read. Pure: from the texts of files to figures, by name.
import { dirname, join } from 'node:path'
import { kindOf } from './test-files.mjs'

/** Lines below which a file is small. */
const SMALL_LINES = 40
const IMPORTED = /(?:from|import\()\s*'(\.[^']+)'/g
const IMPORT_LIST = /import\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g
/** The number of a rule, as `C24` or `B2.9`; hexadecimal literals and units are none. */
const CITATION = /(?<![\w#&.'"/-])[A-F]\d{1,2}(?:\.\d{1,2})?(?![\w'"])/g
/** Words of the five habits, in comments and in titles of tests. */
export const HABITS = {
  'tell or told': /\b(?:tells?|told|untold)\b/gi,
  'nobody or whoever': /\b(?:nobody|whoever|whom|somebody)\b/gi,
  'behind for after': /\bbehind\b/gi,
  'beside for besides': /\bbeside\b/gi,
  'in the place of': /\bin the place of\b/gi,
  'so long': /\bso long\b/gi,
  'begins anew': /\bbegins? anew\b/gi,
  'is none': /\bis none\b/gi,
}

/**
 * @param code texts by path, from the root of the repository: src, test, bench
 * @param pages texts by path, of docs and the README
 * @param times seconds of each test file
 * @returns figures by name
 */
export function weigh({ code, pages, times }) {
  const within = (folder) => [...code].filter(([path]) => path.startsWith(`${folder}/`))
  const [src, test, bench] = [within('src'), within('test'), within('bench')]
  const importers = importersOf(src)
  const comments = src.map(([, text]) => commentsOf(text)).join('\n')
  const titles = test.flatMap(([, text]) => titlesOf(text)).join('\n')
  const ports = src.filter(([path]) => path.startsWith('src/server/ports/'))
  const uses = usesOf(ports, src)
  return {
    'files of src': src.length,
    'lines of src': lines(src),
    [`files of src below ${SMALL_LINES} lines`]: src.filter(([, text]) => linesOf(text) < SMALL_LINES).length,
    'files of src with one importer': [...importers.values()].filter((by) => by.size === 1).length,
    'types of ports without an importer': uses.filter((count) => count === 0).length,
    'types of ports with one importer': uses.filter((count) => count === 1).length,
    'lines of comments in src': linesOf(comments),
    'lines of comments in ports': linesOf(ports.map(([, text]) => commentsOf(text)).join('\n')),
    'citations in src': comments.match(CITATION)?.length ?? 0,
    'words of docs/use and docs/operate': words(pages, /^docs\/(?:use|operate)\//),
    'words of docs/inside': words(pages, /^docs\/inside\//),
    'lines of test': lines(test),
    'lines of bench': lines(bench),
    ...habitsOf('comments of src', comments),
    ...habitsOf('titles of tests', titles),
    'seconds of npm test': Object.entries(times)
      .filter(([path]) => kindOf(`dist/${path}`) === 'behaviour')
      .reduce((sum, [, seconds]) => sum + seconds, 0),
  }
}

function habitsOf(where, text) {
  return Object.fromEntries(
    Object.entries(HABITS).map(([name, habit]) => [`${name}, ${where}`, text.match(habit)?.length ?? 0]),
  )
}

/** Files of src with the files of src that import them; those that nothing imports begin programs. */
function importersOf(src) {
  const found = new Map()
  for (const [path, text] of src)
    for (const [, to] of text.matchAll(IMPORTED)) {
      const target = join(dirname(path), to)
      found.set(target, (found.get(target) ?? new Set()).add(path))
    }
  return found
}

/** How many files outside of its own import each exported type of the ports. */
function usesOf(ports, src) {
  const uses = new Map()
  for (const [path, text] of ports)
    for (const [, name] of text.matchAll(/^export (?:interface|type) (\w+)/gm)) uses.set(`${path} ${name}`, 0)
  for (const [path, text] of src)
    for (const [, names, to] of text.matchAll(IMPORT_LIST)) {
      const target = join(dirname(path), to)
      for (const name of names.split(',')) {
        const key = `${target} ${name
          .trim()
          .replace(/^type /, '')
          .replace(/ as .*/s, '')}`
        if (uses.has(key)) uses.set(key, uses.get(key) + 1)
      }
    }
  return [...uses.values()]
}

/** Comments of a file, each line once; a `//` within a text is rare enough to count. */
function commentsOf(text) {
  return (text.match(/\/\*[^]*?\*\/|(?<=^\s*)\/\/.*$/gm) ?? []).join('\n')
}

function titlesOf(text) {
  return [...text.matchAll(/\bt\.test\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , title]) => title)
}

function linesOf(text) {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length
}

function lines(files) {
  return files.reduce((sum, [, text]) => sum + linesOf(text), 0)
}

function words(pages, place) {
  return [...pages]
    .filter(([path]) => place.test(path))
    .reduce((sum, [, text]) => sum + text.split(/\s+/).filter((word) => word !== '').length, 0)
}
