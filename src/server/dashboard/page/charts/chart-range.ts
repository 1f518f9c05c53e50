import { useState } from 'preact/hooks'

/** Points that a long step of the keyboard goes. */
const LONG_STEP = 10

export interface RangeProps {
  /** Number of points. */
  readonly points: number
  /** From the first point up to the last, which belongs to it; undefined: none is chosen. */
  readonly onRange: ((first: number, last: number) => void) | undefined
  readonly onReset: (() => void) | undefined
}

export interface Range {
  /** The point that is looked at; null: none. */
  readonly cursor: number | null
  /** What is marked, in order; null: nothing. */
  readonly marked: readonly [first: number, last: number] | null
  move(point: number | null): void
  /** Begins to mark at a point. */
  grasp(point: number): void
  /** Ends the marking, and takes the range where it is one. */
  release(): void
  /** Forgets what was marked. */
  drop(): void
  key(event: KeyboardEvent): void
}

/** A point that is looked at, and a range that is marked, by the pointer or by keys. */
export function useRange({ points, onRange, onReset }: RangeProps): Range {
  const [cursor, setCursor] = useState<number | null>(null)
  const [anchor, setAnchor] = useState<number | null>(null)
  const marked = anchor === null || cursor === null || anchor === cursor ? null : inOrder(anchor, cursor)
  const drop = (): void => setAnchor(null)
  const grasp = (point: number): void => {
    if (onRange !== undefined) setAnchor(point)
  }
  const take = (): void => {
    if (marked !== null) onRange?.(...marked)
    drop()
  }
  const step = (to: number, isMarking: boolean): void => {
    const from = cursor ?? points - 1
    if (isMarking && anchor === null) grasp(from)
    if (!isMarking) drop()
    setCursor(Math.min(points - 1, Math.max(0, to)))
  }
  const key = (event: KeyboardEvent): void => {
    const at = cursor ?? points
    const places: Readonly<Record<string, number>> = {
      ArrowLeft: at - 1,
      ArrowRight: at + 1,
      PageUp: at - LONG_STEP,
      PageDown: at + LONG_STEP,
      Home: 0,
      End: points - 1,
    }
    const to = places[event.key]
    if (to !== undefined) step(to, event.shiftKey)
    else if (event.key === 'Enter') take()
    else if (event.key === 'Escape') {
      if (anchor === null) onReset?.()
      drop()
    } else return
    event.preventDefault()
  }
  return { cursor, marked, move: setCursor, grasp, release: take, drop, key }
}

function inOrder(one: number, other: number): readonly [number, number] {
  return one < other ? [one, other] : [other, one]
}
