import { AUDIO } from './audio.ts'
import { BINARIES } from './binaries.ts'
import type { CorpusFile } from './bytes.ts'
import { IMAGES } from './images.ts'
import { OFFICE } from './office.ts'
import { TEXTS } from './texts.ts'
import { TRAILERS } from './trailers.ts'

/**
 * Uploads of every kind, and what the contract says of each. Source: §4.7, contract C26.
 */
export const CORPUS: readonly CorpusFile[] = [
  ...IMAGES,
  ...AUDIO,
  ...OFFICE,
  ...BINARIES,
  ...TRAILERS,
  ...TEXTS,
]
