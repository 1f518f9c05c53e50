/** Named limits of `sluice/clip-1`, each with its unit and its source. */

/** Frames a second of every clip of `sluice/clip-1`. Decision. */
export const CLIP_FRAMES_PER_SECOND = 12
/** Whole seconds of a clip of `sluice/clip-1`, at least. Decision. */
export const CLIP_SECONDS_MIN = 1
/** Whole seconds of a clip of `sluice/clip-1`. Decision. */
export const CLIP_SECONDS_MAX = 10
/**
 * Pixels of the longer side of a clip of `sluice/clip-1`: 720p. The longest clips take one second of CPU for
 * three seconds of video. Decision.
 */
export const CLIP_SIDE_MAX = 1_280
/**
 * Pixels of an image that is decoded for a clip (4096 × 3072). The image's header gives them before it is
 * decoded. Decision.
 */
export const CLIP_IMAGE_PIXELS_MAX = 12_582_912
/** Pixels of the longer side of an image that is decoded for a clip. Decision. */
export const CLIP_IMAGE_SIDE_MAX = 16_384
/**
 * Pixels of all images of one clip: a large progressive JPEG takes seconds, and a short job has
 * SHORT_JOB_MS_MAX. Decision.
 */
export const CLIP_IMAGES_PIXELS_MAX = 25_165_824
/** Scans of a JPEG. Each scan is a pass over the whole image; encoders write about ten. Decision. */
export const CLIP_JPEG_SCANS_MAX = 20
/** Reference images that one clip takes. Decision. */
export const CLIP_REFERENCES_MAX = 4
/** UTF-16 units of a prompt that are drawn as text; the whole prompt determines the scene. Decision. */
export const CLIP_TEXT_UNITS_MAX = 2_048
