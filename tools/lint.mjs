// `npm run lint` checks the layout (Prettier), the typed rules over src, bench and test (ESLint), the
// generated OpenAPI document (Redocly), words in texts that users read, the manifests against the types of
// the Kubernetes API, that the generated WebAssembly belongs to its text, and the subject of the last commit.
// A run checks what changed since the last good one; `--all` checks everything. The tools have a lock file of
// their own (see tools/package.json); this command installs them when it changes.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from './build.mjs'
import { codeFiles } from './code.mjs'
import { install } from './install.mjs'
import { isClean, isFormatted } from './lint-code.mjs'
import { digestOf, Kept } from './lint-kept.mjs'
import { areWordsPlain, filesOfWords } from './lint-words.mjs'
import { codeText, MODULES } from './wat.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))

/** Prints the document from the compiled modules: the bundle is not needed. */
const PRINT = "import { run } from './dist/src/server/cli/run.js'; await run(['openapi'])"
const LOCK = 'tools/package-lock.json'
const MANIFESTS = 'deploy/kubernetes'
/** Characters of a commit's subject, as `git log --oneline` shows it in a window of 80 columns. */
const SUBJECT_CHARS_MAX = 72
/** After the area, such as `money: `. */
const NO_VERB = /^(?:[\w-]+: )?(?:an?|the|this|that|these|it|its|they|what|who|no|some|each|every)\b/i
const read = (path) => readFileSync(path, 'utf8')

// ESLint reads the types of the packages.
await install('.')
await install('tools')
const kept = new Kept(process.argv.includes('--all'))
// The compiler, a process of its own, runs while ESLint does.
const document = once(
  'openapi',
  [...codeFiles(['src']), 'package-lock.json', 'tools/redocly.yaml', LOCK],
  redocly,
)
const checks = [
  await isFormatted(kept),
  await isClean(kept),
  await document,
  await once('words', filesOfWords(), areWordsPlain),
  isSubjectGood(),
  await once('manifests', [...manifestFiles(), 'tools/manifests.mjs', LOCK], kubernetes),
  await once(
    'webassembly',
    [...MODULES.flatMap(({ wat, codeFile }) => [wat, codeFile]), 'tools/wat.mjs', LOCK],
    isCodeOfText,
  ),
]
kept.write()
process.exit(checks.every((isGood) => isGood) ? 0 : 1)

/** The subject of the last commit: imperative, so without an article or a pronoun at its head, and short. */
function isSubjectGood() {
  const { status, stdout } = spawnSync('git', ['log', '-1', '--format=%s'], { encoding: 'utf8' })
  // Sources without a history have no subject.
  if (status !== 0) return true
  const subject = stdout.trim()
  const isGood = subject.length <= SUBJECT_CHARS_MAX && !NO_VERB.test(subject)
  if (!isGood)
    process.stdout.write(`subject: “${subject}” is long, or begins without a verb: see CONTRIBUTING.md\n`)
  return isGood
}

/** Runs a check unless its files are those of the last good run. */
async function once(name, paths, check) {
  const digest = digestOf(...paths.flatMap((path) => [path, read(path)]))
  const isKnown = kept.isGood(name, '', digest)
  if (!isKnown && !(await check())) return false
  kept.keep(name, '', digest)
  process.stdout.write(`${name}: ${isKnown ? 'nothing had changed' : 'good'}\n`)
  return true
}

/** Lints the output of the product itself, so that the served document and the linted text cannot differ. */
async function redocly() {
  await compile('tsconfig.json')
  const printed = spawnSync(process.execPath, ['--input-type=module', '--eval', PRINT], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  })
  if (printed.status !== 0) {
    process.stderr.write(`lint: \`sluice openapi\` failed\n${printed.stderr}`)
    return false
  }
  const digest = digestOf(printed.stdout, read('tools/redocly.yaml'), read(LOCK))
  if (kept.isGood('document', '', digest)) return true
  const isGood = isDocumentGood(printed.stdout)
  if (isGood) kept.keep('document', '', digest)
  return isGood
}

function isDocumentGood(text) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-lint-'))
  try {
    writeFileSync(join(folder, 'openapi.json'), text)
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

function manifestFiles() {
  return readdirSync(MANIFESTS).map((name) => join(MANIFESTS, name))
}

async function kubernetes() {
  const { deployedManifests, faultsOf } = await import('./manifests.mjs')
  const faults = await faultsOf(await deployedManifests())
  for (const fault of faults) process.stdout.write(`deploy/kubernetes: ${fault}\n`)
  return faults.length === 0
}

async function isCodeOfText() {
  let isGood = true
  for (const module of MODULES) {
    if ((await codeText(module)) === read(module.codeFile)) continue
    isGood = false
    process.stdout.write(`${module.codeFile} is not made of ${module.wat}: node tools/wat.mjs\n`)
  }
  return isGood
}

function run(tool, args) {
  const ran = spawnSync(process.execPath, [`tools/node_modules/${tool}`, ...args], {
    stdio: 'inherit',
    // No version check and no usage report over the network.
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  })
  return ran.status === 0
}
