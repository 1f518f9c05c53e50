import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { NO_OPENSSL } from '../support/certificate.ts'
import { nodeSettings, sluice, startNode, type Settings } from '../support/node.ts'
import { openTestDatabase } from '../support/postgres.ts'
import { registrySettings } from '../support/registry.ts'
import { ROOT } from '../support/source.ts'
import { blocksOf } from './blocks.ts'
import { startOutside } from './outside.ts'
import { openStand, runSession, stepsOf, type Node } from './session.ts'
import { sampleOf, takings } from './takings.ts'

const readme = readFileSync(`${ROOT}README.md`, 'utf8')
const blocks = blocksOf(readme)

/** Lines that are taken out in one run; another seed takes out others. */
const MUTATIONS = 3
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
/** What a run of some blocks finds of the run of all: the node's own folder, and what was installed. */
const KEPT = ['.sluice', 'try']

/** What they stand under and begin with, of blocks that are not run here: they need machines, programs or addresses that a test has not. */
const ELSEWHERE: readonly string[] = [
  'Start: npm start npm',
  'As a package: npm pack #',
  'As a container: docker build -f',
  'Two nodes: sh deploy/secrets.sh #',
  'How it is built: npm test #',
  'Bench: npm run bench',
]

t.test('the blocks of the README that are not run are these', async (t) => {
  const found = blocks.filter(({ mark }) => mark !== null)
  t.same(found.filter(({ mark }) => mark !== 'elsewhere'), [])
  t.same(found.map(({ section, text }) => `${section}: ${text.split(/\s+/, 3).join(' ')}`), ELSEWHERE)
})

t.test('no fence of the README is missed', async (t) => {
  t.equal(blocks.length * 2, readme.split('\n').filter((line) => /^\s*(?:```|~~~)/.test(line)).length)
})

t.test('links within the README lead to a heading, and its contents name each section', async (t) => {
  const headings = readme.split('\n').filter((line) => /^##+ /.test(line))
  const anchors = headings.map((line) => line.replace(/^#+ /, '').toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-'))
  const links = [...readme.matchAll(/\]\(#([^)]+)\)/g)].map((match) => match[1] ?? '')
  t.same(links.filter((link) => !anchors.includes(link)), [])
  const contents = readme.slice(readme.indexOf('## Contents'), readme.indexOf('## Start'))
  const sections = anchors.filter((anchor, at) => (headings[at] ?? '').startsWith('## ') && anchor !== 'contents')
  t.same(sections.filter((anchor) => !contents.includes(`(#${anchor})`)), [])
})

t.test('from an empty folder', { skip: NO_OPENSSL }, async (t) => {
  const stand = openStand(t)
  const outside = await startOutside(t)
  const settings: Settings = { ...(await nodeSettings(t)), ...outside.settings, SLUICE_DATA: join(stand.folder, '.sluice') }
  await startNode(t, settings, sluice('serve'), stand.folder)
  const names = [
    ['127.0.0.1:8080', `127.0.0.1:${settings['SLUICE_PORT'] ?? ''}`],
    ['127.0.0.1:9090', `127.0.0.1:${settings['SLUICE_ADMIN_PORT'] ?? ''}`],
    // A Postgres of its own would take seconds to make.
    ['SLUICE_DATA=./restored', `SLUICE_DATA=./restored DATABASE_URL=${(await openTestDatabase(t, 'empty')).url}`],
    ...outside.names,
  ] as const
  const node: Node = { names, env: { ...registrySettings(), ...settings, SLUICE_DATA: './.sluice' } }

  await t.test('every other block of the README works, in its order', async (t) => {
    t.same((await runSession(stand, stepsOf(blocks), node)).failures, [])
  })

  await t.test('without a line that a first call needs, the README fails', async (t) => {
    const missed: string[] = []
    for (const [number, taken] of sampleOf(takings(blocks), MUTATIONS, SEED).entries()) {
      const again = openStand(t, { of: stand, names: KEPT })
      const { failures } = await runSession(again, stepsOf(taken.blocks), { ...node, attempt: `-${number}` })
      if (failures.length === 0) missed.push(`README.md:${taken.command.line}: ${taken.command.text}`)
    }
    t.same(missed, [])
    const whole = takings(blocks)[0]?.whole ?? []
    t.same((await runSession(openStand(t, { of: stand, names: KEPT }), stepsOf(whole), { ...node, attempt: '-whole' })).failures, [])
  })
})
