import { h, type ComponentChild } from 'preact'

export interface TileProps {
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
