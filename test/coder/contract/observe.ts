/** What an answer says: its key paths, and what the recording keeps of its state. */

type Json = Readonly<Record<string, unknown>>;

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every key path, lists merged, sorted; a key that is an id counts as `*`. */
export function shapeOf(body: unknown): readonly string[] {
  if (typeof body === 'string') return body === '' ? [] : ['(text)'];
  const paths = new Set<string>();
  const walk = (value: unknown, path: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, `${path}[]`);
    if (!isObject(value)) return;
    for (const [key, child] of Object.entries(value)) {
      const next = `${path === '' ? '' : `${path}.`}${ID.test(key) ? '*' : key}`;
      paths.add(next);
      walk(child, next);
    }
  };
  walk(body, '');
  return [...paths].sort();
}

export function at(body: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)] as unknown;
    return isObject(value) ? value[key] : undefined;
  }, body);
}

/** Text at a path; empty when there is none. */
export function textAt(body: unknown, path: string): string {
  const value = at(body, path);
  return typeof value === 'string' ? value : '';
}

export function fieldsOf(body: unknown): readonly string[] {
  const validations = at(body, 'validations');
  return Array.isArray(validations) ? validations.map((one) => String(at(one, 'field'))) : [];
}

export function stateOf(body: unknown): Json | undefined {
  if (!isObject(body)) return undefined;
  if ('latest_build' in body) {
    const build = body['latest_build'];
    return { ...buildState(build), healthy: at(body, 'health.healthy'), number: at(build, 'build_number') };
  }
  if ('build_number' in body) return { ...buildState(body), number: body['build_number'], reason: body['reason'] };
  if ('job' in body) return { job: at(body, 'job.status') };
  if ('root_chat_id' in body) {
    const error = body['last_error'];
    const kind = error === undefined ? {} : { kind: at(error, 'kind') };
    return { chat: body['status'], archived: body['archived'], ...kind };
  }
  if ('lifecycle_state' in body) return { agents: [agentState(body)] };
  return 'queued' in body ? { queued: body['queued'] } : undefined;
}

function buildState(build: unknown): Json {
  const resources = at(build, 'resources');
  const agents = Array.isArray(resources) ? resources.flatMap((one) => at(one, 'agents') ?? []) : [];
  const error = at(build, 'job.error');
  return {
    transition: at(build, 'transition'),
    job: at(build, 'job.status'),
    status: at(build, 'status'),
    agents: agents.map(agentState),
    deadline: at(build, 'deadline') !== null,
    ...(error === undefined ? {} : { error }),
  };
}

function agentState(agent: unknown): string {
  return `${String(at(agent, 'status'))}/${String(at(agent, 'lifecycle_state'))}`;
}
