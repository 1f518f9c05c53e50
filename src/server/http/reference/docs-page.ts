/** The address that samples and guides are written with; a node shows its own in its place. */
export const WRITTEN_ORIGIN = 'http://127.0.0.1:8080'

const COMMON = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:"
const REFUSED = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Policy of a page that is read: files of Sluice alone, and no call of its scripts to any address. */
export const READ_POLICY = `${COMMON}; ${REFUSED}`

/** Policy of the reference, whose forms call this node alone. */
export const REFERENCE_POLICY = `${COMMON}; connect-src 'self'; ${REFUSED}`

export const HEALTH = '{"status":"ok"}'
