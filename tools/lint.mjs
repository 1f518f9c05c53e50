// `npm run lint`: prettier's layout, eslint with types over src, bench and test, redocly over the generated OpenAPI document,
// and the types of the Kubernetes API over the manifests. The tools have a lock file of their own (see
// tools/package.json) and are installed here when it changed.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from './build.mjs'
import { CODE } from './code.mjs'
import { install } from './install.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

const WITH_OPENAPI = 'bin/sluice'

await install('tools')
const failures = [formatted(), eslint(), await redocly(), await kubernetes()].filter(
  (isGood) => !isGood,
).length
process.exit(failures === 0 ? 0 : 1)

/** What is checked is kept, so that a second run looks at what changed alone. */
const KEPT = 'node_modules/.cache/lint'

function formatted() {
  return run('prettier/bin/prettier.cjs', [
    '--check',
    '--log-level',
    'warn',
    '--cache',
    '--cache-location',
    `${KEPT}/prettier`,
    ...CODE,
  ])
}

function eslint() {
  const folders = ['src', 'bench', 'test'].filter((folder) => existsSync(folder))
  return run('eslint/bin/eslint.js', [
    '--config',
    'tools/eslint.config.mjs',
    '--max-warnings',
    '0',
    '--cache',
    '--cache-location',
    `${KEPT}/eslint`,
    ...folders,
  ])
}

/** Lints what the product itself prints, so that the document and the linted text cannot differ. */
async function redocly() {
  await build()
  const printed = spawnSync(process.execPath, [WITH_OPENAPI, 'openapi'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (printed.status !== 0) {
    process.stderr.write(`lint: \`sluice openapi\` failed\n${printed.stderr}`)
    return false
  }
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lint-'))
  try {
    writeFileSync(join(folder, 'openapi.json'), printed.stdout)
    return run('@redocly/cli/bin/cli.js', [
      'lint',
      join(folder, 'openapi.json'),
      '--config',
      'tools/redocly.yaml',
    ])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function kubernetes() {
  const { deployedManifests, faultsOf } = await import('./manifests.mjs')
  const faults = await faultsOf(await deployedManifests())
  for (const fault of faults) process.stdout.write(`deploy/kubernetes: ${fault}\n`)
  return faults.length === 0
}

function run(tool, args) {
  const ran = spawnSync(process.execPath, [`tools/node_modules/${tool}`, ...args], {
    stdio: 'inherit',
    // No version check and no usage report over the network.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return ran.status === 0
}
