/** What the scripted agent can read in JavaScript: little, but really in the text that is there. */

/** A variable that the code keeps below a bound: `tokens = Math.min(capacity, …)`. */
export interface Bounded {
  readonly variable: string;
  readonly bound: string;
}

export function boundedVariables(code: string): readonly Bounded[] {
  const found = new Map<string, Bounded>();
  for (const [, variable, bound] of code.matchAll(/\b([A-Za-z_$][\w$]*) = Math\.min\(([A-Za-z_$][\w$]*), /g)) {
    if (variable !== undefined && bound !== undefined) found.set(variable, { variable, bound });
  }
  return [...found.values()];
}

/** A statement that lets a bounded variable grow past its bound. */
export interface Unbounded extends Bounded {
  /** From 1. */
  readonly line: number;
  /** As it stands: `tokens += count`. */
  readonly statement: string;
  readonly amount: string;
}

export function unboundedGrowth(code: string): readonly Unbounded[] {
  const bounded = boundedVariables(code);
  return code.split('\n').flatMap((text, index) =>
    bounded.flatMap(({ variable, bound }) => {
      const match = new RegExp(`(?<![\\w$.])${escaped(variable)} \\+= ([^;]+);`).exec(text);
      const amount = match?.[1];
      return amount === undefined
        ? []
        : [{ variable, bound, amount, line: index + 1, statement: `${variable} += ${amount}` }];
    }),
  );
}

/** Names of the methods in the object that the module's function returns. */
export function methodsOf(code: string): readonly string[] {
  return [...code.matchAll(/^ {4}([A-Za-z_$][\w$]*)\([^)]*\) \{$/gm)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  );
}

/** The function that brings the state up to a time: it takes `time` and changes a bounded variable. */
export function refillOf(code: string): string | null {
  const match = /^ {2}function ([A-Za-z_$][\w$]*)\(time\) \{$/m.exec(code);
  return match?.[1] ?? null;
}

/** The code with a method after the last one; `null` where no object of methods is returned. */
export function withMethod(code: string, method: string): string | null {
  const end = code.lastIndexOf('\n  };\n');
  if (end < 0 || !code.includes('\n  return {\n')) return null;
  return `${code.slice(0, end)}\n${method}${code.slice(end)}`;
}

function escaped(name: string): string {
  return name.replace(/[$]/g, '\\$&');
}
