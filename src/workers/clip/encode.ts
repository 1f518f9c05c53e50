import encoders, { type H264MP4Encoder } from 'h264-mp4-encoder'
import { fastStart, type Timing } from './fast-start.ts'

/** From 0, the most careful one, to 10: at 8 a clip takes twice the time, and is as large. */
const SPEED = 10
/** From 10, the best picture, to 51: letters have sharp edges, and waves no bands. */
const QUANTIZER = 28

export interface Film extends Timing {
  readonly frames: number
  /** Draws a frame; the same bytes may come each time. */
  draw(nth: number): Uint8Array
}

/**
 * Encodes frames of yuv420p as H.264 in an MP4 file that plays while it is loaded. Throws what `draw` throws.
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
  // One from which a player may begin in each two seconds.
  encoder.groupOfPictures = 2 * framesPerSecond
  try {
    write(encoder, frames, draw)
    return fastStart(encoder.FS.readFile(encoder.outputFilename), { width, height, framesPerSecond })
  } finally {
    // All encoders of a thread share one memory and one file system, which last as long as the thread.
    encoder.FS.unlink(encoder.outputFilename)
    encoder.delete()
  }
}

/** One that was begun and is let go without its end aborts all encoders of the thread, for ever. */
function write(encoder: H264MP4Encoder, frames: number, draw: Film['draw']): void {
  encoder.initialize()
  try {
    for (let nth = 0; nth < frames; nth++) encoder.addFrameYuv(draw(nth))
  } finally {
    encoder.finalize()
  }
}
