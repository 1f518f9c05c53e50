/** A rate with three significant digits. */
export function rateText(perSecond: number): string {
  return perSecond >= 100
    ? grouped(Math.round(perSecond))
    : perSecond === 0
      ? '0'
      : perSecond < 0.05
        ? '<0.1'
        : perSecond.toFixed(1)
}

/** Milliseconds as a text; null: no measurement. */
export function msText(ms: number | null): string {
  if (ms === null) return '-'
  if (ms >= 10_000) return `${(ms / 1_000).toFixed(0)} s`
  return ms >= 100 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(ms < 10 ? 2 : 1)} ms`
}

export function bytesText(bytes: number): string {
  const mebibytes = bytes / 2 ** 20
  return mebibytes >= 10_240 ? `${(mebibytes / 1_024).toFixed(1)} GiB` : `${Math.round(mebibytes)} MiB`
}

/** Whole seconds as a text for people. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 120) return `${whole} s`
  return whole < 7_200 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3_600)} h`
}

export function grouped(whole: number): string {
  return String(whole).replaceAll(/\B(?=(\d{3})+$)/g, ',')
}
