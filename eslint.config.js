// The fences of DESIGN section 3: who may import whom, what a workflow may not touch, who may hash.
import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** What each layer may import from its siblings; a path outside its list is an error. */
const LAYERS = {
  schemas: [],
  policies: ['schemas'],
  workflows: ['schemas', 'policies'],
  activities: ['schemas', 'policies'],
  workers: ['schemas', 'policies', 'activities', 'workflows'],
  gateway: ['schemas', 'policies', 'activities'],
  client: ['schemas'],
  local: ['schemas', 'policies', 'activities', 'workers', 'gateway'],
  cli: ['schemas', 'policies', 'activities', 'workers', 'gateway', 'client', 'local'],
};

const ALL = [...Object.keys(LAYERS), 'test', 'bench', 'scripts'];

const layerRules = Object.entries(LAYERS).map(([layer, allowed]) => ({
  files: [`${layer}/**/*.ts`],
  ignores: [`${layer}/**/*.test.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          ...ALL.filter((other) => other !== layer && !allowed.includes(other)).map((other) => ({
            regex: `^(\\.\\./)+${other}/`,
            message: `${layer} must not import ${other} (DESIGN section 3).`,
          })),
          ...(layer === 'workflows'
            ? [
                { regex: '^node:', message: 'The workflow sandbox has no node modules.' },
                { regex: '\\.json$', message: 'A document inside the bundle replays silently after an edit.' },
                { regex: '^zod', message: 'Parse at the edge; workflows take plain types.' },
              ]
            : []),
          ...(layer === 'schemas' ? [{ regex: '^node:', message: 'schemas do no I/O and run in the sandbox.' }] : []),
        ],
      },
    ],
  },
}));

const HASHING = {
  selector:
    "CallExpression[callee.name='createHash'], CallExpression[callee.property.name='createHash'], ImportDeclaration[source.value=/^@noble\\u002fhashes/]",
  message: 'Digests are made in schemas/digest.ts (records) and activities/content/hasher.ts (streams) only.',
};

const WORKFLOW_SYNTAX = [
  { selector: 'ImportExpression', message: 'A dynamic import crashes the workflow worker.' },
  {
    selector:
      "Program > VariableDeclaration[kind='let'], Program > ExportNamedDeclaration > VariableDeclaration[kind='let']",
    message: 'Module-level state leaks between workflows.',
  },
  { selector: "CallExpression[callee.name='structuredClone']", message: 'Absent in the workflow sandbox.' },
  {
    selector: 'CallExpression[callee.property.name=/^(localeCompare|toLocale)/], MemberExpression[object.name="Intl"]',
    message: "Depends on the host's locale: a replay elsewhere differs.",
  },
];

export default tseslint.config(
  { ignores: ['node_modules/', 'dist/', '.portcullis/', 'examples/', 'bench/results/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': [
        'error',
        { ignoreRestSiblings: true, argsIgnorePattern: '^_', caughtErrors: 'all' },
      ],
      '@typescript-eslint/no-empty-function': 'off',
      'no-restricted-syntax': ['error', HASHING],
    },
  },
  ...layerRules,
  {
    files: ['workflows/**/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: { 'no-restricted-syntax': ['error', HASHING, ...WORKFLOW_SYNTAX] },
  },
  { files: ['schemas/digest.ts', 'activities/content/hasher.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.test.ts', 'test/**/*.ts'],
    rules: { 'no-restricted-syntax': 'off', '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  // Set-up runs before any package is there, so it checks downloads by itself.
  { files: ['scripts/setup/**/*.mjs', 'scripts/*.mjs'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['**/*.js', '**/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        fetch: 'readonly',
        process: 'readonly',
        console: 'readonly',
        URL: 'readonly',
        setTimeout: 'readonly',
        Buffer: 'readonly',
      },
    },
  },
);
