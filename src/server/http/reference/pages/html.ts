/** A text escaped for HTML, inside and outside of attributes. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}

/** A text of Sluice as HTML: words in backticks become code. */
export function inline(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>')
}

/** A table that can be scrolled on a narrow screen. @param rows cells as HTML */
export function tableOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = heads.map((text) => `<th scope="col">${text}</th>`).join('')
  const body = rows.map((cells) => `<tr>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`)
  return `<div class="table" tabindex="0">\n<table>\n<thead><tr>${head}</tr></thead>\n<tbody>\n${body.join('\n')}\n</tbody>\n</table>\n</div>\n`
}
