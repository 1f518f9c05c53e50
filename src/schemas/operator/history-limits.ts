/** Named limits of a node's history: what its supervisor keeps in memory, and what Postgres keeps. */

/** Seconds that are kept at the grain of a second: an hour. Decision. */
export const HISTORY_SECONDS_KEPT = 3_600
/** Minutes that are kept at the grain of a minute: a day. Decision. */
export const HISTORY_MINUTES_KEPT = 1_440
/** Hours that Postgres keeps at the grain of an hour: a month. Decision. */
export const HISTORY_HOURS_KEPT = 744
/** Seconds of one histogram at the grain of a second: a second alone has too few calls for a p99. Decision. */
export const HISTORY_QUANTILE_S = 10
/** Operations with lines of their own. Decision. */
export const HISTORY_OPERATIONS_MAX = 16
/** Providers with lines of their own. Decision. */
export const HISTORY_PROVIDERS_MAX = 12
/** Models with lines of their own. Decision. */
export const HISTORY_MODELS_MAX = 16
/** Keys with lines of their own: the busiest. Decision. */
export const HISTORY_KEYS_MAX = 12
/** Lines of one answer, plus one for all others. Decision. */
export const HISTORY_LINES_MAX = 8
/** Points of one line of an answer. Decision. */
export const HISTORY_POINTS_MAX = 3_600
/** Events that are kept, such as reloads and breakers that opened. Decision. */
export const HISTORY_EVENTS_MAX = 500
/** Milliseconds that a front waits for its supervisor's history. Decision. */
export const HISTORY_ANSWER_MS_MAX = 2_000
/** Milliseconds between two roll-ups of the hour under way. Decision. */
export const HISTORY_ROLL_UP_MS = 300_000
