/** Prefix of the path of every operation but those of the SCIM service. §9, C29. */
export const API_PREFIX = '/api/v1'

/** Prefix of the paths of the SCIM service. C29. */
export const SCIM_PREFIX = '/scim/v2'

/** The live view of a node, on the admin port. */
export const LIVE_PATH = `${API_PREFIX}/admin/live`

/** Where the dashboard is on the admin port. */
export const DASHBOARD_PATH = '/dashboard/'

/** Where the reference is, on the public port alone. */
export const DOCS_PATH = '/docs'
export const OPENAPI_PATH = '/openapi.json'

/** Where the guides are, on the admin port too. */
export const GUIDES_PATH = `${DOCS_PATH}/guides`

/** Where the error types are explained, on the admin port too. C39. */
export const ERRORS_PATH = `${DOCS_PATH}/errors`
