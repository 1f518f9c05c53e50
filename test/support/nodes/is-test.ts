/** False in a program of `test/prove` or `bench` by hand, which runs a node and calls it as an operator does. */
export const IS_TEST =
  /\.test\.js$|\/\.groups\//.test(process.argv[1] ?? '') || process.argv.includes('--suite')
