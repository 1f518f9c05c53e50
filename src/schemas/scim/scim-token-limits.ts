/** Named limits of the tokens of identity providers, each once, with its unit and its source. */

/** Live ones of an organization. Decision. */
export const SCIM_TOKENS_MAX = 100
