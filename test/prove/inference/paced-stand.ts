/** A node whose one model writes at a steady pace, and whose money can be looked at. */
import { startSpendStand, type SpendStand } from '../money/spend/spend-stand.ts'
import type { Proof } from '../proof.ts'
import { startPacedProvider, type PacedProvider } from './paced-provider.ts'

export const PACED_MODEL = 'acme/paced'
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
  /** Members that the provider has beside the usual ones. */
  readonly facts?: object
}

export async function startPacedStand(
  proof: Proof,
  { fronts, wordMs, facts = {} }: PacedStandInput,
): Promise<PacedStand> {
  const provider = await startPacedProvider(wordMs)
  proof.after(() => provider.close())
  const stand = await startSpendStand(proof, {
    fronts,
    settings: { SLUICE_STREAMS: STREAMS },
    catalogue: catalogue(provider.origin, facts),
  })
  return { ...stand, provider, wordMs }
}

function catalogue(origin: string, facts: object): object {
  const pricing = { prompt: usdOf(PROMPT_NANO), completion: usdOf(COMPLETION_NANO) }
  const endpoint = { provider: 'paced', upstream_model: 'paced', pricing }
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  return {
    providers: [{ slug: 'paced', name: 'Paced', protocol: 'openai', base_url: `${origin}/v1`, ...facts }],
    models: [
      { id: PACED_MODEL, name: 'Paced', architecture, context_length: 1_000_000, endpoints: [endpoint] },
    ],
  }
}

function usdOf(nano: number): string {
  return (nano / 1e9).toFixed(9)
}

/** The most that a call may cost, in nano-USD. */
export function boundOf(bodyBytes: number, tokensMax: number): number {
  return (bodyBytes + MESSAGE_TOKENS) * PROMPT_NANO + tokensMax * COMPLETION_NANO
}
