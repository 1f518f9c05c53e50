/** A node whose one model writes at a steady pace, and whose money can be looked at. */
import { startSpendStand, type SpendStand } from '../../money/spend/spend-stand.ts'
import type { Proof } from '../../proof.ts'
import { PACED_DIALECTS } from './dialects.ts'
import { startPacedProvider, type PacedProvider } from './provider.ts'

export const PACED_MODEL = 'acme/paced'
/** The same, by a provider that is read to its end when its caller leaves. */
export const DRAINED_MODEL = 'acme/drained'
/** Nano-USD of a token of the prompt, and of the answer. */
export const PROMPT_NANO = 1_000
export const COMPLETION_NANO = 2_000
/** More than a proof has at once: half of a front's are for one organization. */
const STREAMS = '8192'
/** Tokens that the bound counts for the one message of a call. D25. */
const MESSAGE_TOKENS = 8

export interface PacedStand extends SpendStand {
  readonly provider: PacedProvider
  /** Milliseconds between two words. */
  readonly wordMs: number
}

export interface PacedStandInput {
  readonly fronts: number
  readonly wordMs: number
  /** Of the node, beside its usual ones. */
  readonly settings?: Readonly<Record<string, string>>
}

export async function startPacedStand(
  proof: Proof,
  { fronts, wordMs, settings = {} }: PacedStandInput,
): Promise<PacedStand> {
  const provider = await startPacedProvider(wordMs)
  proof.after(() => provider.close())
  const stand = await startSpendStand(proof, {
    fronts,
    settings: { SLUICE_STREAMS: STREAMS, ...settings },
    catalogue: catalogue(provider.origin),
  })
  return { ...stand, provider, wordMs }
}

function catalogue(origin: string): object {
  const pricing = { prompt: usdOf(PROMPT_NANO), completion: usdOf(COMPLETION_NANO) }
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  const speaks = PACED_DIALECTS.map(({ name }) => name)
  const provider = { protocol: 'openai', base_url: `${origin}/v1`, speaks }
  const models = [
    [PACED_MODEL, 'paced'],
    [DRAINED_MODEL, 'drained'],
  ] as const
  return {
    providers: [
      { slug: 'paced', name: 'Paced', ...provider },
      { slug: 'drained', name: 'Drained', ...provider, on_leave: 'drain' },
    ],
    models: models.map(([id, slug]) => {
      const endpoints = [{ provider: slug, upstream_model: slug, pricing }]
      return { id, name: slug, architecture, context_length: 1_000_000, endpoints }
    }),
  }
}

function usdOf(nano: number): string {
  return (nano / 1e9).toFixed(9)
}

/** The most that a call may cost, in nano-USD. */
export function boundOf(bodyBytes: number, tokensMax: number): number {
  return (bodyBytes + MESSAGE_TOKENS) * PROMPT_NANO + tokensMax * COMPLETION_NANO
}
