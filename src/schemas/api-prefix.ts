/** Prefix of the path of every operation. §9, C29. */
export const API_PREFIX = '/api/v1'
