/** The node cannot or must not start (or go on): the message says what the operator can do. Exit code 1. */
export class StartRefused extends Error {}
