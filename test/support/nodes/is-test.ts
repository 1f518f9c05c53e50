/** False in a program of `test/prove` or `bench` by hand, which runs a node and calls it as an operator does. */
export const IS_TEST = process.argv[1]?.endsWith('.test.js') === true || process.argv.includes('--suite')
