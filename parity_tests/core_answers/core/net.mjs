// The core's half of the subjects of net.py: it reads answers with node's own `fetch`.
import { createHash } from 'node:crypto';
import http from 'node:http';

export async function decoded({ codings, pieces }) {
  const server = http.createServer((_request, response) => {
    if (codings.length > 0) response.setHeader('content-encoding', codings);
    for (const piece of pieces) response.write(Buffer.from(piece, 'base64'));
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const response = await fetch(`http://127.0.0.1:${server.address().port}/`);
    const found = Buffer.from(await response.arrayBuffer());
    return { bytes: found.length, sha256: createHash('sha256').update(found).digest('hex') };
  } catch {
    return { error: true };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
