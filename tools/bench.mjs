// `npm run bench -- <scenario> [options]`: builds, installs the peers that the scenario compares with, runs it.
import { spawnSync } from 'node:child_process'
import { build } from './build.mjs'
import { install } from './install.mjs'

/** What each scenario shows, and whether it needs the peers of tools/peers. */
const SCENARIOS = {
  embeddings: {
    text: 'CPU, rate and latency of governed embeddings against nginx, Portkey and our ungoverned pipeline',
    peers: true,
  },
}

process.chdir(new URL('..', import.meta.url).pathname)
const [name, ...options] = process.argv.slice(2)
const scenario = SCENARIOS[name]
if (scenario === undefined) {
  process.stdout.write('npm run bench -- <scenario> [options]\n\n')
  for (const [known, { text }] of Object.entries(SCENARIOS)) process.stdout.write(`  ${known}  ${text}\n`)
  process.stdout.write(
    '\noptions: --seconds 6 --repeats 5 --connections 48 --dimensions 1536 --latency-ms 0 --only a,b --json FILE\n',
  )
  process.exit(name === undefined ? 0 : 2)
}
build()
if (scenario.peers) install('tools/peers')
const ran = spawnSync(process.execPath, [`dist/bench/${name}.js`, ...options], { stdio: 'inherit' })
process.exit(ran.status ?? 1)
