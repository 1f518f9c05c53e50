// Makes the files of /docs: the reference and the OpenAPI document from the operations, the guides from
// Markdown, the scripts of both, and the index of the search over all of them.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { DOCS_PATH, OPENAPI_PATH } from '../dist/src/schemas/api-prefix.js'
import { errorPages } from '../dist/src/server/http/reference/site.js'
import { openApiOf } from '../dist/src/server/http/reference/openapi.js'
import { referencePages } from '../dist/src/server/http/reference/pages/reference-pages.js'
import { searchIndexOf } from '../dist/src/server/http/reference/pages/search-index.js'
import { OPERATIONS } from '../dist/src/server/operations/index.js'
import { guides, placeOf, writePages } from './guides.mjs'
import { joinModules } from './join-modules.mjs'

const TARGET = 'dist/src/server/http/docs'
const COMPILED = 'dist/.page/src/server/http/docs'
const SCRIPTS = ['guides.js', 'reference.js']
/** Pages in which many words stand once: what they say counts less than a guide about it. */
const LISTS = {
  bench: 0.5,
  changelog: 0.4,
  limits: 0.5,
  'translation-fields': 0.5,
  index: 0.8,
}
const REFERENCE_WEIGHT = 0.65
const ERROR_WEIGHT = 0.8
/** What follows the texts of an error page: examples have words that all of them share. */
const EXAMPLE_ON = /<h2>Example answer<\/h2>[^]*<\/main>/

export function writeDocs() {
  mkdirSync(TARGET, { recursive: true })
  // The document and the pages read their examples from there.
  copyFileSync('src/server/http/reference/answers.json', `${TARGET}/answers.json`)
  const texts = guides()
  const reference = referencePages(OPERATIONS)
  writePages(`${TARGET}/guides`, texts)
  writePages(
    `${TARGET}/reference`,
    new Map(reference.map(({ path, html }) => [path === DOCS_PATH ? 'index' : basename(path), html])),
  )
  writeFileSync(`${TARGET}/${basename(OPENAPI_PATH)}`, JSON.stringify(openApiOf(OPERATIONS)))
  copyFileSync('src/server/http/docs/guides.css', `${TARGET}/guides.css`)
  const modules = new Map(
    readdirSync(COMPILED)
      .filter((name) => name.endsWith('.js'))
      .map((name) => [name, readFileSync(`${COMPILED}/${name}`, 'utf8')]),
  )
  for (const name of SCRIPTS) writeFileSync(`${TARGET}/${name}`, joinModules(modules, name))
  const index = searchIndexOf([
    ...[...texts].map(([name, html]) => ({
      path: placeOf({ name }),
      html,
      weight: LISTS[name] ?? 1,
    })),
    ...reference.map(({ path, html }) => ({ path, html, weight: REFERENCE_WEIGHT })),
    ...errorPages(OPERATIONS).map(({ path, html }) => ({
      path,
      html: html().replace(EXAMPLE_ON, '</main>'),
      weight: ERROR_WEIGHT,
    })),
  ])
  writeFileSync(`${TARGET}/guides-index.js`, `export default ${JSON.stringify(index)}\n`)
}
