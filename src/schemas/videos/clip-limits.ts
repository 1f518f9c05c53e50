/** Named limits of `sluice/clip-1`, each with its unit and its source. */

/** Frames a second of every clip of `sluice/clip-1`. Decision. */
export const CLIP_FRAMES_PER_SECOND = 12
/** Whole seconds of a clip of `sluice/clip-1`, at least. Decision. */
export const CLIP_SECONDS_MIN = 1
/** Whole seconds of a clip of `sluice/clip-1`. Decision. */
export const CLIP_SECONDS_MAX = 10
/** Reference images that one clip takes. Decision. */
export const CLIP_REFERENCES_MAX = 4
