// The counterpart of brief.py: a beginning and a hash in place of each long text.
import { createHash } from 'node:crypto';

export function brief(value, shown = 40) {
  if (typeof value === 'string') {
    const points = [...value];
    if (points.length <= shown) return value;
    const hash = createHash('sha256').update(value).digest('hex').slice(0, 8);
    return `${points.slice(0, 20).join('')}…${hash}`;
  }
  if (Array.isArray(value)) return value.map((each) => brief(each, shown));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, brief(each, shown)]));
}
