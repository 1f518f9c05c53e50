// `npm run bench -- [<scenario>…] [options]`: builds, installs the peers that they compare with, if any, runs them in turn.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { install } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const given = process.argv.slice(2)
const firstOption = given.findIndex((word) => word.startsWith('-'))
const givenNames = firstOption < 0 ? given : given.slice(0, firstOption)
// Not an installation: what the scenarios are stands in the source.
build()
const { routed, SCENARIOS, scenarioOf } = await import('../dist/bench/scenarios.js')
const { names, args } = routed(givenNames, given.slice(givenNames.length))

const unknown = names.find((name) => scenarioOf(name) === null)
const isHelpAsked = names.length === 0 || args.includes('--help') || args.includes('-h')
if (unknown !== undefined || isHelpAsked) {
  process.stdout.write('npm run bench -- <scenario> [<scenario>] [options]\n\n')
  for (const { name, text } of SCENARIOS) process.stdout.write(`  ${name}  ${text}\n`)
  for (const help of new Set(SCENARIOS.map((one) => one.help))) {
    const own = SCENARIOS.filter((one) => one.help === help).map(({ name }) => name)
    process.stdout.write(`\n${own.join(', ')} ${help}\n`)
  }
  const isWrong = unknown !== undefined || (names.length === 0 && args.some((word) => !['--help', '-h'].includes(word)))
  if (isWrong) process.stderr.write(`\nthere is no scenario '${unknown ?? args[0]}'\n`)
  process.exit(isWrong ? 2 : 0)
}
for (const name of names) {
  const options = scenarioOf(name).options(args)
  const problem = typeof options === 'string' ? options : null
  if (problem !== null || (options.json !== null && names.length > 1)) {
    process.stderr.write(`${problem ?? '--record takes the record of one scenario'}\n`)
    process.exit(2)
  }
}
// What is measured against itself alone needs nobody else.
if (names.some((name) => scenarioOf(name).hasPeers)) install('tools/peers')
let code = 0
for (const name of names) {
  const ran = spawnSync(process.execPath, [`dist/bench/${name}.js`, ...args], { stdio: 'inherit' })
  code ||= ran.status ?? 1
}
process.exit(code)
