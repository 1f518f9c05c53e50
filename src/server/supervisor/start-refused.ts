/**
 * The node cannot or must not start (or go on): its message is for the operator and says what to do. Exit
 * code 1.
 */
export class StartRefused extends Error {}
