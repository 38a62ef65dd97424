// Reporter for `node --test`, run by the Node of the checkout inside the sandbox. It writes outside the checkout, one JSON
// object a line; `policies/commands/counts/node-report.ts` reads it. Plain JavaScript: any supported Node must load it.

/** A test file that ran no test is reported by the runner as one test that bears the file's path, at 1:1. */
function isPlaceholder({ name, nesting, file, line, column }) {
  if (nesting !== 0 || typeof file !== 'string' || line !== 1 || column !== 1) return false;
  return name === file || file.endsWith(`/${name}`);
}

function outcomeOf(type, { skip, todo }) {
  if ((skip !== undefined && skip !== false) || (todo !== undefined && todo !== false)) return 'skip';
  return type === 'test:pass' ? 'pass' : 'fail';
}

export default async function* report(events) {
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') {
      if (data.details?.type === 'suite') continue;
      yield `${JSON.stringify({ kind: 'test', outcome: outcomeOf(type, data), placeholder: isPlaceholder(data) })}\n`;
    } else if (type === 'test:diagnostic' && data.nesting === 0) {
      // The runner's own total; a test's diagnostic of that form comes before it, and the last one counts.
      const total = /^tests (\d+)$/.exec(data.message);
      if (total !== null) yield `${JSON.stringify({ kind: 'total', tests: Number(total[1]) })}\n`;
    }
  }
  yield '{"kind":"end"}\n';
}
