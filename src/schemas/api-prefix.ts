/** Prefix of the paths of all operations except those of the SCIM service. */
export const API_PREFIX = '/api/v1'

export const SCIM_PREFIX = '/scim/v2'

/** Path of a node's live view, on the admin port. */
export const LIVE_PATH = `${API_PREFIX}/admin/live`

/** Path of the dashboard, on the admin port. */
export const DASHBOARD_PATH = '/dashboard/'

/** Path at which the dashboard begins and ends its session, on the admin port. */
export const SESSION_PATH = '/dashboard/session'

/** Prefix of the API for the session of the dashboard, on the admin port; keys call it at `/api/v1`. */
export const DASHBOARD_API_PREFIX = `/dashboard${API_PREFIX}`

/** Header with the page's half of the session token; the other half is a cookie. */
export const PAGE_TOKEN_HEADER = 'x-sluice-page-token'

/** Key in the browser's storage for the chosen theme, in the dashboard and in the documentation. */
export const THEME_STORED = 'sluice-theme'

/** Path of the reference, only on the public port. */
export const DOCS_PATH = '/docs'
/** Path of the reference's pages by tag, only on the public port. */
export const REFERENCE_PATH = `${DOCS_PATH}/reference`
/** Path of the OpenAPI document, only on the public port. */
export const OPENAPI_PATH = '/openapi.json'

/** Path of the guides, on both ports. */
export const GUIDES_PATH = `${DOCS_PATH}/guides`

/** Path of the pages about error types, on both ports. */
export const ERRORS_PATH = `${DOCS_PATH}/errors`
