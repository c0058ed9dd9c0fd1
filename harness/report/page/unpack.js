// A case's details are kept as JSON text, deflated, in base64: five hundred of them are a few
// megabytes that way. The page unpacks a case when it is opened.

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
}
