// The steps of a release as data, which tools/release.mjs prints or runs, and what stands in its way.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import { changesOf } from './changelog.mjs'

/** Steps that another machine may do, because they want a program that not every one has. */
export const OPTIONAL = ['tests', 'image', 'chart']

/**
 * @param release version, commit, out (folder of the files), and from (commit or tag of the release before),
 * source, builder, began where they are known
 * @returns steps in their order. A step has a name, what it is for, and its commands: words, with `to`, a file
 * that gets what the command prints; `needs` is a command that fails where the step cannot be done
 */
export function stepsOf({ version, commit, out, from, source, builder, began }) {
  const image = `sluice:${version}`
  const labels = { version, revision: commit, ...(source === undefined ? {} : { source }) }
  const node = (...words) => ['node', ...words]
  const given = (name, value) => (value === undefined ? [] : [name, value])
  return [
    {
      name: 'tests',
      what: 'lint, tests and short proofs',
      commands: [{ words: ['npm', 'run', 'lint', '--', '--all'] }, { words: ['npm', 'run', 'test:all'] }],
    },
    {
      name: 'notes',
      what: 'what the changelog says of the version, and what the definitions of API, settings and schema say',
      commands: [
        { words: node('tools/changelog.mjs', version), to: `${out}/CHANGES.md` },
        {
          words: node('tools/release-notes.mjs', ...(from === undefined ? [] : [from])),
          to: `${out}/DEFINITIONS.md`,
        },
      ],
    },
    {
      name: 'package',
      what: 'the package, with lock file and bill of materials in it',
      commands: [{ words: ['npm', 'pack', '--pack-destination', out] }],
    },
    {
      name: 'sbom',
      what: 'the bill of materials (CycloneDX)',
      commands: [{ words: node('tools/sbom.mjs', `${out}/sluice-${version}.cdx.json`) }],
    },
    {
      name: 'image',
      what: 'the image of a container, as a file that `docker load` takes',
      needs: ['docker', 'version'],
      commands: [
        {
          words: [
            ...['docker', 'build', '--pull', '--file', 'deploy/Dockerfile', '--tag', image],
            ...Object.entries(labels).flatMap(([name, text]) => [
              '--label',
              `org.opencontainers.image.${name}=${text}`,
            ]),
            '.',
          ],
        },
        { words: ['docker', 'save', '--output', `${out}/sluice-${version}.image.tar`, image] },
      ],
    },
    {
      name: 'chart',
      what: 'the chart for Helm',
      needs: ['helm', 'version'],
      commands: [
        { words: ['helm', 'lint', '--strict', 'deploy/chart'] },
        { words: ['helm', 'package', 'deploy/chart', '--destination', `${out}/chart`] },
      ],
    },
    {
      name: 'provenance',
      what: 'SHA-256 of each file, and the statement of what they were made of',
      commands: [
        {
          words: node(
            ...['tools/provenance.mjs', out, '--release', version, '--commit', commit],
            ...given('--source', source),
            ...given('--builder', builder),
            ...given('--began', began),
          ),
        },
        { words: node('tools/provenance.mjs', out, '--check') },
      ],
    },
  ]
}

/** What is left to people, because it cannot be taken back or wants a key of theirs. */
export function afterwards({ version, commit, out }) {
  return [
    { words: ['gpg', '--armor', '--detach-sign', `${out}/SHA256SUMS`] },
    { words: ['gpg', '--armor', '--detach-sign', `${out}/provenance.intoto.json`] },
    { words: ['git', 'tag', '--sign', '--message', `Sluice ${version}`, `v${version}`, commit] },
    { words: ['git', 'push', 'origin', `v${version}`] },
  ]
}

/**
 * What stands in the way of a release, one line each.
 * @param git runs git with these arguments and returns what it prints; null when it fails
 */
export function problemsOf({
  version,
  out,
  from,
  git,
  changelog,
  chart = readFileSync('deploy/chart/Chart.yaml', 'utf8'),
}) {
  const problems = []
  const changed = git('status', '--porcelain')
  if (changed === null) problems.push('this is no clone of git: a release names its commit')
  else if (changed !== '') problems.push('files differ from the commit: commit them, or take them back')
  if (git('rev-parse', '--verify', '--quiet', `refs/tags/v${version}`) !== null)
    problems.push(`the tag v${version} is there: give package.json another version`)
  if (from !== undefined && git('rev-parse', '--verify', '--quiet', `${from}^{commit}`) === null)
    problems.push(`there is no commit ${from}`)
  if (changesOf(version, changelog) === null)
    problems.push(`CHANGELOG.md says nothing of ${version}: name its part "Unreleased" so, and commit`)
  if (!chart.includes(`\nversion: ${version}\n`) || !chart.includes(`\nappVersion: "${version}"\n`))
    problems.push(`deploy/chart/Chart.yaml has another version than ${version}`)
  if (existsSync(out) && readdirSync(out).length > 0) problems.push(`${out} is not empty`)
  const isWithin = !relative('.', out).startsWith('..')
  if (isWithin && git('check-ignore', '--quiet', out) === null)
    problems.push(`git does not ignore ${out}, whose files would differ from the commit`)
  return problems
}

/** How the tree differs from the commit that the release began with; null: it does not. */
export function changesSince(commit, git) {
  if (git('rev-parse', 'HEAD') !== commit) return 'another commit was checked out'
  return git('status', '--porcelain') === '' ? null : 'files were changed'
}

/** A command as a shell takes it. */
export function shellText({ words, to }) {
  const quoted = (word) =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
  return [...words.map(quoted), ...(to === undefined ? [] : ['>', quoted(to)])].join(' ')
}
