/** The times within which a stream is good, as `--slo` gives them. */

/** Milliseconds; Infinity: no bound. */
export interface Slo {
  /** From when the call was due to its first token. */
  readonly first: number
  /** Mean of the gaps between the tokens of a stream. */
  readonly gap: number
  /** From when the call was due to the end of its answer. */
  readonly total: number
}

export const NO_SLO: Slo = { first: Infinity, gap: Infinity, total: Infinity }

const NAMES: Readonly<Record<string, keyof Slo>> = { ttft: 'first', gap: 'gap', total: 'total' }
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000 }

/** Throws an Error that explains the fault in one line. */
export function sloOf(text: string): Slo {
  const bounds = text.split(',').map((part): readonly [keyof Slo, number] => {
    const [, word = '', digits = '', unit = ''] = /^(\w+)=(\d+(?:\.\d+)?)(ms|s)$/.exec(part) ?? []
    const name = NAMES[word]
    if (name === undefined) throw new Error(`--slo takes ttft=500ms,gap=50ms,total=20s, not '${part}'`)
    return [name, Number(digits) * (UNITS[unit] ?? 1)]
  })
  return { ...NO_SLO, ...Object.fromEntries(bounds) }
}

/** A time that a stream does not have (NaN), such as a gap after its only token, is within each bound. */
export function isWithin(slo: Slo, times: Slo): boolean {
  return !(times.first > slo.first || times.gap > slo.gap || times.total > slo.total)
}

export function hasSlo(slo: Slo): boolean {
  return Object.values(slo).some((ms) => Number.isFinite(ms))
}
