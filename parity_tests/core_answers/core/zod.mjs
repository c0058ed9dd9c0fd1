// The core's half of the subjects of zod.py: shapes from their descriptions.
import { createRequire } from 'node:module';
import path from 'node:path';

const required = createRequire(path.join(process.argv[2], 'dist', 'src', 'index.js'));
const PLAIN = new Set(['invalid_type', 'invalid_enum_value', 'custom']);

function built(z, [kind, ...rest]) {
  const inner = (described) => built(z, described);
  const fields = (described) =>
    Object.fromEntries(Object.entries(described).map(([key, each]) => [key, inner(each)]));
  switch (kind) {
    case 'text':
      return rest.length ? z.string().min(rest[0], 'too short').max(rest[1], 'too long') : z.string();
    case 'number':
      return rest.length ? z.number().min(rest[0], 'too small') : z.number();
    case 'boolean':
      return z.boolean();
    case 'absent':
      return z.undefined();
    case 'object':
      return z.object({}).passthrough();
    case 'any':
      return z.any();
    case 'custom':
      return z.custom((value) => value === rest[0], 'not it');
    case 'one_of':
      return z.enum(rest);
    case 'literal':
      return z.literal(rest[0]);
    case 'native_enum':
      return z.nativeEnum(Object.fromEntries(rest.map((each) => [each, each])));
    case 'optional':
      return inner(rest[0]).optional();
    case 'default':
      return inner(rest[0]).default(rest[1]);
    case 'array':
      return z.array(inner(rest[0]));
    case 'record':
      return z.record(z.string(), inner(rest[0]));
    case 'mapping':
      return z.object(fields(rest[0]));
    case 'strict':
      return z.object(fields(rest[0])).strict();
    case 'loose':
      return z.object(fields(rest[0])).passthrough();
    case 'union':
      return z.union(rest.map(inner));
    case 'discriminated':
      return z.discriminatedUnion(rest[0], Object.values(fields(rest[1])));
  }
  throw new Error(kind);
}

function shown(issue) {
  const about = PLAIN.has(issue.code) ? issue : {};
  const { fatal, ...kept } = { ...about, path: issue.path, message: issue.message };
  if (issue.unionErrors) kept.branches = issue.unionErrors.map((each) => each.issues.map(shown));
  return Object.entries(kept);
}

export function zod3({ shape, value }) {
  const found = built(required('zod'), shape).safeParse(value);
  return found.success ? { passed: JSON.stringify(found.data) ?? 'undefined' } : { issues: found.error.issues.map(shown) };
}

export function zod4({ shape, value }) {
  const found = built(required('zod/v4'), shape).safeParse(value);
  return found.success
    ? { passed: JSON.stringify(found.data) ?? 'undefined' }
    : { issues: JSON.stringify(found.error.issues, null, 2) };
}

export function toml({ shape, text }) {
  const { v } = required('@iarna/toml').parse(text);
  const found = built(required('zod'), shape).safeParse(v);
  if (found.success) return { passed: true };
  const kept = ([key]) => key !== 'received' && key !== 'branches';
  return { issues: found.error.issues.map((issue) => shown(issue).filter(kept)) };
}
