import { uOf, vOf, yOf } from './frame.ts'

/** A ring of colors, so that waves pass through it without an edge: one plane for each component. */
export interface Palette {
  readonly y: Uint8Array
  readonly u: Uint8Array
  readonly v: Uint8Array
}

/** Colors of the ring: a power of two, so that a mask brings an index into the ring. */
export const PALETTE_COLORS = 1_024
export const PALETTE_MASK = PALETTE_COLORS - 1

/** Stops of the ring: enough for variety, and few enough for calm. */
const STOPS = 4

type Color = readonly [red: number, green: number, blue: number]

export function newPalette(random: () => number): Palette {
  const hue = random()
  const stops = Array.from({ length: STOPS }, (_, nth) =>
    color(hue + nth * 0.13 + random() * 0.1, 0.45 + random() * 0.4, 0.16 + 0.5 * random()),
  )
  const palette = {
    y: new Uint8Array(PALETTE_COLORS),
    u: new Uint8Array(PALETTE_COLORS),
    v: new Uint8Array(PALETTE_COLORS),
  }
  for (let at = 0; at < PALETTE_COLORS; at++) {
    const [red, green, blue] = between(stops, (at * STOPS) / PALETTE_COLORS)
    palette.y[at] = yOf(red, green, blue)
    palette.u[at] = uOf(red, green, blue)
    palette.v[at] = vOf(red, green, blue)
  }
  return palette
}

function between(stops: readonly Color[], at: number): Color {
  const [from, to] = [stops[Math.floor(at) % STOPS], stops[(Math.floor(at) + 1) % STOPS]]
  if (from === undefined || to === undefined) throw new RangeError('a colour outside the palette')
  const share = (1 - Math.cos((at % 1) * Math.PI)) / 2
  const mix = (nth: 0 | 1 | 2): number => Math.round(from[nth] + (to[nth] - from[nth]) * share)
  return [mix(0), mix(1), mix(2)]
}

/** Hue, saturation and lightness of 0 to 1; a hue wraps. */
export function color(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const part = (offset: number): number => {
    const turn = (offset + hue * 12) % 12
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))))
  }
  return [part(0), part(8), part(4)]
}
