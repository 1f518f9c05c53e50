import { h, type ComponentChild } from 'preact'

export type Tone = 'good' | 'warn' | 'bad' | 'plain'

/** A state in one word. Its colour repeats what the word says. */
export function Badge({
  text,
  tone = 'plain',
  title,
}: {
  readonly text: string
  readonly tone?: Tone
  readonly title?: string
}): ComponentChild {
  return (
    <span class={`badge ${tone}`} title={title}>
      {text}
    </span>
  )
}

export interface MeterProps {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly text: string
  /** A part of a whole, of which none is too much. */
  readonly isShare?: boolean
}

/** How full something is; past full it stays full, and is said to be. */
export function Meter({ label, value, max, text, isShare = false }: MeterProps): ComponentChild {
  const part = max <= 0 ? 1 : Math.min(1, Math.max(0, value / max))
  const tone = isShare ? 'good' : part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'good'
  const aria = {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(part * 100),
    'aria-valuetext': text,
  } as const
  return (
    <div class={`meter ${tone}`}>
      <div class="track" {...aria}>
        <div class="fill" style={{ width: `${part * 100}%` }} />
      </div>
      <span class="hint">{text}</span>
    </div>
  )
}
