/** Nodes that share their stores and a clock that the proof sets. */
import { nodeSettings, startNode, type Settings, type TestNode } from '../../../support/nodes/node.ts'
import { SetClock } from '../../../support/nodes/set-clock.ts'
import type { Proof } from '../../proof.ts'
import { startSpendStand, type SpendStand } from '../spend/spend-stand.ts'
import { capCatalogue } from './cap-prices.ts'
import { startCapProviders, type CapProviders } from './cap-provider.ts'

export interface CapStand {
  readonly bench: SpendStand
  readonly providers: CapProviders
  readonly clock: SetClock
  /** Public ports of all nodes. */
  readonly ports: readonly number[]
  /** Kills the front of a node, which gets another one. @param nth counts nodes but the first */
  killFront(nth: number): Promise<void>
  /** Kills a whole node, and starts it again. */
  killNode(nth: number): Promise<void>
}

/** Of nodes that share a database. */
const ROOT_KEY = 'ab'.repeat(32)

export async function startCapStand(proof: Proof, nodes: number): Promise<CapStand> {
  const clock = new SetClock(proof)
  const providers = await startCapProviders((close) => proof.after(close))
  const bench = await startSpendStand(proof, {
    fronts: 1,
    catalogue: capCatalogue(providers.origin, providers.failing),
    settings: { SLUICE_ROOT_KEY: ROOT_KEY, ...clock.settings },
  })
  const others = await Promise.all(
    Array.from({ length: nodes - 1 }, () => startOther(proof, bench.stand.settings)),
  )
  const nodeAt = (nth: number): TestNode => {
    const node = others[nth % others.length]
    if (node === undefined) throw new Error('the stand has one node')
    return node
  }
  return {
    bench,
    providers,
    clock,
    ports: [bench.stand.port, ...others.map(({ settings }) => Number(settings['SLUICE_PORT']))],
    killFront: (nth) => nodeAt(nth).signal('front', 'SIGKILL'),
    async killNode(nth) {
      const node = nodeAt(nth)
      await node.killHard()
      others[nth % others.length] = await startNode(proof, node.settings)
    },
  }
}

async function startOther(proof: Proof, settings: Settings): Promise<TestNode> {
  const own = await nodeSettings(proof, { isEmbedded: true })
  return startNode(proof, { ...settings, ...own })
}
