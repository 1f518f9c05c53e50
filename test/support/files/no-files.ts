/** Ports that most tests of fronts do not touch: any use is a mistake of the test. */
import { fail } from '../../../src/schemas/failures.ts'
import { FREE_SPEND } from '../money/free-spend.ts'
import type { Ports } from '../../../src/server/ports/ports.ts'

const unused = new Proxy(
  {},
  {
    get(_target, name) {
      throw new Error(`this test opened no such port, but ${String(name)} was asked of it`)
    },
  },
) as never

export const NO_FILES: Omit<Ports, 'models' | 'embedder' | 'observer'> = {
  files: unused,
  transfers: unused,
  providerFiles: unused,
  containers: unused,
  containerUses: unused,
  idempotency: unused,
  interns: unused,
  apiKeys: unused,
  inference: unused,
  // Every call leaves a record, which most tests do not read.
  generations: { keep: () => undefined, find: () => Promise.resolve(fail('generation_unknown')) },
  vaults: unused,
  releases: unused,
  egress: unused,
  privateEndpoints: unused,
  endpointProber: unused,
  workspaces: unused,
  budgets: unused,
  credits: unused,
  caps: unused,
  operators: unused,
  activity: unused,
  admin: unused,
  history: unused,
  operatorWebhooks: unused,
  auditLog: unused,
  requestLog: unused,
  videos: unused,
  presets: unused,
  groupMappings: unused,
  scimUsers: unused,
  scimGroups: unused,
  scimAnswers: unused,
  publicOrigin: 'https://sluice.example',
  operatorKeys: new Set(),
  misplacedKeys: new Set(),
  spend: FREE_SPEND,
  modelCalls: unused,
  // No workspace of theirs has any.
  privateModels: { of: () => null },
  presetConfigs: { find: () => fail('preset_unknown') },
}
