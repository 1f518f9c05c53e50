import type { OperationAccess } from '../define.ts'

/** Keys with access to video jobs: keys of a workspace, also those of its interns. C4, C5. */
export const VIDEO_KEYS: OperationAccess = { keys: ['inference', 'intern'], keyScopes: ['videos'] }

export const EXAMPLE_JOB = 'vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'
