import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { nodeSettings, sluice, startNode, type Settings } from '../support/node.ts'
import { registrySettings } from '../support/registry.ts'
import { ROOT } from '../support/source.ts'
import { blocksOf } from './blocks.ts'
import { openStand, runSession, stepsOf } from './session.ts'

const readme = readFileSync(`${ROOT}README.md`, 'utf8')
const blocks = blocksOf(readme)

/** What they stand under and begin with, of blocks that are not run here: they need machines, programs or addresses that a test has not. */
const ELSEWHERE: readonly string[] = [
  'Start: npm start npm',
  'Groups of an identity provider: curl -H "Authorization:',
  'SCIM: bin/sluice scim tokens',
  'SCIM: curl -H "Authorization:',
  'Requests with secrets: curl -s -X',
  'Requests with secrets: const client =',
  'Root keys and their rotation: bin/sluice vault status',
  'Private endpoints: api=http://127.0.0.1:8080/api/v1/private-endpoints curl -s',
  'Presets: api=http://127.0.0.1:8080/api/v1/presets post() {',
  'Using, comparing and rolling back a preset: embed() { curl',
  'Using, comparing and rolling back a preset: get() { curl',
  'Backup and restore: bin/sluice backup /backups/2026-03-18',
  'As a package: npm pack #',
  'As a container: docker build -f',
  'Two nodes: sh deploy/secrets.sh #',
  'Webhooks: import { Webhook',
  'Webhooks: import { createHmac,',
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

t.test('every other block of the README works from an empty folder, in its order', async (t) => {
  const stand = openStand(t)
  const settings: Settings = { ...(await nodeSettings(t)), SLUICE_DATA: join(stand.folder, '.sluice') }
  await startNode(t, settings, sluice('serve'), stand.folder)
  const env = { ...registrySettings(), ...settings, SLUICE_DATA: './.sluice' }
  const ports = [settings['SLUICE_PORT'] ?? '', settings['SLUICE_ADMIN_PORT'] ?? ''] as const
  const ended = await runSession(stand, stepsOf(blocks), { ports, env })
  t.same(ended.failures, [])
})
