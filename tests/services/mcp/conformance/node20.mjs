// Lets node 20 load the conformance kit, which imports node 22's `fs.globSync` for a command that
// is not used here. Loaded with `node --import`.
import { register } from 'node:module';

const fs = [
  "export * from 'node:fs';",
  "export { default } from 'node:fs';",
  'export const globSync = () => { throw new Error("fs.globSync needs node 22"); };',
].join('\n');
const hook = `export async function resolve(name, context, next) {
  const asked = name === 'fs' && context.parentURL?.includes('/@modelcontextprotocol/conformance/');
  return asked
    ? { url: 'data:text/javascript,' + encodeURIComponent(${JSON.stringify(fs)}), shortCircuit: true }
    : next(name, context);
}`;

register(`data:text/javascript,${encodeURIComponent(hook)}`);
