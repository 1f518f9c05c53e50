/** The providers of an upgrade's calls, and the receiver of its webhooks, as settings of any version. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startMock } from '../../../support/embeddings/mock.ts'
import { PROVIDER_KEY, standCatalogue } from '../../../support/nodes/stand.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../../support/webhooks/webhook-receiver.ts'
import { startPacedProvider, type PacedProvider } from '../../inference/paced/provider.ts'
import { nativeCatalogue } from '../../inference/paced/stand.ts'
import type { Proof } from '../../proof.ts'
import { startKindsProvider, type KindsProvider } from '../../videos/provider.ts'
import { catalogueOf } from '../../videos/video-stand.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

/** Milliseconds between two words of an answer. */
export const WORD_MS = 100
/** USD a token, and what an embeddings call of the mock's tokens costs. */
const PRICE = '0.000001'
export const EMBEDDINGS_NANO = 8_000

/** Jobs end while the nodes change. */
const POLLING = { polls_per_second: 200, poll_first_ms: 500, poll_max_ms: 2_000 }

export interface Providers {
  readonly paced: PacedProvider
  readonly videos: KindsProvider
  readonly receiver: WebhookReceiver
  /** Of the nodes. */
  readonly settings: Readonly<Record<string, string>>
}

export async function startProviders(proof: Proof): Promise<Providers> {
  const paced = await startPacedProvider(WORD_MS)
  proof.after(() => paced.close())
  const mock = await startMock({ dimensions: 8, latencyMs: 0 })
  proof.after(() => mock.stop())
  const videos = await startKindsProvider(proof)
  const receiver = await startWebhookReceiver()
  proof.after(() => receiver.close())
  const parts = [
    standCatalogue(`http://127.0.0.1:${mock.port}`, PRICE),
    nativeCatalogue(paced.origin),
    catalogueOf({ providers: videos.baseUrls, video: POLLING }),
  ]
  const catalogue = {
    providers: parts.flatMap(({ providers }) => providers),
    models: parts.flatMap(({ models }) => models),
  }
  return {
    paced,
    videos,
    receiver,
    settings: {
      SLUICE_CATALOG: catalogueFile(proof, catalogue),
      SLUICE_EGRESS_ALLOW: receiver.allow,
      SLUICE_EGRESS_CA: receiver.rootFile,
      [PROVIDER_KEY]: 'prove',
    },
  }
}

function catalogueFile(proof: Proof, catalogue: object): string {
  const folder = temporaryFolder(proof, 'catalogue')
  const file = join(folder, 'catalog.json')
  writeFileSync(file, JSON.stringify(catalogue))
  return file
}
