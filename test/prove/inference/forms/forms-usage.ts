/** Usage in every bucket, as each protocol reports it: the charge and the report match an oracle's. */
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import { KEY } from '../../../support/front.ts'
import { until } from '../../../support/wait.ts'
import { startSpendStand } from '../../money/spend/spend-stand.ts'
import type { Program, Proof } from '../../proof.ts'
import { checkCosts } from '../cost-oracle.ts'
import { rowsOf } from '../paced/booked.ts'
import { openProtocolFront, PROVIDER_KEYS, startProviders } from '../protocols/protocol-front.ts'
import { checkCalledUsages, UsageModels, type UsageStand } from '../usage/called-usages.ts'
import { checkReadUsages } from '../usage/read-usages.ts'

/** Usages of each protocol in process, and calls of each pair in each form. */
const FULL = { usages: 100_000, calls: 200 }
const SHORT = { usages: 400, calls: 3 }

export const program: Program = {
  text: 'All buckets of all protocols, honest and hostile, in process and over a node: charged and told 0 nano-USD from an oracle',
  async run(proof) {
    const { usages, calls } = proof.isShort ? SHORT : FULL
    // The short form of `chat-money` has them, too.
    if (!proof.isShort) checkCosts(proof, usages)
    await checkReadUsages(proof, usages)
    const models = new UsageModels((below) => proof.random(Math.min(below, 2 ** 31)))
    const stand = proof.isShort ? await frontOf(proof, models) : await nodeOf(proof, models)
    await checkCalledUsages(proof, stand, { models, count: calls })
  },
}

/** A front alone, whose money is written down as it is asked for. */
async function frontOf(proof: Proof, { models }: UsageModels): Promise<UsageStand> {
  const { base, spend } = await openProtocolFront(proof, models)
  return {
    base,
    key: KEY,
    charged: () =>
      Promise.resolve(
        new Map(
          spend.holds.flatMap(({ ask: { facts }, end }) =>
            typeof end === 'object' ? [[facts.requestId, end.costNano] as const] : [],
          ),
        ),
      ),
  }
}

/** A node with its books. */
async function nodeOf(proof: Proof, { models }: UsageModels): Promise<UsageStand> {
  const catalogue = await startProviders(proof, models)
  const bench = await startSpendStand(proof, { fronts: 1, settings: PROVIDER_KEYS, catalogue })
  const { port, keys } = bench.stand
  return {
    base: `http://127.0.0.1:${port}${API_PREFIX}`,
    key: keys.inference_key,
    async charged(ids) {
      const calls = ids.map((id) => ({ id }))
      let rows = await rowsOf(bench, calls)
      // Rows are written in batches.
      await until('every call has a row', async () => {
        rows = await rowsOf(bench, calls)
        return ids.every((id) => rows.has(id))
      })
      return new Map([...rows].map(([id, all]) => [id, all.reduce((sum, { nano }) => sum + nano, 0)]))
    },
  }
}
