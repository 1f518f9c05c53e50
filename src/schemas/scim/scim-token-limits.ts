/** Named limits of the tokens of identity providers, each with its unit and its source. */

/** Live SCIM tokens of an organization. Decision. */
export const SCIM_TOKENS_MAX = 100
