/** Where our own code is, for the tools that read all of it. */
export const CODE = ['src', 'bench', 'test', 'tools/*.mjs', 'tools/corpus', 'tools/clients', 'tools/peers']
