/** A node whose one model writes at a steady pace, and whose money can be looked at. */
import { TOKENS_ADDED_FORMS_MAX } from '../../../../src/schemas/inference/token-limits.ts'
import { startSpendStand, type SpendStand } from '../../money/spend/spend-stand.ts'
import { MAKERS } from '../../../support/inference/forms-facts.ts'
import type { Proof } from '../../proof.ts'
import { PACED_DIALECTS, PACED_PROTOCOLS } from './dialects.ts'
import { startPacedProvider, type PacedProvider } from './provider.ts'
import type { TextProtocol } from '../../../../src/schemas/models/protocols.ts'

export const PACED_MODEL = 'acme/paced'
/** The same, by a provider that is read to its end when its caller leaves. */
export const DRAINED_MODEL = 'acme/drained'

/** The same two, by a provider that speaks one protocol alone. */
export function modelsAt(protocol: TextProtocol): { readonly paced: string; readonly drained: string } {
  return { paced: `${PACED_MODEL}-${protocol}`, drained: `${DRAINED_MODEL}-${protocol}` }
}

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
  /** Of the node, besides its usual ones. */
  readonly settings?: Readonly<Record<string, string>>
  readonly isPostgresEnded?: boolean
}

export async function startPacedStand(
  proof: Proof,
  { fronts, wordMs, settings = {}, isPostgresEnded = false }: PacedStandInput,
): Promise<PacedStand> {
  const provider = await startPacedProvider(wordMs)
  proof.after(() => provider.close())
  const stand = await startSpendStand(proof, {
    fronts,
    settings: { SLUICE_STREAMS: STREAMS, ...settings },
    catalogue: catalogueOf(provider.origin, [
      ...nativeEntries(),
      ...PACED_PROTOCOLS.flatMap(({ name }) => entriesOf(name)),
    ]),
    isPostgresEnded,
  })
  return { ...stand, provider, wordMs }
}

interface PacedEntry {
  readonly id: string
  /** Of its provider. */
  readonly facts: object
}

export interface PacedCatalogue {
  readonly providers: readonly object[]
  readonly models: readonly object[]
}

/** The two models of a provider that speaks the form of each caller. */
function nativeEntries(): readonly PacedEntry[] {
  const native = { protocol: 'openai', speaks: PACED_DIALECTS.map(({ name }) => name) }
  return [
    { id: PACED_MODEL, facts: native },
    { id: DRAINED_MODEL, facts: { ...native, on_leave: 'drain' } },
  ]
}

/** For versions without translation between forms, too. */
export function nativeCatalogue(origin: string): PacedCatalogue {
  return catalogueOf(origin, nativeEntries())
}

function catalogueOf(origin: string, rows: readonly PacedEntry[]): PacedCatalogue {
  const pricing = { prompt: usdOf(PROMPT_NANO), completion: usdOf(COMPLETION_NANO) }
  const architecture = { input_modalities: ['text'], output_modalities: ['text'] }
  const entries = rows.map((entry) => ({ ...entry, slug: entry.id.replace('acme/', '') }))
  return {
    providers: entries.map(({ slug, facts }) => ({ slug, name: slug, base_url: `${origin}/v1`, ...facts })),
    models: entries.map(({ id, slug }) => {
      const endpoints = [{ provider: slug, upstream_model: slug, pricing }]
      return { id, name: slug, architecture, context_length: 1_000_000, endpoints }
    }),
  }
}

/** Google's provider is read to its end unless its entry says otherwise, the others are cut. D27. */
function entriesOf(name: TextProtocol): readonly PacedEntry[] {
  const { paced, drained } = modelsAt(name)
  const facts = { protocol: MAKERS[name], speaks: [name] }
  const [cuts, reads] = [
    { ...facts, on_leave: 'cancel' },
    { ...facts, on_leave: 'drain' },
  ]
  return name === 'gemini'
    ? [
        { id: paced, facts: cuts },
        { id: drained, facts },
      ]
    : [
        { id: paced, facts },
        { id: drained, facts: reads },
      ]
}

function usdOf(nano: number): string {
  return (nano / 1e9).toFixed(9)
}

export interface Bounded {
  readonly bodyBytes: number
  readonly tokensMax: number
  readonly isTranslated: boolean
}

/** The most that a call may cost, in nano-USD. D25. */
export function boundOf({ bodyBytes, tokensMax, isTranslated }: Bounded): number {
  const added = MESSAGE_TOKENS + (isTranslated ? TOKENS_ADDED_FORMS_MAX : 0)
  return (bodyBytes + added) * PROMPT_NANO + tokensMax * COMPLETION_NANO
}
