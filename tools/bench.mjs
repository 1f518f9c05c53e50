// `npm run bench -- <scenario> [options]`: builds, installs the peers that the scenario compares with, runs it.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { install } from './install.mjs'

/** What each scenario shows, and whether it needs the peers of tools/peers. */
const SCENARIOS = {
  embeddings: {
    text: 'CPU, rate and latency of governed embeddings against nginx, Portkey and our ungoverned pipeline',
    peers: true,
  },
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const [name, ...args] = process.argv.slice(2)
const scenario = Object.hasOwn(SCENARIOS, name ?? '') ? SCENARIOS[name] : undefined
// Not an installation: what the options are stands in the source.
build()
const { OPTIONS_TEXT, readOptions } = await import('../dist/bench/options.js')

const options = scenario === undefined ? 'help' : readOptions(args)
if (options === 'help') {
  process.stdout.write('npm run bench -- <scenario> [options]\n\n')
  for (const [known, { text }] of Object.entries(SCENARIOS)) process.stdout.write(`  ${known}  ${text}\n`)
  process.stdout.write(`\n${OPTIONS_TEXT}\n`)
  const isAsked = scenario !== undefined || name === undefined || name === '--help' || name === '-h'
  if (!isAsked) process.stderr.write(`\nthere is no scenario '${name}'\n`)
  process.exit(isAsked ? 0 : 2)
}
if (typeof options === 'string') {
  process.stderr.write(`${options}\n`)
  process.exit(2)
}
if (scenario.peers) install('tools/peers')
const ran = spawnSync(process.execPath, [`dist/bench/${name}.js`, ...args], { stdio: 'inherit' })
process.exit(ran.status ?? 1)
