// Compiles src, bench and test into dist, and the dashboard's page beside them; puts what /docs serves beside the code: files of the reference, guides;
// and joins the modules that a node runs.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { bundle } from './bundle.mjs'
import { assemblePage } from './dashboard-page.mjs'
import { writeGuides } from './guides.mjs'

const PAGE_FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']

/** Ends the process when the compiler finds an error. */
export async function build() {
  compile('tsconfig.json')
  compile('tsconfig.dashboard.json')
  assemblePage()
  const page = 'dist/src/server/http/docs'
  mkdirSync(page, { recursive: true })
  for (const file of PAGE_FILES) copyFileSync(`node_modules/swagger-ui-dist/${file}`, `${page}/${file}`)
  copyFileSync('src/server/http/docs/guides.css', `${page}/guides.css`)
  writeGuides(`${page}/guides`)
  await bundle()
}

function compile(project) {
  const compiled = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project], {
    // The start command's own stdout must stay machine-readable.
    stdio: ['ignore', process.stderr, process.stderr],
  })
  if (compiled.status !== 0) process.exit(compiled.status ?? 1)
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await build()
