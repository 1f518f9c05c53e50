import type { Spread } from './statistics.ts'
import { spreadText } from './text.ts'

/** A figure that the product must reach. */
export interface FigureCheck {
  readonly text: string
  readonly found: Spread
  readonly atLeast?: number
  readonly atMost?: number
  /** What failed while it was taken: a server that refuses is quick, and proves nothing. */
  readonly failed: number
  readonly isMet: boolean
}

export type FigureBound = { readonly atLeast: number } | { readonly atMost: number }

/** @param samples those that the figure is taken from */
export function figureCheck(
  text: string,
  found: Spread,
  { bound, samples }: { readonly bound: FigureBound; readonly samples: readonly { readonly failed: number }[] },
): FigureCheck {
  const failed = samples.reduce((sum, one) => sum + one.failed, 0)
  const isWithin = 'atLeast' in bound ? found.median >= bound.atLeast : found.median <= bound.atMost
  return { text, found, ...bound, failed, isMet: isWithin && failed === 0 && samples.length > 0 }
}

export function checkLine(one: FigureCheck): string {
  const bound = one.atLeast === undefined ? `at most ${one.atMost}` : `at least ${one.atLeast}`
  const failed = one.failed === 0 ? '' : `, ${one.failed} failed`
  return `${one.isMet ? 'MET   ' : 'MISSED'} ${one.text}: ${spreadText(one.found, 3)}, ${bound}${failed}`
}
