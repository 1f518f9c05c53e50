/**
 * What others have named must not move the cursor of a terminal or worse, nor look like a line of ours: signs that are none
 * become a question mark.
 */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, '?')
}
