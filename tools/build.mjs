// Compiles src, bench and test into dist, and the dashboard's page beside them; puts the files of /docs
// beside the code (reference, guides, their scripts and index); and joins the modules that a node runs.
// `--types` checks the types and writes nothing. Any tool may be the first command in a clone: packages are
// imported after `install` has run.
import { spawn } from 'node:child_process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { assemblePage } from './dashboard-page.mjs'
import { install } from './install.mjs'
import { showSteps } from './progress.mjs'

/**
 * Builds everything; ends the process when the compiler finds an error.
 * @param tell called with the name of each step as it begins
 */
export async function build(tell = () => undefined) {
  tell('step 1 of 3, compiling the server (usually 10 to 100 s)')
  await compile('tsconfig.json')
  tell('step 2 of 3, compiling the pages (usually 5 to 20 s)')
  await buildPages()
  tell('step 3 of 3, joining modules (usually 5 to 10 s)')
  const { bundle } = await import('./bundle.mjs')
  await bundle()
}

/** The pages that a node serves: its dashboard, its reference and its guides. */
async function buildPages() {
  await compile('tsconfig.dashboard.json')
  assemblePage()
  // These modules import the compiled code, which is not there before the first build.
  const { writeDocs } = await import('./docs.mjs')
  writeDocs()
}

/** Installs the compiler where it is missing, and ends the process when it finds an error. */
export async function compile(project, ...options) {
  await install('.')
  await new Promise((resolve) => {
    const child = spawn(process.execPath, ['node_modules/typescript/bin/tsc', '-p', project, ...options], {
      // The start command's own stdout must stay machine-readable.
      stdio: ['ignore', process.stderr, process.stderr],
    })
    child.once('error', ({ message }) => {
      process.stderr.write(`the compiler could not be started: ${message}\n`)
      process.exit(1)
    })
    child.once('exit', (status) => (status === 0 ? resolve() : process.exit(status ?? 1)))
  })
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)))
  if (process.argv.includes('--types')) {
    for (const project of ['tsconfig.json', 'tsconfig.dashboard.json']) await compile(project, '--noEmit')
  } else await showSteps('building', build)
}
