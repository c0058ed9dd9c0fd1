// A case's details are kept as JSON text, deflated, in base64: five hundred of them are a few
// megabytes that way, and only the one that is opened is ever unpacked.

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await inflated(bytes)));
}

async function inflated(bytes) {
  if (typeof DecompressionStream === "undefined") return inflate(bytes);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}
