// `npm run release -- --dry-run` prints the steps of a release; without --dry-run it does them.
import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { afterwards, changesSince, OPTIONAL, problemsOf, shellText, stepsOf } from './release-steps.mjs'

const HELP = `npm run release -- [--dry-run] [--from COMMIT] [--out FOLDER] [--without STEP]... [--source URL] [--builder URI]

Makes the files of a release of this commit: tests, notes, package, bill of materials, image, chart, and a
statement of what they were made of. It publishes, signs and tags nothing, and says how you do.

  --dry-run  prints each command, and what stands in the way; runs none of them and writes nothing
  --from     commit or tag of the release before, for the notes
  --out      an empty folder for the files; absent: release/VERSION
  --without  leaves a step out: ${OPTIONAL.join(', ')}
  --source   URL of the repository, for the statement and the image
  --builder  who builds, as a URI, for the statement
`

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
const text = { type: 'string' }
const { values } = parseArgs({
  options: {
    'dry-run': { type: 'boolean' },
    from: text,
    out: text,
    without: { type: 'string', multiple: true },
    source: text,
    builder: text,
    help: { type: 'boolean', short: 'h' },
  },
})
if (values.help) end(HELP, 0)
const without = values.without ?? []
const strange = without.filter((name) => !OPTIONAL.includes(name))
if (strange.length > 0) end(`--without takes ${OPTIONAL.join(', ')}, not ${strange.join(', ')}\n`, 2)

const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
const release = {
  version,
  commit: git('rev-parse', 'HEAD') ?? 'COMMIT',
  out: values.out ?? `release/${version}`,
  from: values.from,
  source: values.source,
  builder: values.builder,
  began: new Date().toISOString(),
}
const problems = problemsOf({ ...release, git })
const steps = stepsOf(release)
if (values['dry-run']) printPlan()
else releaseNow()

function printPlan() {
  say(`Sluice ${version}, commit ${release.commit}; nothing is run`)
  for (const problem of problems) say(`would refuse: ${problem}`)
  for (const step of steps) {
    const missing = missingOf(step)
    const isLeftOut = without.includes(step.name)
    const note = isLeftOut ? ' (left out)' : missing === null ? '' : ` (here \`${missing}\` fails)`
    say(`\n${step.name}: ${step.what}${note}`)
    for (const command of step.commands) say(`  ${shellText(command)}`)
  }
  sayRest()
}

function releaseNow() {
  const lacks = steps
    .filter(({ name }) => !without.includes(name))
    .flatMap((step) => {
      const missing = missingOf(step)
      return missing === null
        ? []
        : [
            `\`${missing}\` fails, which the step ${step.name} needs: see to it, or give --without ${step.name}`,
          ]
    })
  const all = [...problems, ...lacks]
  if (all.length > 0) end(all.map((problem) => `release: ${problem}\n`).join(''), 1)
  mkdirSync(release.out, { recursive: true })
  for (const { name, what, commands } of steps) {
    // The statement names one commit: the tree must have been that commit all the time.
    const changed = name === 'provenance' ? changesSince(release.commit, git) : null
    if (changed !== null) end(`release: ${changed}; ${release.out} is not of one commit\n`, 1)
    const isLeftOut = without.includes(name)
    say(`\n${name}: ${what}${isLeftOut ? ' (left out; elsewhere:)' : ''}`)
    for (const command of commands) {
      say(`  ${shellText(command)}`)
      if (!isLeftOut && !isDone(command)) end(`release: ${name} failed; ${release.out} is not complete\n`, 1)
    }
  }
  sayRest()
}

function sayRest() {
  say('\nBy hand, once the files are as they should be:')
  for (const command of afterwards(release)) say(`  ${shellText(command)}`)
}

/** The command that a step needs and that fails here; null: none. */
function missingOf({ needs }) {
  if (needs === undefined) return null
  const [command, ...args] = needs
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0 ? null : needs.join(' ')
}

function isDone({ words: [command, ...args], to }) {
  const output = to === undefined ? 'inherit' : openSync(to, 'wx')
  const { status } = spawnSync(command, args, { stdio: ['ignore', output, 'inherit'] })
  if (to !== undefined) closeSync(output)
  return status === 0
}

function git(...args) {
  const { status, stdout } = spawnSync('git', args, { encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}

function say(line) {
  process.stdout.write(`${line}\n`)
}

function end(message, code) {
  ;(code === 0 ? process.stdout : process.stderr).write(message)
  process.exit(code)
}
