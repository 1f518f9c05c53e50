// `npm run bench -- <scenario> [<scenario>] [options]`: builds, installs the peers that they compare with, if any, runs them in turn.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { install } from './install.mjs'

/** What each scenario shows, and which options it has. */
const SCENARIOS = {
  embeddings: {
    text: 'CPU, rate and latency of governed embeddings against nginx, Portkey and our ungoverned pipeline',
    options: 'embeddings',
  },
  uploads: {
    text: 'CPU, rate and memory of sealed uploads against nginx, node:http + busboy and @tus/server',
    options: 'transfers',
  },
  downloads: {
    text: 'CPU, rate and memory of plain and sealed downloads against nginx and node:http',
    options: 'transfers',
  },
  egress: {
    text: 'CPU, rate and added latency of the egress route against nginx as a reverse proxy to the same target over TLS',
    options: 'transfers',
  },
  vault: {
    text: 'latency of a small read beside 300 secrets a second, against the same beside an equal CPU burner; CPU of a write',
    options: 'vault',
  },
  limits: {
    text: 'CPU of a call with all limits against one with none; what rate limits of all sizes let through on 1 to 4 fronts',
    options: 'limits',
  },
  videos: {
    text: 'accepted video jobs a second and their latency against an insert and an enqueue with BullMQ alone and pg-boss alone',
    options: 'videos',
  },
}

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const given = process.argv.slice(2)
const firstOption = given.findIndex((word) => word.startsWith('-'))
const names = firstOption < 0 ? given : given.slice(0, firstOption)
const args = given.slice(names.length)
// Not an installation: what the options are stands in the source.
build()
const { EMBEDDINGS_OPTIONS_TEXT, readEmbeddingsOptions } = await import('../dist/bench/embeddings-options.js')
const { readTransferOptions, TRANSFER_OPTIONS_TEXT } = await import('../dist/bench/transfers/options.js')
const { LIMITS_OPTIONS_TEXT, readLimitsOptions } = await import('../dist/bench/limits/options.js')
const { readVideosOptions, VIDEOS_OPTIONS_TEXT } = await import('../dist/bench/videos/options.js')
const { readVaultOptions, VAULT_OPTIONS_TEXT } = await import('../dist/bench/vault/options.js')
/** How options are read and what they are, by the name of their kind. */
const OPTIONS = {
  embeddings: [readEmbeddingsOptions, EMBEDDINGS_OPTIONS_TEXT],
  transfers: [readTransferOptions, TRANSFER_OPTIONS_TEXT],
  vault: [readVaultOptions, VAULT_OPTIONS_TEXT],
  limits: [readLimitsOptions, LIMITS_OPTIONS_TEXT],
  videos: [readVideosOptions, VIDEOS_OPTIONS_TEXT],
}

const unknown = names.find((name) => !Object.hasOwn(SCENARIOS, name))
const isHelpAsked = names.length === 0 || args.includes('--help') || args.includes('-h')
if (unknown !== undefined || isHelpAsked) {
  process.stdout.write('npm run bench -- <scenario> [<scenario>] [options]\n\n')
  for (const [known, { text }] of Object.entries(SCENARIOS)) process.stdout.write(`  ${known}  ${text}\n`)
  for (const [kind, [, text]] of Object.entries(OPTIONS)) {
    const own = Object.keys(SCENARIOS).filter((known) => SCENARIOS[known].options === kind)
    process.stdout.write(`\n${own.join(', ')} ${text}\n`)
  }
  const isWrong = unknown !== undefined || (names.length === 0 && args.some((word) => !['--help', '-h'].includes(word)))
  if (isWrong) process.stderr.write(`\nthere is no scenario '${unknown ?? args[0]}'\n`)
  process.exit(isWrong ? 2 : 0)
}
for (const name of names) {
  const options = OPTIONS[SCENARIOS[name].options][0](args)
  const problem = typeof options === 'string' ? options : null
  if (problem !== null || (options.json !== null && names.length > 1)) {
    process.stderr.write(`${problem ?? '--json takes the report of one scenario'}\n`)
    process.exit(2)
  }
}
// What is measured against itself alone needs nobody else.
if (names.some((name) => !['vault', 'limits'].includes(SCENARIOS[name].options))) install('tools/peers')
let code = 0
for (const name of names) {
  const ran = spawnSync(process.execPath, [`dist/bench/${name}.js`, ...args], { stdio: 'inherit' })
  code ||= ran.status ?? 1
}
process.exit(code)
