import { type Frame, uOf, vOf, yOf } from './frame.ts'

/** A moving abstract picture: waves through a ring of colors, and discs that circle in front of them. */
export interface Scene {
  /** @param at seconds since the clip began */
  draw(frame: Frame, at: number): void
}

/**
 * A wave along one direction: its height in colors of the palette, its crests over the picture, its turns a
 * second.
 */
interface Wave {
  readonly height: number
  readonly crests: number
  readonly phase: number
  readonly speed: number
}

/** A disc on an ellipse around a point; lengths are shares of the picture's shorter side. */
interface Disc {
  readonly centerX: number
  readonly centerY: number
  readonly reach: number
  readonly radius: number
  readonly phase: number
  readonly speed: number
  readonly y: number
  readonly u: number
  readonly v: number
}

const DISCS_MIN = 2
const DISCS_MAX = 5

/** A scene depends on the random numbers alone. */
export function newScene(random: () => number): Scene {
  const palette = newPalette(random)
  const waves = [newWave(random), newWave(random), newWave(random), newWave(random)] as const
  const drift = 40 + 120 * random()
  const count = DISCS_MIN + Math.floor(random() * (DISCS_MAX - DISCS_MIN + 1))
  const discs = Array.from({ length: count }, () => newDisc(random))
  return {
    draw(frame, at) {
      drawWaves(frame, palette, heights(frame, { waves, drift, at }))
      for (const disc of discs) drawDisc(frame, disc, at)
    },
  }
}

function newWave(random: () => number): Wave {
  return {
    height: 60 + 140 * random(),
    crests: 0.4 + 1.6 * random(),
    phase: random(),
    speed: (random() - 0.5) * 0.5,
  }
}

function newDisc(random: () => number): Disc {
  const [red, green, blue] = color(random(), 0.7, 0.45 + 0.35 * random())
  return {
    centerX: 0.15 + 0.7 * random(),
    centerY: 0.15 + 0.7 * random(),
    reach: 0.1 + 0.3 * random(),
    radius: 0.04 + 0.09 * random(),
    phase: random(),
    speed: 0.1 + 0.3 * random(),
    y: yOf(red, green, blue),
    u: uOf(red, green, blue),
    v: vOf(red, green, blue),
  }
}

/** Each wave as a table along its direction, so that a pixel costs three additions and no sine. */
interface Heights {
  readonly right: Int32Array
  readonly down: Int32Array
  /** Indexed by x + y. */
  readonly falling: Int32Array
  /** Indexed by x - y + height. */
  readonly rising: Int32Array
}

function heights(
  { width, height }: Frame,
  {
    waves,
    drift,
    at,
  }: { readonly waves: readonly [Wave, Wave, Wave, Wave]; readonly drift: number; readonly at: number },
): Heights {
  const along = (wave: Wave, length: number, shift = 0): Int32Array =>
    Int32Array.from({ length }, (_, nth) =>
      Math.round(
        shift +
          wave.height * Math.sin(2 * Math.PI * ((nth / length) * wave.crests + wave.phase + wave.speed * at)),
      ),
    )
  return {
    right: along(waves[0], width, drift * at),
    down: along(waves[1], height),
    falling: along(waves[2], width + height),
    rising: along(waves[3], width + height),
  }
}

function drawWaves({ width, height, y: plane, u, v }: Frame, palette: Palette, waves: Heights): void {
  const { right, down, falling, rising } = waves
  let pixel = 0
  let pair = 0
  for (let y = 0; y < height; y++) {
    const base = down[y] ?? 0
    const level = height - y
    for (let x = 0; x < width; x++) {
      const at = (base + (right[x] ?? 0) + (falling[x + y] ?? 0) + (rising[x + level] ?? 0)) & PALETTE_MASK
      plane[pixel++] = palette.y[at] ?? 0
    }
    if (y % 2 === 1) continue
    for (let x = 0; x < width; x += 2) {
      const at = (base + (right[x] ?? 0) + (falling[x + y] ?? 0) + (rising[x + level] ?? 0)) & PALETTE_MASK
      u[pair] = palette.u[at] ?? 0
      v[pair++] = palette.v[at] ?? 0
    }
  }
}

function drawDisc(frame: Frame, disc: Disc, at: number): void {
  const { width, height } = frame
  const side = Math.min(width, height)
  const angle = 2 * Math.PI * (disc.phase + disc.speed * at)
  const x = Math.round(disc.centerX * width + Math.cos(angle) * disc.reach * side)
  const y = Math.round(disc.centerY * height + Math.sin(angle) * disc.reach * side)
  const radius = Math.round(disc.radius * side)
  fillDisc(frame.y, { width, height, x, y, radius }, disc.y)
  const half = { width: width / 2, height: height / 2, x: x >> 1, y: y >> 1, radius: radius >> 1 }
  fillDisc(frame.u, half, disc.u)
  fillDisc(frame.v, half, disc.v)
}

interface Circle {
  readonly width: number
  readonly height: number
  readonly x: number
  readonly y: number
  readonly radius: number
}

function fillDisc(plane: Uint8Array, { width, height, x, y, radius }: Circle, value: number): void {
  for (let row = Math.max(0, y - radius); row <= Math.min(height - 1, y + radius); row++) {
    const reach = Math.floor(Math.sqrt(radius * radius - (row - y) * (row - y)))
    const from = Math.max(0, x - reach)
    const to = Math.min(width, x + reach + 1)
    if (from < to) plane.fill(value, row * width + from, row * width + to)
  }
}

/** A ring of colors, so that waves pass through it without an edge: one plane for each component. */
interface Palette {
  readonly y: Uint8Array
  readonly u: Uint8Array
  readonly v: Uint8Array
}

/** Colors of the ring: a power of two, so that a mask brings an index into the ring. */
const PALETTE_COLORS = 1_024
const PALETTE_MASK = PALETTE_COLORS - 1

/** Stops of the ring: enough for variety, and few enough for calm. */
const STOPS = 4

type Color = readonly [red: number, green: number, blue: number]

function newPalette(random: () => number): Palette {
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
function color(hue: number, saturation: number, lightness: number): Color {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const part = (offset: number): number => {
    const turn = (offset + hue * 12) % 12
    return Math.round(255 * (lightness - reach * Math.max(-1, Math.min(turn - 3, 9 - turn, 1))))
  }
  return [part(0), part(8), part(4)]
}
