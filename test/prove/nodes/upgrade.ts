/** Two nodes of an earlier commit become nodes of this tree under load, and go back: docs/operate/upgrading.md. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../../src/server/store/base/open.ts'
import { apiShapeOf, type ApiDocument } from '../../support/releases/api-shape.ts'
import type { Definitions } from '../../support/releases/definitions.ts'
import { makeEarlierTree, PROMISED_DEFINITIONS, PROMISED_FROM } from '../../support/releases/earlier-tree.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { sluice } from '../../support/nodes/stand.ts'
import { ROOT } from '../../support/source.ts'
import { connected } from '../../support/wire/connected.ts'
import type { Program, Proof } from '../proof.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { install, replaceNode, untilSentTo, whyNotInstalled, type Installation } from './installation.ts'
import { judgeTraffic } from './upgrade/judging.ts'
import { startProviders } from './upgrade/providers.ts'
import { startTraffic } from './upgrade/traffic.ts'

const CREDIT_USD = '100000'
const kept = JSON.parse(readFileSync(`${ROOT}${PROMISED_DEFINITIONS}`, 'utf8')) as Definitions

export const program: Program = {
  text: 'two nodes of an earlier commit go to this tree and back under embeddings, streams and jobs: nothing fails, no spend or job is lost',
  async run(proof) {
    proof.skipped = await whyNotInstalled()
    if (proof.skipped !== null) return
    const tree = await earlierTree(proof)
    if (tree === null) return
    const providers = await startProviders(proof)
    const installation = await install(proof, { tree, settings: providers.settings })
    await sluice(['credits', 'add', CREDIT_USD, '--note', 'prove'], installation.env, tree)
    const { databaseUrl: url } = installation
    const store = await connected(openStore({ url, poolMax: 2, applicationName: 'sluice-prove' }))
    proof.after(() => store.close())
    for (const index of [0, 1]) await checkVersion(proof, installation, { index, isEarlier: true })
    const traffic = await startTraffic(proof, installation, providers)
    await forth(proof, installation)
    await back(proof, installation, tree)
    await judgeTraffic(proof, { installation, store, providers, traffic: await traffic.stop() })
  },
}

/** Null: it cannot be made here, and the proof says why. */
async function earlierTree(proof: Proof): Promise<string | null> {
  const home = temporaryFolder(proof, 'earlier')
  const folder = join(home, 'tree')
  const made = await makeEarlierTree({ commit: PROMISED_FROM, clone: ROOT, folder })
  if (made.ok) return folder
  proof.skipped = made.why
  return null
}

/** As the page says: the schema first, by the new version, while the old nodes serve; then node by node. */
async function forth(proof: Proof, installation: Installation): Promise<void> {
  await rest(proof)
  const { migration } = await sluice(['migrate'], installation.env)
  proof.check(
    'the new version migrates while the earlier one serves',
    Number(migration) >= kept.steps.length,
    `step ${String(migration)}, ${kept.steps.length} of the earlier one`,
  )
  for (const index of [0, 1]) {
    await rest(proof)
    await replaceNode(proof, installation, { index })
    await untilSentTo(installation, index)
    await checkVersion(proof, installation, { index, isEarlier: false })
  }
}

/** In short one goes back, and the two versions run side by side at the end. */
async function back(proof: Proof, installation: Installation, tree: string): Promise<void> {
  for (const index of proof.isShort ? [0] : [0, 1]) {
    await rest(proof)
    await replaceNode(proof, installation, { index, tree })
    await untilSentTo(installation, index)
    await checkVersion(proof, installation, { index, isEarlier: true })
  }
  await rest(proof)
}

const rest = (proof: Proof): Promise<void> => pause(proof.isShort ? 500 : 10_000)

/** The document that a node serves has its version. */
async function checkVersion(
  proof: Proof,
  { nodes }: Installation,
  { index, isEarlier }: { readonly index: number; readonly isEarlier: boolean },
): Promise<void> {
  const port = nodes[index]?.port ?? 0
  const answer = await fetch(`http://127.0.0.1:${port}/openapi.json`, { headers: { connection: 'close' } })
  const api = apiShapeOf((await answer.json()) as ApiDocument)
  const isSame = JSON.stringify(api) === JSON.stringify(kept.api)
  proof.check(
    `node ${index + 1} serves the API of ${isEarlier ? 'the earlier commit' : 'this tree'}`,
    isSame === isEarlier,
    `${Object.keys(api.operations).length} operations, ${api.shapes.length} shapes`,
  )
}
