/** The node cannot or must not start (or go on): the message tells the operator what to do. Exit code 1. */
export class StartRefused extends Error {}
