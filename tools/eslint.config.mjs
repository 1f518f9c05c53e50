// Type-aware rules that the compiler does not have. Prettier lays out the code; lengths, `any`, `!` and
// silenced compilers are rules of test/contract/source-rules.ts, which every run of the tests checks.
import { fileURLToPath } from 'node:url'
import tseslint from 'typescript-eslint'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Rules about facts outside of types: promises that are not awaited, conditions that are always true, dead
 * casts.
 */
const RULES = {
  '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/return-await': ['error', 'in-try-catch'],
  '@typescript-eslint/no-unnecessary-type-assertion': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  'no-constant-binary-expression': 'error',
  'no-unsafe-finally': 'error',
  eqeqeq: 'error',
}

export default tseslint.config(
  {
    files: ['src/**/*.{ts,tsx}', 'bench/**/*.ts', 'test/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      // Where tools/lint-code.mjs gives programs of its own, those.
      parserOptions: {
        project: [`${ROOT}tsconfig.json`, `${ROOT}tsconfig.dashboard.json`],
        tsconfigRootDir: ROOT,
      },
    },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: RULES,
  },
  {
    // tap itself keeps the promise of each test.
    files: ['test/**/*.test.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off' },
  },
)
