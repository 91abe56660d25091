// The rules of ESLint for the package: strict types, short functions, short files.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/'] },
  {
    files: ['src/**/*.ts'],
    extends: [js.configs.recommended, ...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      complexity: ['error', 20],
      'max-lines': ['error', 350],
      'max-lines-per-function': ['error', { max: 60, skipComments: true }],
      // Offsets are compared with the size of the array before.
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/only-throw-error': 'off', // errors of others are thrown again as they came
      '@typescript-eslint/unbound-method': 'off',
      '@typescript-eslint/dot-notation': 'off',
    },
  },
  {
    files: ['test/**/*.{js,mjs}', 'tools/**/*.mjs', 'demo/**/*.js', '*.js'],
    extends: [js.configs.recommended],
    languageOptions: {
      globals: Object.fromEntries(
        (
          'process console fetch URL Buffer setTimeout document globalThis Worker postMessage onmessage TextDecoder ' +
          'performance ReadableStream setInterval clearInterval Blob location window FileReader AbortController AbortSignal BigInt64Array BigUint64Array Option Response ' +
          'WebAssembly WebSocket navigator crypto isSecureContext getComputedStyle devicePixelRatio addEventListener innerWidth DataTransfer File DragEvent'
        )
          .split(' ')
          .map((name) => [name, 'writable']),
      ),
    },
  },
);
