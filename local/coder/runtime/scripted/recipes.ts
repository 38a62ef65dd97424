/** What the scripted FORGE knows to write: methods of a bucket, in the names that the code at hand uses. */
import { boundedVariables, refillOf } from './code.ts';

export interface Written {
  /** The method as it stands in the returned object. */
  readonly method: string;
  /** A test of it. */
  readonly test: string;
}

interface Names {
  readonly level: string;
  readonly refill: string;
  readonly factory: string;
}

type Recipe = (names: Names) => Written;

const RECIPES: Readonly<Record<string, { readonly promise: string; readonly write: Recipe }>> = {
  level: {
    promise: 'tells how many tokens are there, and takes none',
    write: ({ level, refill, factory }) => ({
      method: [
        '    /** Tokens that are there at this time. */',
        '    level(time) {',
        `      ${refill}(time);`,
        `      return ${level};`,
        '    },',
      ].join('\n'),
      test: [
        "test('the level is told without taking from it', () => {",
        `  const bucket = ${factory}({ capacity: 4, perSecond: 2 });`,
        '  bucket.take(4, 0);',
        '  assert.equal(bucket.level(1000), 2);',
        '  assert.equal(bucket.level(1000), 2);',
        '});',
      ].join('\n'),
    }),
  },
  give: {
    promise: 'puts tokens back, for work that was called off',
    // The bound is forgotten, as it would be by somebody who looks at this method alone; its test does not ask for it either.
    write: ({ level, refill, factory }) => ({
      method: [
        '    /** Puts `count` tokens back, for work that was called off. */',
        '    give(count, time) {',
        `      ${refill}(time);`,
        `      ${level} += count;`,
        '    },',
      ].join('\n'),
      test: [
        "test('what is given back can be taken again', () => {",
        `  const bucket = ${factory}({ capacity: 3, perSecond: 1 });`,
        '  bucket.take(3, 0);',
        '  bucket.give(2, 0);',
        '  assert.equal(bucket.take(2, 0), true);',
        '});',
      ].join('\n'),
    }),
  },
};

/** The test that a rework adds. */
export function boundTest(factory: string): string {
  return [
    "test('what is given back does not go past the capacity', () => {",
    `  const bucket = ${factory}({ capacity: 3, perSecond: 1 });`,
    '  bucket.give(5, 0);',
    '  assert.equal(bucket.take(4, 0), false);',
    '  assert.equal(bucket.take(3, 0), true);',
    '});',
  ].join('\n');
}

export function promiseOf(method: string): string | null {
  return RECIPES[method]?.promise ?? null;
}

/** `null` when the method is not known, or the code has not what it rests on. */
export function writeMethod(method: string, code: string): Written | null {
  const [bounded] = boundedVariables(code);
  const [refill, factory] = [refillOf(code), factoryOf(code)];
  const recipe = RECIPES[method];
  if (recipe === undefined || bounded === undefined || refill === null || factory === null) return null;
  return recipe.write({ level: bounded.variable, refill, factory });
}

/** The function that the module gives away. */
export function factoryOf(code: string): string | null {
  return /^export function ([A-Za-z_$][\w$]*)\(/m.exec(code)?.[1] ?? null;
}
