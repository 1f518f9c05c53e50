/**
 * A picture in the encoder's form: planes of yuv420p one after the other, with one color for two by two
 * pixels.
 */
export interface Frame {
  readonly width: number
  readonly height: number
  /** All planes together. */
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Brightness, 16 to 235. */
  readonly y: Uint8Array<ArrayBuffer>
  /** First color difference; 128: no color. */
  readonly u: Uint8Array<ArrayBuffer>
  /** Second color difference; 128: no color. */
  readonly v: Uint8Array<ArrayBuffer>
}

/** @param size pixels, even */
export function newFrame({ width, height }: { readonly width: number; readonly height: number }): Frame {
  const pixels = width * height
  const bytes = new Uint8Array(pixels + pixels / 2)
  const y = bytes.subarray(0, pixels)
  const u = bytes.subarray(pixels, pixels + pixels / 4)
  return { width, height, bytes, y, u, v: bytes.subarray(pixels + pixels / 4) }
}

/**
 * Brightness of red, green and blue of 0 to 255, by BT.601: the assumption of players for a small picture
 * without a declaration.
 */
export function yOf(red: number, green: number, blue: number): number {
  return 16 + ((66 * red + 129 * green + 25 * blue + 128) >> 8)
}

export function uOf(red: number, green: number, blue: number): number {
  return 128 + ((-38 * red - 74 * green + 112 * blue + 128) >> 8)
}

export function vOf(red: number, green: number, blue: number): number {
  return 128 + ((112 * red - 94 * green - 18 * blue + 128) >> 8)
}
