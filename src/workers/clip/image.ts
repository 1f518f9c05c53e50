/** Four bytes a pixel, row by row: red, green, blue and how much it covers. */
export interface Image {
  readonly width: number
  readonly height: number
  readonly rgba: Uint8Array
}

export interface ImageSize {
  readonly width: number
  readonly height: number
}

/**
 * What is wrong with an image, as the end of a sentence that begins with it; thrown by readers, and caught
 * here alone.
 */
export class ImageFault extends Error {}
