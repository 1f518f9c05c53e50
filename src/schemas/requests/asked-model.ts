/** Characters of a name of a model that there is not, as the request log keeps it at most. Decision. */
export const ASKED_MODEL_CHARS_MAX = 64

/** What the id of a model, an alias or a variant may be made of. */
const MODEL_NAME = /^[~@]?[a-z0-9][\w.-]*(?:\/[\w.-]+){0,2}(?::[\w.-]+)?$/i
/** So many letters and digits in a row are in keys and tokens, and in no model's name. */
const KEY_RUN = /[a-z0-9]{24}/i
/**
 * Prefixes of keys and tokens, wherever they follow a separator. Keys of Google, AWS and GitLab, and JSON web
 * tokens, may lack a run of letters and digits that is long enough to recognize them.
 */
const KEY_BEGIN =
  /(?:^|[^a-z0-9])(?:(?:sk|pk|key|glpat|gocspx)[-_]|aiza[\w-]|(?:akia|asia)[a-z0-9]{16}|eyj[a-z0-9])/i

/**
 * True for a misspelled name that the request log may keep: one that is like a name of the catalogue, or has
 * an author of it. Any other text that stands where a model is named, such as a key or a part of a prompt,
 * is not kept.
 * @param near names of the catalogue that it may stand for
 * @param known ids of the catalogue
 */
export function isKeptModelName(name: string, near: readonly string[], known: readonly string[]): boolean {
  if (name.length > ASKED_MODEL_CHARS_MAX || !MODEL_NAME.test(name)) return false
  if (KEY_RUN.test(name) || KEY_BEGIN.test(name)) return false
  return near.length > 0 || hasAuthor(name.toLowerCase(), known)
}

function hasAuthor(name: string, known: readonly string[]): boolean {
  const author = name.slice(0, name.indexOf('/') + 1)
  return author !== '' && known.some((id) => id.toLowerCase().startsWith(author))
}
