import encoders, { type H264MP4Encoder } from 'h264-mp4-encoder'
import { fastStart, type Timing } from './fast-start.ts'

/** From 0, the most careful, to 10: at 8 a clip takes twice the time, and is as large. */
const SPEED = 10
/** From 10, the best picture, to 51: at this value letters have sharp edges, and waves no bands. */
const QUANTIZER = 28

export interface Film extends Timing {
  readonly frames: number
  /** Draws a frame; may return the same bytes each time. */
  draw(nth: number): Uint8Array
}

/**
 * Encodes frames of yuv420p as H.264 in an MP4 file that plays while it loads. Throws the errors of `draw`.
 */
export async function encode({
  width,
  height,
  framesPerSecond,
  frames,
  draw,
}: Film): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await encoders.createH264MP4Encoder()
  Object.assign(encoder, {
    width,
    height,
    frameRate: framesPerSecond,
    speed: SPEED,
    quantizationParameter: QUANTIZER,
  })
  // A key frame, from which a player may begin, every two seconds.
  encoder.groupOfPictures = 2 * framesPerSecond
  try {
    write(encoder, frames, draw)
    return fastStart(encoder.FS.readFile(encoder.outputFilename), { width, height, framesPerSecond })
  } finally {
    // All encoders of a thread share one memory and one file system, which exist as long as the thread.
    encoder.FS.unlink(encoder.outputFilename)
    encoder.delete()
  }
}

/**
 * An encoder that was initialized and is dropped without `finalize` aborts all encoders of the thread
 * forever.
 */
function write(encoder: H264MP4Encoder, frames: number, draw: Film['draw']): void {
  encoder.initialize()
  try {
    for (let nth = 0; nth < frames; nth++) encoder.addFrameYuv(draw(nth))
  } finally {
    encoder.finalize()
  }
}
