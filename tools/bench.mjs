// `npm run bench -- [<scenario>…] [options]`: answers help and faults at once, by the sources as they are;
// else builds, installs the peers that scenarios compare with, and runs the scenarios.
import { fileURLToPath, pathToFileURL } from 'node:url'
import { install, installIfPossible } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await install('.')
const { build: join } = await import('esbuild')
const given = process.argv.slice(2)
const { commandOrAnswer } = await fromSource('bench/suite/answer.ts')
const { text, code } = commandOrAnswer(given)
if (code === undefined) process.exit(await run())
// The reader of the output may leave: `head`, a closed terminal.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
const screen = code === 0 ? process.stdout : process.stderr
screen.write(`${text.trimEnd()}\n`)
process.exitCode = code

async function run() {
  const { build } = await import('./build.mjs')
  await build()
  const { main } = await import('../dist/bench/suite/main.js')
  // A missing peer is left out with a line that says how to add it.
  return main(given, () => installIfPossible('tools/peers'))
}

/** Joins a module with all that it imports, and runs it without a file: nothing of a build is needed. */
async function fromSource(entry) {
  const { outputFiles } = await join({
    absWorkingDir: process.cwd(),
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    define: { 'import.meta.url': JSON.stringify(pathToFileURL(entry).href) },
    logLevel: 'warning',
  })
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`)
}
