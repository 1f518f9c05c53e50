import { join } from 'node:path'
import { nodeSettings, sluice, startNode, type Settings } from '../support/nodes/node.ts'
import { openTestDatabase } from '../support/stores/postgres.ts'
import { registrySettings } from '../support/nodes/registry.ts'
import { isRun, type Block } from './blocks.ts'
import { startOutside, type Outside } from './outside.ts'
import { openStand, runSession, stepsOf, type Ended, type Node } from './session.ts'
import type { Teardown } from '../support/teardown.ts'

export interface Reader {
  /** All of it, in the folder in which the node runs. */
  run(blocks: readonly Block[]): Promise<Ended>
  /**
   * Runs some blocks again, in a folder of their own with the same node; objects get other names than before.
   */
  again(
    blocks: readonly Block[],
    input?: { readonly msMax?: number; readonly isInstalled?: boolean },
  ): Promise<Ended>
}

/**
 * Names that callers give to the objects they create; a number after them makes them new to a node that knows
 * the first ones.
 */
const GIVEN: readonly (readonly [string, (n: number) => string])[] = [
  ['research', (n) => `research-${n}`],
  ['$api/support', (n) => `$api/support-${n}`],
  ['$api/search', (n) => `$api/search-${n}`],
  ['@preset/search', (n) => `@preset/search-${n}`],
  ['"preset":"search"', (n) => `"preset":"search-${n}"`],
  ['github_token', (n) => `github_token_${n}`],
  ['openai_key', (n) => `openai_key_${n}`],
  ['models_key', (n) => `models_key_${n}`],
  ['sess_demo', (n) => `sess_demo${n}`],
  ['acme/embed', (n) => `acme/embed-${n}`],
  ['--name team', (n) => `--name team-${n}`],
  ['"displayName":"Engineering"', (n) => `"displayName":"Engineering ${n}"`],
  ['ann@example.com', (n) => `ann-${n}@example.com`],
]

/** A node that was started in the folder of a clone, and what a reader of the README has around it. */
export async function startReader(t: Teardown): Promise<Reader> {
  const stand = openStand(t)
  const outside = await startOutside(t)
  const data = join(stand.folder, '.sluice')
  const settings: Settings = { ...(await nodeSettings(t)), ...outside.settings, SLUICE_DATA: data }
  await startNode(t, settings, sluice('serve'), stand.folder)
  // A client whose address was taken out would ask that of its maker.
  const env = {
    ...registrySettings(),
    ...settings,
    // By default npm waits five minutes for a request of its registry, thrice.
    npm_config_fetch_timeout: '60000',
    npm_config_fetch_retries: '5',
    OPENAI_BASE_URL: 'http://127.0.0.1:9/',
  }
  let attempts = 0
  return {
    async run(blocks) {
      const names = await namesOf(t, { settings, outside, blocks })
      return runSession(stand, stepsOf(blocks), { names, env: { ...env, SLUICE_DATA: './.sluice' } })
    },
    async again(blocks, { msMax, isInstalled = true } = {}) {
      attempts += 1
      const given = GIVEN.map(([name, another]) => [name, another(attempts)] as const)
      const names = [...(await namesOf(t, { settings, outside, blocks })), ...given]
      const folder = openStand(t, { of: stand, names: ['.sluice', ...(isInstalled ? ['try'] : [])] })
      return runSession(folder, stepsOf(blocks), {
        names,
        env,
        attempt: `-${attempts}`,
        ...(msMax !== undefined && { msMax }),
      })
    },
  }
}

interface Place {
  readonly settings: Settings
  readonly outside: Outside
  readonly blocks: readonly Block[]
}

/** What stands in the text, and what stands for it here. */
async function namesOf(t: Teardown, { settings, outside, blocks }: Place): Promise<Node['names']> {
  const restored = 'SLUICE_DATA=./restored'
  const isRestored = blocks.some((block) => isRun(block) && block.text.includes(restored))
  return [
    ['127.0.0.1:8080', `127.0.0.1:${settings['SLUICE_PORT'] ?? ''}`],
    ['127.0.0.1:9090', `127.0.0.1:${settings['SLUICE_ADMIN_PORT'] ?? ''}`],
    // A change reaches the front by the poll of each second where Redis is late with its hint.
    ['sleep 0.5 ', 'sleep 5 '],
    ...outside.names,
    // A Postgres of its own would take seconds to make.
    ...(isRestored
      ? [[restored, `${restored} DATABASE_URL=${(await openTestDatabase(t, 'empty')).url}`] as const]
      : []),
  ]
}
