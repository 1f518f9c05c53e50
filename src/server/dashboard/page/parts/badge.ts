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
  return h('span', { class: `badge ${tone}`, title }, text)
}

export interface MeterProps {
  readonly label: string
  readonly value: number
  readonly max: number
  readonly text: string
}

/** How full something is; past full it stays full, and is said to be. */
export function Meter({ label, value, max, text }: MeterProps): ComponentChild {
  const part = max <= 0 ? 1 : Math.min(1, Math.max(0, value / max))
  const tone = part >= 1 ? 'bad' : part >= 0.8 ? 'warn' : 'good'
  const said = {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': 100,
    'aria-valuenow': Math.round(part * 100),
    'aria-valuetext': text,
  } as const
  return h(
    'div',
    { class: `meter ${tone}` },
    h('div', { class: 'track', ...said }, h('div', { class: 'fill', style: { width: `${part * 100}%` } })),
    h('span', { class: 'hint' }, text),
  )
}
