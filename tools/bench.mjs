// `npm run bench -- [<scenario>…] [options]`: builds, installs the peers that scenarios compare with, and
// runs the scenarios.
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { installIfPossible } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
await build()
const { main } = await import('../dist/bench/suite/main.js')
// A missing peer is left out with a line that says how to add it.
process.exit(await main(process.argv.slice(2), () => installIfPossible('tools/peers')))
