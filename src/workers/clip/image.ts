/** Four bytes a pixel, row by row: red, green, blue and opacity. */
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
 * The fault of an image, as the end of a sentence that begins with the image. Readers throw it, and only
 * `readImage` catches it.
 */
export class ImageFault extends Error {}
