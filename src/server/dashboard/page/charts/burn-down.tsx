import { h, type ComponentChild } from 'preact'
import { refusedText, refusingText, type Refused } from '../pages/subjects/refusals.ts'
import { relative, usd } from '../parts/figures.tsx'
import { drawnUntil, forecastOf, leftOver, windowOf, type Burned, type Left } from './forecast.ts'

const WIDTH = 200
const HEIGHT = 40

export interface BurnDownProps {
  readonly burned: Burned
  /** Of the node. */
  readonly nowMs: number
  /** Calls that the limit refused in the last hour. */
  readonly refused?: Refused
}

/** The amount left of a limit since its window began, and its forecast until the window ends, as a drawing and as text. */
export function BurnDown({ burned, nowMs, refused = NONE_REFUSED }: BurnDownProps): ComponentChild {
  const { limit, interval } = burned
  const { startMs } = windowOf(interval, nowMs)
  const untilMs = drawnUntil(burned, nowMs)
  const { usdADay, usedUpMs } = forecastOf(burned, nowMs)
  const x = (atMs: number): number => Math.round(((atMs - startMs) / (untilMs - startMs)) * WIDTH)
  const y = (left: number): number => Math.round((1 - left / Math.max(limit, 1e-9)) * (HEIGHT - 2)) + 1
  const pathOf = (points: readonly Left[]): string =>
    `M${points.map(([atMs, left]) => `${x(atMs)} ${y(left)}`).join('L')}`
  const past = leftOver(burned, nowMs)
  const left = past.at(-1)?.[1] ?? 0
  const endMs = Math.min(untilMs, usedUpMs ?? untilMs)
  const last = usedUpMs === null ? Math.max(0, left - (usdADay * (untilMs - nowMs)) / DAY_MS) : 0
  const isRefusing = usedUpMs === nowMs || refused.calls > 0
  const isBad = usedUpMs !== null || isRefusing
  return (
    <div class={isBad ? 'burn bad' : 'burn'}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width={WIDTH} height={HEIGHT} aria-hidden="true">
        <path class="rule" d={`M0 ${HEIGHT - 1}H${WIDTH}M${x(nowMs)} 0V${HEIGHT}`} />
        <path d={pathOf(past)} />
        {!isRefusing && (
          <path
            class="ahead"
            d={pathOf([
              [nowMs, left],
              [endMs, last],
            ])}
          />
        )}
      </svg>
      <span class="hint">{forecastText(burned, nowMs, refused)}</span>
    </div>
  )
}

const DAY_MS = 86_400_000

const NONE_REFUSED: Refused = { calls: 0, isPartial: false }

/**
 * `$12.30 at the end, in 9 days`; `runs out in 3 days at $4.10/day`. A limit that refuses calls has no
 * forecast: `refusing calls now (142 in the last hour)` when it is used up, `142 calls refused in the last
 * hour` when an amount is left.
 */
export function forecastText(burned: Burned, nowMs: number, refused: Refused = NONE_REFUSED): string {
  const { usdADay, atEnd, usedUpMs } = forecastOf(burned, nowMs)
  const { endMs } = windowOf(burned.interval, nowMs)
  const on = (atMs: number): string => relative(new Date(atMs).toISOString(), nowMs)
  if (usedUpMs === nowMs) return refusingText(refused)
  if (refused.calls > 0) return refusedText(refused)
  if (usedUpMs !== null) return `runs out ${on(usedUpMs)} at ${usd(usdADay)}/day`
  if (usdADay === 0) return 'no spend in the last seven days'
  return endMs === null
    ? `more than ten years left at ${usd(usdADay)}/day`
    : `${usd(atEnd)} at the end, ${on(endMs)}`
}
