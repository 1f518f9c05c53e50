/** Texts at which an answer of Gemini stops. */
export const GEMINI_STOPS_MAX = 5

/** Facts that the name of a Google model implies; the API does not report them. */
export interface GeminiModel {
  /** Takes levels of thinking, media within results of functions, and refuses a step of the model without a signature. */
  readonly isThird: boolean
  /** Tokens that the model may think with; null: levels alone, or it cannot think. */
  readonly budget: { readonly min: number; readonly max: number } | null
  /** Levels of thinking that the model lacks. */
  readonly hasMinimal: boolean
}

/** Tokens of thinking by the families of Gemini 2.5, from Google's page on thinking. */
const PRO = { min: 128, max: 32_768 }
const LITE = { min: 512, max: 24_576 }
const FLASH = { min: 0, max: 24_576 }

/** @param upstreamModel such as `gemini-2.5-pro` */
export function geminiModel(upstreamModel: string): GeminiModel {
  const [, family, version = ''] = /(gemini)-(\d+(?:\.\d+)?)?/.exec(upstreamModel) ?? []
  const isLatest = family !== undefined && version === '' && upstreamModel.endsWith('-latest')
  const isPro = upstreamModel.includes('-pro')
  const isThird = isLatest || Number(version) >= 3
  return { isThird, budget: version === '2.5' ? budgetOf(upstreamModel, isPro) : null, hasMinimal: !isPro }
}

function budgetOf(upstreamModel: string, isPro: boolean): NonNullable<GeminiModel['budget']> {
  if (isPro) return PRO
  return upstreamModel.includes('-lite') ? LITE : FLASH
}
