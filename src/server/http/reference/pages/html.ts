/** A text as HTML shows it, inside and outside of attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** Sluice's own texts as HTML: words in backticks are code. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>')
}

/** A table that a narrow screen scrolls. @param rows cells as HTML */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  return `<div class="table" tabindex="0">\n<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>\n</div>\n`
}

/** The address that samples and guides are written with; a node shows its own in its place. */
export const WRITTEN_ORIGIN = 'http://127.0.0.1:8080'

const COMMON = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:"
const REFUSED = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Policy of a page that is read: files of Sluice alone, and no call of its scripts to any address. */
export const READ_POLICY = `${COMMON}; ${REFUSED}`

/** Policy of the reference, whose forms call this node alone. */
export const REFERENCE_POLICY = `${COMMON}; connect-src 'self'; ${REFUSED}`

export const HEALTH = '{"status":"ok"}'
