import { h, type ComponentChild } from 'preact'

/** Shown when there is no figure. */
export const NONE = '–'
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const PER_UNIT = 1_024
const EXACT_USD_BELOW = 0.01
const STEPS: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 3 })
const cents = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' })
const exact = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 3,
})
const ago = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })

/** `1,234`. */
export const count = (value: number | null | undefined): string =>
  value === null || value === undefined ? NONE : whole.format(value)

/** Three digits: `0.12`, `9.87`, `1,234`. */
export const figure = (value: number | null | undefined): string => {
  if (value === null || value === undefined || !Number.isFinite(value)) return NONE
  return Math.abs(value) >= PER_UNIT ? whole.format(value) : short.format(value)
}

/** `$12.34`, and `$0.000123` for less than a cent. */
export const usd = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return NONE
  return value !== 0 && Math.abs(value) < EXACT_USD_BELOW ? exact.format(value) : cents.format(value)
}

/** `12.3 MiB`. */
export const bytes = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return NONE
  const step = value < PER_UNIT ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(value) / 10))
  return `${step === 0 ? whole.format(value) : short.format(value / PER_UNIT ** step)} ${UNITS[step] ?? ''}`
}

/** `0.42 ms`, `1.2 s`. */
export const duration = (milliseconds: number | null | undefined): string => {
  if (milliseconds === null || milliseconds === undefined) return NONE
  return milliseconds >= 1_000
    ? `${short.format(milliseconds / 1_000)} s`
    : `${short.format(milliseconds)} ms`
}

/** `42 %` for 0.42. */
export const share = (value: number | null | undefined): string =>
  value === null || value === undefined
    ? NONE
    : `${value < 0.1 ? short.format(value * 100) : whole.format(value * 100)} %`

/** `3 minutes ago`, with the exact instant as its tooltip. It is relative to the time of drawing. */
export function Time({ at }: { readonly at: string | null | undefined }): ComponentChild {
  if (at === null || at === undefined) return <span>{NONE}</span>
  return (
    <time
      dateTime={at}
      title={new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' })}
    >
      {relative(at)}
    </time>
  )
}

/** `in 4 hours`, `yesterday`. */
export function relative(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1_000
  const [unit, size] = STEPS.find(([, size]) => Math.abs(seconds) >= size) ?? ['second', 1]
  return ago.format(Math.trunc(seconds / size), unit)
}

interface TileProps {
  readonly name: string
  readonly value: string
  readonly note?: string | undefined
  readonly tone?: 'bad' | 'warn' | undefined
}

/** One figure, large; a `dl` of the class `tiles` holds several. */
export function Tile({ name, value, note, tone = undefined }: TileProps): ComponentChild {
  return (
    <div class={`tile ${tone ?? ''}`}>
      <dt>{name}</dt>
      <dd>
        {value} {note !== undefined && <small title={note}>{note}</small>}
      </dd>
    </div>
  )
}

/** Shows text between back-ticks as code: it is a name or a command. */
export function withCode(text: string): ComponentChild[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))
}
