// Builds the dashboard's page: its compiled modules in one file, its style sheet and mark, and the vendored files with
// their licenses. A browser loads all of them at once, since the page names them before it needs them.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, posix } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { joinModules } from './join-modules.mjs'

const SOURCE = 'src/server/dashboard/page'
const COMPILED = `dist/.page/${SOURCE}`
const TARGET = `dist/${SOURCE}`
const ENTRY = 'main.js'

/** Packages that the page imports by name, and their files. */
const VENDORED = {
  preact: { from: 'node_modules/preact/dist/preact.mjs', to: 'vendor/preact.js' },
  'preact/hooks': { from: 'node_modules/preact/hooks/dist/hooks.mjs', to: 'vendor/preact-hooks.js' },
  // Neither of the two small forms is a module: the script's one variable becomes the export.
  uplot: {
    from: 'node_modules/uplot/dist/uPlot.iife.min.js',
    to: 'vendor/uplot.js',
    tail: '\nexport default uPlot\n',
  },
}
const COPIED = [
  ['node_modules/preact/LICENSE', 'vendor/preact-license.txt'],
  ['node_modules/uplot/LICENSE', 'vendor/uplot-license.txt'],
]
const BARE = /(\bfrom\s*|\bimport\s*)(["'])([a-z][a-z/]*)\2/g

export function assemblePage() {
  rmSync(TARGET, { recursive: true, force: true })
  const sources = readdirSync(SOURCE, { recursive: true }).map((path) => path.split('\\').join('/'))
  const modules = sources.filter((path) => /\.tsx?$/.test(path)).map((path) => path.replace(/\.tsx?$/, '.js'))
  const texts = new Map(
    modules.map((path) => [path, readFileSync(`${COMPILED}/${path}`, 'utf8').replaceAll(/^ +/gm, '')]),
  )
  write(ENTRY, joinModules(texts, ENTRY))
  for (const { from, to, tail = '' } of Object.values(VENDORED))
    write(to, `${readFileSync(from, 'utf8').replace(/\n\/\/# sourceMappingURL=.*/, '')}${tail}`)
  for (const [from, to] of COPIED) put(to, readFileSync(from))
  for (const path of sources.filter((path) => /\.(?:css|svg)$/.test(path)))
    put(path, readFileSync(`${SOURCE}/${path}`))
  const all = [ENTRY, ...Object.values(VENDORED).map(({ to }) => to)]
  const preloads = all.map((path) => `<link rel="modulepreload" href="${path}">\n`).join('')
  put('index.html', readFileSync(`${SOURCE}/index.html`, 'utf8').replace('<script ', `${preloads}<script `))
}

/** Writes a module; its imports by name become imports of the vendored files, relative to its own place. */
function write(path, text) {
  put(
    path,
    text.replace(BARE, (all, lead, quote, name) => {
      const found = VENDORED[name]
      if (found === undefined) throw new Error(`${path} imports ${name}, which is not vendored`)
      const place = posix.relative(posix.dirname(path), found.to)
      return `${lead}${quote}${place.startsWith('.') ? place : `./${place}`}${quote}`
    }),
  )
}

function put(path, content) {
  mkdirSync(dirname(`${TARGET}/${path}`), { recursive: true })
  writeFileSync(`${TARGET}/${path}`, content)
  // The build may take long: it compresses at the highest quality, so that a first visit need not wait.
  if (!path.endsWith('.txt')) writeFileSync(`${TARGET}/${path}.br`, brotliCompressSync(content))
}
