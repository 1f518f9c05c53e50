import { h, type ComponentChild } from 'preact'

export interface TileProps {
  readonly name: string
  readonly value: string
  readonly note?: string | undefined
  readonly tone?: 'bad' | 'warn' | undefined
}

/** One figure, large; a `dl` of the class `tiles` holds several. */
export function Tile({ name, value, note, tone = undefined }: TileProps): ComponentChild {
  return h(
    'div',
    { class: `tile ${tone ?? ''}` },
    h('dt', null, name),
    h('dd', null, value, ' ', note !== undefined && h('small', null, note)),
  )
}
