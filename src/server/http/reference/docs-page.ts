/** The address in samples and guides as written; a node replaces it by its own. */
export const WRITTEN_ORIGIN = 'http://127.0.0.1:8080'

const COMMON = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:"
const REFUSED = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Policy of a page without forms: it loads only files of Sluice, and its scripts call no address. */
export const READ_POLICY = `${COMMON}; ${REFUSED}`

/** Policy of the reference, whose forms may call only this node. */
export const REFERENCE_POLICY = `${COMMON}; connect-src 'self'; ${REFUSED}`

export const HEALTH = '{"status":"ok"}'
