/**
 * The text of the system behind the first turn of another role, for protocols whose system text comes before
 * all turns: text of the user that says whose it is. Part D, mapping table.
 */
export function laterSystemText(text: string): string {
  return `<system>\n${text}\n</system>`
}
