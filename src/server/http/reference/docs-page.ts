import { GUIDES_PATH } from '../../../schemas/api-prefix.ts'

/** The reference page, which loads files of Sluice alone. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sluice API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div class="swagger-ui"><nav class="wrapper" style="padding-top: 12px" aria-label="Documentation"><a class="link" href="${GUIDES_PATH}/">Guides</a></nav></div>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`

// A file of its own, so that the page's policy can refuse every inline script.
export const DOCS_SCRIPT = `SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  validatorUrl: null,
})
`

/** Refuses all other origins; the page sets styles on its elements and shows its images as data URLs. */
export const DOCS_PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; font-src 'self' data:; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'"

/** Allows text, links and one style sheet of Sluice. */
export const GUIDE_POLICY =
  "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

export const HEALTH = '{"status":"ok"}'
