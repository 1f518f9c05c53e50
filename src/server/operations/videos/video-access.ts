import type { OperationAccess } from '../define.ts'

/** Who has to do with video jobs: those of a workspace, also its interns. C4, C5. */
export const VIDEO_KEYS: OperationAccess = { keys: ['inference', 'intern'], keyScopes: ['videos'] }

export const EXAMPLE_JOB = 'vid_019a5b0c4e21b1c2d3e4f5a6b7c8d9e0'
