/** Text that is markup already. Everything else is escaped before it goes into a page. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Part = Markup | string | number | null | readonly Part[]

/** Escapes the inserted parts except markup; null is left out. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(texts.map((text, at) => text + written(parts[at] ?? null)).join(''))
}

function written(part: Part): string {
  if (part === null) return ''
  if (part instanceof Markup) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return part.map(written).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}

/** JSON for a script element: no part of it can end the element or open a comment. */
export function scriptJson(value: unknown): Markup {
  return new Markup(JSON.stringify(value).replaceAll('<', '\\u003c'))
}
