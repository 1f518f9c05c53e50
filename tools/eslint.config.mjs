// Type-aware rules that the compiler does not have. Prettier lays out the code.
import { fileURLToPath } from 'node:url'
import tseslint from 'typescript-eslint'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/**
 * Rules about what a type cannot say: promises that nobody awaits, conditions that are always true, dead
 * casts.
 */
const RULES = {
  '@typescript-eslint/no-floating-promises': ['error', { ignoreVoid: true }],
  '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
  '@typescript-eslint/no-explicit-any': 'error',
  '@typescript-eslint/no-non-null-assertion': 'error',
  '@typescript-eslint/ban-ts-comment': 'error',
  '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
  '@typescript-eslint/only-throw-error': 'error',
  '@typescript-eslint/prefer-promise-reject-errors': 'error',
  '@typescript-eslint/return-await': ['error', 'in-try-catch'],
  '@typescript-eslint/no-unnecessary-type-assertion': 'error',
  '@typescript-eslint/consistent-type-imports': 'error',
  'max-lines': ['error', { max: 500 }],
  'max-lines-per-function': ['error', { max: 100 }],
  'no-constant-binary-expression': 'error',
  'no-unsafe-finally': 'error',
  eqeqeq: 'error',
}

export default tseslint.config(
  {
    files: ['src/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
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
    // A migration is one SQL text.
    files: ['src/server/store/migrations/*.ts'],
    rules: { 'max-lines-per-function': 'off' },
  },
  {
    // tap keeps the promise of each test itself.
    files: ['test/**/*.test.ts'],
    rules: { '@typescript-eslint/no-floating-promises': 'off', 'max-lines-per-function': 'off' },
  },
  {
    files: ['test/**/*.ts'],
    rules: { 'max-lines': ['error', { max: 550 }] },
  },
  {
    files: ['test/prove/**/*.ts', 'test/support/**/*.ts'],
    rules: { 'max-lines-per-function': ['error', { max: 120 }] },
  },
)
